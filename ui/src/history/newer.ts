import type { HistoryItem } from '../bindings/HistoryItem';

export interface Newer {
  /** What the page holds that is newer than all that is shown. */
  newer: HistoryItem[];
  /** There may be more between these and what is shown. */
  gap: boolean;
  /** What is shown is not as it was: a part of it was erased or removed. */
  changed: boolean;
}

/** What the newest page says about a list that is shown. Newest first, both. */
export function newerOf(shown: readonly HistoryItem[], page: readonly HistoryItem[]): Newer {
  const first = shown[0];
  const at = first === undefined ? -1 : page.findIndex((item) => item.key === first.key);
  if (at === -1) {
    // Where nothing newer hides the first one, it is gone.
    const isGone = first !== undefined && (page[0] === undefined || page[0].decided_at < first.decided_at);
    return { newer: [...page], gap: shown.length > 0, changed: isGone };
  }
  const same = page.slice(at);
  const changed = same.some((item, n) => {
    const old = shown[n];
    return old !== undefined && (old.key !== item.key || old.redacted !== item.redacted);
  });
  return { newer: page.slice(0, at), gap: false, changed };
}

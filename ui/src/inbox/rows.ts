import type { RequestItem } from '../bindings/RequestItem';
import type { Risk } from '../bindings/Risk';
import { isSoon } from '../text/time';

export type Sort = 'deadline' | 'newest' | 'source';

/** What the person wants to see of the list, and how. */
export interface View {
  text: string;
  kinds: readonly string[];
  risks: readonly Risk[];
  sort: Sort;
  /** Groups of identical requests that are shown one by one. */
  open: ReadonlySet<string>;
}

/** A line of the list: the name of a section, or a request. */
export type Row =
  | { type: 'head'; id: string; name: string; count: number }
  | {
      type: 'item';
      id: string;
      item: RequestItem;
      /** All that the row stands for: itself, or every one of a group that is folded. */
      keys: readonly string[];
      /** For the first of a group, how many identical ones there are. */
      group: { key: string; count: number; open: boolean } | null;
      /** Whether it is one of an unfolded group, below its first. */
      within: boolean;
      /** Its place in its section, and how many that has. */
      place: number;
      of: number;
    };

export interface Rows {
  rows: readonly Row[];
  /** Where a request stands, also one inside of a folded group. */
  at: ReadonlyMap<string, number>;
  /** How many requests the rows stand for. */
  count: number;
}

const texts = new WeakMap<RequestItem, string>();

function textOf(item: RequestItem): string {
  let text = texts.get(item);
  if (text === undefined) {
    text = `${item.prompt}\n${item.summary}\n${item.source}\n${item.tool ?? ''}`.toLowerCase();
    texts.set(item, text);
  }
  return text;
}

/** Whether a view leaves anything out. */
export function isNarrowed({ text, kinds, risks }: View): boolean {
  return text.trim() !== '' || kinds.length > 0 || risks.length > 0;
}

export function matches(item: RequestItem, view: View): boolean {
  if (view.kinds.length > 0 && !view.kinds.includes(item.kind)) return false;
  if (view.risks.length > 0 && !view.risks.includes(item.risk)) return false;
  const words = view.text.toLowerCase().split(/\s+/);
  return words.every((word) => textOf(item).includes(word));
}

/** Whether it is put aside: one whose time has come waits like any other, also before the host has said so. */
function isSnoozed({ snoozed_until }: RequestItem, now: number): boolean {
  return snoozed_until !== null && Date.parse(snoozed_until) > now;
}

const collator = new Intl.Collator('en');

/** The lines of the list. `items` come by deadline; `kept` is shown whatever the filter says: it is being read. */
export function rowsOf(items: readonly RequestItem[], view: View, now: number, kept: string | null): Rows {
  const found = isNarrowed(view) ? items.filter((item) => item.key === kept || matches(item, view)) : items;
  const sections = new Map<string, { name: string; items: RequestItem[] }>();
  const add = (id: string, name: string, item: RequestItem): void => {
    const section = sections.get(id);
    if (section === undefined) sections.set(id, { name, items: [item] });
    else section.items.push(item);
  };
  if (view.sort === 'deadline') for (const [id, name] of [['soon', 'Expires soon'], ['waiting', 'Waiting']] as const) sections.set(id, { name, items: [] });
  for (const item of sorted(found, view.sort)) {
    if (isSnoozed(item, now)) continue;
    if (view.sort === 'source') add(`of ${item.source}`, item.source, item);
    else if (view.sort === 'deadline' && isSoon(item.expires_at, now)) add('soon', 'Expires soon', item);
    else add('waiting', 'Waiting', item);
  }
  for (const item of found.filter((one) => isSnoozed(one, now)).sort((a, b) => ((a.snoozed_until ?? '') < (b.snoozed_until ?? '') ? -1 : 1)))
    add('snoozed', 'Snoozed', item);

  const rows: Row[] = [];
  const at = new Map<string, number>();
  for (const [id, section] of sections) if (section.items.length > 0) lay(rows, at, id, section.name, section.items, view.open);
  return { rows, at, count: found.length };
}

function sorted(items: readonly RequestItem[], sort: Sort): readonly RequestItem[] {
  if (sort === 'newest') return items.toSorted((a, b) => (a.received_at > b.received_at ? -1 : a.received_at < b.received_at ? 1 : 0));
  if (sort === 'source') return items.toSorted((a, b) => collator.compare(a.source, b.source));
  return items;
}

function lay(rows: Row[], at: Map<string, number>, id: string, name: string, items: RequestItem[], open: ReadonlySet<string>): void {
  const groups = new Map<string, RequestItem[]>();
  for (const item of items) {
    // What was decided stands alone, and a group has one text.
    const group = item.state === 'pending' && item.group !== '' ? item.group : ` ${item.key}`;
    const members = groups.get(group);
    if (members === undefined) groups.set(group, [item]);
    else members.push(item);
  }
  rows.push({ type: 'head', id, name, count: items.length });
  let of = 0;
  for (const [group, members] of groups) of += open.has(`${id} ${group}`) ? members.length : 1;
  let place = 0;
  for (const [group, members] of groups) {
    const key = `${id} ${group}`;
    const unfolded = open.has(key);
    const [first] = members as [RequestItem];
    place += 1;
    rows.push({
      type: 'item',
      id: first.key,
      item: first,
      keys: unfolded ? [first.key] : members.map((one) => one.key),
      group: members.length === 1 ? null : { key, count: members.length, open: unfolded },
      within: false,
      place,
      of,
    });
    for (const one of members) at.set(one.key, rows.length - 1);
    if (!unfolded) continue;
    for (const item of members.slice(1)) {
      place += 1;
      rows.push({ type: 'item', id: item.key, item, keys: [item.key], group: null, within: true, place, of });
      at.set(item.key, rows.length - 1);
    }
  }
}

/** The next line with a request from a place on, in a direction; -1 where there is none. */
export function step(rows: readonly Row[], from: number, by: 1 | -1): number {
  for (let at = from + by; at >= 0 && at < rows.length; at += by) if (rows[at]?.type === 'item') return at;
  return -1;
}

/** Why these cannot be decided with one yes or no, in words; null when they can. */
export function refusal(items: readonly RequestItem[], ok: boolean): string | null {
  const [first] = items;
  if (first === undefined) return 'They are all decided.';
  if (items.length > MOST) return `At most ${MOST} can be answered at once.`;
  if (items.some((one) => one.kind !== first.kind)) return 'They are of different kinds. One answer fits only one kind.';
  if (!ok) return null;
  const risky = items.find((one) => one.risk === 'high');
  if (risky !== undefined) return 'One of them has a high risk. That is decided one by one.';
  if (items.every((one) => one.group === first.group && one.plain)) return null;
  if (items.some((one) => one.risk !== 'low')) return 'They differ, and one of them has a risk. Only what is alike or of low risk is approved together.';
  if (items.some((one) => !one.plain)) return 'One of them asks for more than a yes or a no.';
  return null;
}

/** The most that one answer may settle. */
export const MOST = 200;

import type { RequestItem } from '../bindings/RequestItem';
import { call } from '../transport';

/** How many are asked for at first, so that a person can begin, and then at a time. */
const FIRST = 200;
const MORE = 1000;
/** The most keys of one question. */
const KEYS = 1000;

/** What came in while someone looked: how many, and who asked. */
export interface Arrival {
  count: number;
  sources: string[];
}

/** What waits for the person: loaded by pages, then kept current request by request. */
export class Pending {
  /** By deadline, then by age; null until the first page is in. */
  list = $state.raw<readonly RequestItem[] | null>(null);
  /** Whether all pages are in. */
  complete = $state(false);
  arrival = $state.raw<Arrival | null>(null);
  #total = $state(0);
  readonly #snoozed = $derived(this.list?.filter((item) => item.snoozed_until !== null).length ?? 0);

  #byKey = new Map<string, RequestItem>();
  /** Keys that changed while pages came in: what was asked about them since is newer than the pages. */
  #touched = new Set<string>();
  #due = new Set<string>();

  /** How many wait now: those that are put aside until later do not count. */
  get waiting(): number | null {
    if (this.list === null) return null;
    return (this.complete ? this.list.length : this.#total) - this.#snoozed;
  }

  /** A request that waits, as it is now. */
  get(key: string): RequestItem | undefined {
    return this.list === null ? undefined : this.#byKey.get(key);
  }

  /** Asks for everything, page by page. */
  async load(): Promise<void> {
    const before = this.list === null ? null : new Set(this.#byKey.keys());
    const fresh = new Map<string, RequestItem>();
    this.#touched = new Set();
    for (let after: string | null | undefined; after !== null; ) {
      const page = await call('inbox.list', after === undefined ? { limit: FIRST } : { limit: MORE, after });
      for (const item of page.items) if (!this.#touched.has(item.key)) fresh.set(item.key, item);
      this.#total = page.total;
      if (before === null) {
        for (const item of page.items) if (!this.#touched.has(item.key)) this.#byKey.set(item.key, item);
        this.#publish();
      }
      after = page.next;
    }
    for (const key of this.#touched) {
      const item = this.#byKey.get(key);
      if (item !== undefined) fresh.set(key, item);
    }
    this.#byKey = fresh;
    this.complete = true;
    this.#publish();
    if (before !== null) this.#tell([...fresh.values()].filter((item) => !before.has(item.key)));
  }

  /** These changed, whatever became of them: they are asked about with the next [`refresh`]. */
  changed(key: string): void {
    this.#due.add(key);
  }

  /** Asks about what changed, and about nothing else. */
  async refresh(): Promise<void> {
    const keys = [...this.#due].slice(0, KEYS);
    if (keys.length === 0) return;
    for (const key of keys) this.#due.delete(key);
    try {
      const items = await call('inbox.items', { keys });
      this.#put(keys, items);
    } catch (thrown) {
      for (const key of keys) this.#due.add(key);
      throw thrown;
    }
    await this.refresh();
  }

  /** Takes a request as it is now, where an answer to something else brought it. */
  take(item: RequestItem): void {
    this.#put([item.key], [item]);
  }

  #put(keys: readonly string[], items: readonly RequestItem[]): void {
    const news = items.filter((item) => !this.#byKey.has(item.key));
    for (const key of keys) {
      this.#touched.add(key);
      this.#byKey.delete(key);
    }
    for (const item of items) this.#byKey.set(item.key, item);
    this.#publish();
    this.#tell(news);
  }

  #publish(): void {
    this.list = [...this.#byKey.values()].sort(byDeadline);
  }

  #tell(news: readonly RequestItem[]): void {
    if (news.length > 0) this.arrival = { count: news.length, sources: [...new Set(news.map((item) => item.source))] };
  }
}

/** Expiring soonest first, then oldest. Times are all of one form, so they sort as text. */
export function byDeadline(a: RequestItem, b: RequestItem): number {
  const [first, second] = [a.expires_at ?? '~', b.expires_at ?? '~'];
  if (first !== second) return first < second ? -1 : 1;
  if (a.received_at !== b.received_at) return a.received_at < b.received_at ? -1 : 1;
  return a.key < b.key ? -1 : a.key === b.key ? 0 : 1;
}

import type { VirtualizerHandle } from 'virtua/svelte';
import type { HistoryCounts } from '../bindings/HistoryCounts';
import type { HistoryItem } from '../bindings/HistoryItem';
import { type Problem, call, problemOf } from '../transport';
import { type Filter, askOf, queryOf } from './filter';
import { newerOf } from './newer';

const PAGE = 200;
/** The most that the host gives at once. */
const MOST = 1000;
/** Nearer to the top than this, what is new is put there; further down it waits, so that nothing moves. */
const AT_TOP = 24;

/** The decisions that match a filter, as far as they were scrolled to. Outlives the page, so that one returns to the same place. */
class DecisionList {
  items = $state.raw<HistoryItem[] | null>(null);
  problem = $state.raw<Problem | null>(null);
  /** Newer ones that came while older ones were being read. */
  fresh = $state.raw<HistoryItem[]>([]);
  /** More than these came, so that the list begins anew with them. */
  freshIsGap = $state(false);
  loading = $state(false);
  loadingMore = $state(false);
  counts = $state.raw<HistoryCounts | null>(null);

  /** Where the list was scrolled to, and how high its rows were. */
  top = 0;
  sizes: ReturnType<VirtualizerHandle['getCache']> | undefined;
  /** The address that was last shown. */
  query: string | null = null;
  id: string | null = null;

  #filter: Filter = {};
  #address: string | null = null;
  #next = $state<string | null>(null);
  #asked = 0;
  #counted = 0;

  get whole(): boolean {
    return this.#next === null;
  }

  /** Shows what matches; what is shown already stays until the new is there. */
  async open(filter: Filter): Promise<void> {
    const address = queryOf(filter);
    if (address === this.#address && this.items !== null) return this.refresh();
    this.#filter = filter;
    this.#address = address;
    this.top = 0;
    this.sizes = undefined;
    this.counts = null;
    await this.#load(PAGE);
  }

  /** Looks what is new. */
  async refresh(): Promise<void> {
    if (this.items === null || this.loading) return this.#load(PAGE);
    void this.#count();
    const ask = this.#asked;
    try {
      const page = await call('history.list', { ...askOf(this.#filter), limit: PAGE });
      if (ask !== this.#asked || this.items === null) return;
      this.problem = null;
      const { newer, gap, changed } = newerOf(this.items, page.items);
      if (changed) return void (await this.reload());
      if (newer.length === 0) return;
      this.fresh = newer;
      this.freshIsGap = gap;
      if (this.top < AT_TOP) this.showFresh();
    } catch (thrown) {
      if (ask === this.#asked) this.problem = problemOf(thrown);
    }
  }

  /** Puts what is new on top. */
  showFresh(): void {
    if (this.freshIsGap) {
      this.top = 0;
      this.#next = null;
      void this.#load(PAGE);
      return;
    }
    this.items = [...this.fresh, ...(this.items ?? [])];
    this.fresh = [];
  }

  /** Asks anew for all that is shown: a part of it was changed. */
  async reload(): Promise<void> {
    await this.#load(Math.min(Math.max(PAGE, this.items?.length ?? 0), MOST));
  }

  async more(): Promise<void> {
    if (this.#next === null || this.loadingMore || this.loading) return;
    this.loadingMore = true;
    const ask = this.#asked;
    try {
      const page = await call('history.list', { ...askOf(this.#filter), after: this.#next, limit: PAGE });
      if (ask === this.#asked) {
        this.items = [...(this.items ?? []), ...page.items];
        this.#next = page.next;
        this.problem = null;
      }
    } catch (thrown) {
      if (ask === this.#asked) this.problem = problemOf(thrown);
    }
    this.loadingMore = false;
  }

  async #load(limit: number): Promise<void> {
    const ask = ++this.#asked;
    this.loading = true;
    this.loadingMore = false;
    void this.#count();
    try {
      const page = await call('history.list', { ...askOf(this.#filter), limit });
      if (ask !== this.#asked) return;
      this.items = page.items;
      this.#next = page.next;
      this.fresh = [];
      this.freshIsGap = false;
      this.problem = null;
    } catch (thrown) {
      if (ask === this.#asked) this.problem = problemOf(thrown);
    }
    if (ask === this.#asked) this.loading = false;
  }

  async #count(): Promise<void> {
    const ask = ++this.#counted;
    try {
      const counts = await call('history.counts', askOf(this.#filter));
      if (ask === this.#counted) this.counts = counts;
    } catch {
      // The list says what is wrong; without numbers the filters still work.
      if (ask === this.#counted) this.counts = null;
    }
  }
}

export const decisions = new DecisionList();

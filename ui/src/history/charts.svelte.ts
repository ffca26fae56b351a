import type { HistoryCharts } from '../bindings/HistoryCharts';
import { type Problem, call, problemOf } from '../transport';
import { type Filter, askOf } from './filter';

/** The charts of what is filtered. */
class Charts {
  data = $state.raw<HistoryCharts | null>(null);
  problem = $state.raw<Problem | null>(null);
  loading = $state(false);

  #asked = 0;

  async load(filter: Filter): Promise<void> {
    const ask = ++this.#asked;
    this.loading = true;
    try {
      // Days begin here, not at Greenwich.
      const data = await call('history.charts', { ...askOf(filter), offset_minutes: -new Date().getTimezoneOffset() });
      if (ask !== this.#asked) return;
      this.data = data;
      this.problem = null;
    } catch (thrown) {
      if (ask !== this.#asked) return;
      this.problem = problemOf(thrown);
    }
    this.loading = false;
  }
}

export const charts = new Charts();

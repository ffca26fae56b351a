import type { AppStatus } from '../bindings/AppStatus';
import type { RequestItem } from '../bindings/RequestItem';
import type { RunItem } from '../bindings/RunItem';
import type { Settings } from '../bindings/Settings';
import type { Topic } from '../bindings/Topic';
import { NO_SESSION, type Problem, call, problemOf, retry, start, subscribe } from '../transport';
import { coalesce } from './coalesce';

export type Phase = 'starting' | 'ready' | 'startup error' | 'no session';

type Refetch = { topics: readonly Topic[]; id: string | null; run: () => Promise<void> };

/** What the whole app shares of the host: whether it answers, what waits, what runs. */
class Host {
  phase = $state<Phase>('starting');
  /** Why the phase is what it is, or why the last fetch failed. */
  problem = $state.raw<Problem | null>(null);
  connection = $state<'connecting' | 'live' | 'lost'>('connecting');
  status = $state.raw<AppStatus | null>(null);
  settings = $state.raw<Settings | null>(null);
  inbox = $state.raw<RequestItem[] | null>(null);
  runs = $state.raw<RunItem[] | null>(null);

  #refetches = new Set<Refetch>();
  #failing = new Map<() => Promise<void>, Problem>();

  constructor() {
    this.on(['status', 'inbox', 'runs'], async () => {
      this.status = await call('status', {});
    });
    this.on(['status'], async () => {
      this.settings = await call('settings.get', {});
    });
    this.on(['inbox'], async () => {
      this.inbox = await everything();
    });
    this.on(['runs', 'inbox'], async () => {
      this.runs = await call('runs.list', {});
    });
  }

  get waiting(): number {
    return this.inbox?.length ?? this.status?.waiting ?? 0;
  }

  /**
   * Fetches now, on every change of these topics, and when the connection stands anew; with an id, not for changes of
   * others. Gives the way to stop it.
   */
  on(topics: readonly Topic[], fetch: () => Promise<void>, id: string | null = null): () => void {
    const refetch: Refetch = { topics, id, run: coalesce(() => this.#guarded(fetch)) };
    this.#refetches.add(refetch);
    if (this.connection === 'live') void refetch.run();
    return () => {
      this.#refetches.delete(refetch);
      this.#failing.delete(fetch);
    };
  }

  async start(): Promise<void> {
    await this.#begin(start);
  }

  async retry(): Promise<void> {
    await this.#begin(retry);
  }

  async #begin(how: () => Promise<Problem | null>): Promise<void> {
    this.phase = 'starting';
    try {
      this.problem = await how();
    } catch (thrown) {
      this.problem = problemOf(thrown);
    }
    if (this.problem?.code === NO_SESSION) this.phase = 'no session';
    else if (this.problem !== null) this.phase = 'startup error';
    else this.#listen();
  }

  #listen(): void {
    this.phase = 'ready';
    subscribe({
      changed: (event) => {
        this.connection = 'live';
        for (const refetch of this.#refetches) {
          const isOther = refetch.id !== null && event !== null && event.id !== null && event.id !== refetch.id;
          if (event === null || (refetch.topics.includes(event.topic) && !isOther)) void refetch.run();
        }
      },
      lost: (problem) => {
        this.connection = 'lost';
        this.#note(problem);
      },
    });
  }

  async #guarded(fetch: () => Promise<void>): Promise<void> {
    try {
      await fetch();
      this.#failing.delete(fetch);
    } catch (thrown) {
      this.#failing.set(fetch, problemOf(thrown));
    }
    const [problem = null] = this.#failing.values();
    if (problem === null) this.problem = null;
    else this.#note(problem);
  }

  #note(problem: Problem): void {
    this.problem = problem;
    if (problem.code === NO_SESSION) this.phase = 'no session';
  }
}

/** All that waits, page by page. */
async function everything(): Promise<RequestItem[]> {
  let page = await call('inbox.list', { limit: 1000 });
  const items = page.items;
  while (page.next !== null) {
    page = await call('inbox.list', { limit: 1000, after: page.next });
    items.push(...page.items);
  }
  return items;
}

export const host = new Host();

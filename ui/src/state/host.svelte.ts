import type { AppStatus } from '../bindings/AppStatus';
import type { RunItem } from '../bindings/RunItem';
import type { Settings } from '../bindings/Settings';
import type { Topic } from '../bindings/Topic';
import { NO_SESSION, type Problem, call, problemOf, retry, start, subscribe } from '../transport';
import { coalesce } from './coalesce';
import { Pending } from './pending.svelte';

export type Phase = 'starting' | 'ready' | 'startup error' | 'no session';

type Refetch = { topics: readonly Topic[]; id: string | null; run: () => Promise<void> };

/** How long changes of single requests are gathered before they are asked about. */
const GATHER_MS = 30;

/** What the whole app shares of the host: whether it answers, what waits, what runs. */
class Host {
  phase = $state<Phase>('starting');
  /** Why the phase is what it is, or why the last fetch failed. */
  problem = $state.raw<Problem | null>(null);
  connection = $state<'connecting' | 'live' | 'lost'>('connecting');
  status = $state.raw<AppStatus | null>(null);
  settings = $state.raw<Settings | null>(null);
  readonly inbox = new Pending();
  runs = $state.raw<RunItem[] | null>(null);

  #refetches = new Set<Refetch>();
  #failing = new Map<() => Promise<void>, Problem>();
  readonly #loadInbox = coalesce(() => this.#guarded(this.#wholeInbox));
  readonly #refreshInbox = coalesce(() => this.#guarded(this.#changedInbox));
  #gathering: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    this.on(['status', 'inbox', 'runs'], async () => {
      this.status = await call('status', {});
    });
    this.on(['status'], async () => {
      this.settings = await call('settings.get', {});
    });
    this.on(['runs', 'inbox'], async () => {
      this.runs = await call('runs.list', {});
    });
  }

  get waiting(): number {
    return this.inbox.waiting ?? this.status?.waiting ?? 0;
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
        if (event === null || (event.topic === 'inbox' && event.id === null)) void this.#loadInbox();
        else if (event.topic === 'inbox' && event.id !== null) this.changed(event.id);
      },
      lost: (problem) => {
        this.connection = 'lost';
        this.#note(problem);
      },
    });
  }

  readonly #wholeInbox = (): Promise<void> => this.inbox.load();
  readonly #changedInbox = (): Promise<void> => this.inbox.refresh();

  /** Asks about this request, together with what else changes in the same moment. */
  changed(key: string): void {
    this.inbox.changed(key);
    this.#gathering ??= setTimeout(() => {
      this.#gathering = undefined;
      void this.#refreshInbox();
    }, GATHER_MS);
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

export const host = new Host();

import type { Job } from '../bindings/Job';
import { type Problem, call, problemOf } from '../transport';
import { host } from './host.svelte';

/** Follows one long work of the host from its start to its end. Leaving the page does not end the work. */
export class Following {
  job = $state.raw<Job | null>(null);
  problem = $state.raw<Problem | null>(null);
  #starting = $state(false);
  #leave: (() => void) | null = null;

  get busy(): boolean {
    return this.#starting || this.job?.state === 'running';
  }

  /** Starts a work and follows it. */
  async start(begin: () => Promise<Job>): Promise<void> {
    if (this.busy) return;
    this.#starting = true;
    this.problem = null;
    this.job = null;
    try {
      this.#follow(await begin());
    } catch (thrown) {
      this.problem = problemOf(thrown);
    }
    this.#starting = false;
  }

  /** Follows the work of these names that still runs, where there is one. */
  async resume(...names: string[]): Promise<void> {
    try {
      const found = (await call('jobs.list', {})).find((job) => job.state === 'running' && names.includes(job.what));
      if (found !== undefined && !this.busy) this.#follow(found);
    } catch {
      // Nothing to take up again; whatever is started next says what is wrong.
    }
  }

  async cancel(): Promise<void> {
    if (this.job === null) return;
    try {
      this.job = await call('jobs.cancel', { job: this.job.id });
    } catch (thrown) {
      this.problem = problemOf(thrown);
    }
  }

  /** Forgets the work; it goes on. */
  leave(): void {
    this.#leave?.();
    this.#leave = null;
  }

  #follow(job: Job): void {
    this.leave();
    this.job = job;
    const look = async (): Promise<void> => {
      try {
        const now = await call('jobs.show', { job: job.id });
        if (this.job?.id === job.id) this.job = now;
      } catch (thrown) {
        this.problem = problemOf(thrown);
      }
      if (this.job?.id === job.id && this.job.state !== 'running') this.leave();
    };
    // Also now: it may have ended before anyone listened.
    this.#leave = host.on(['jobs'], look, job.id);
  }
}

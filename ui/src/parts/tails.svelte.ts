import { getContext, setContext } from 'svelte';
import { Tails } from '../text/cut';

const TAILS = Symbol('tails');

/** Cut parts that were not opened yet, as Svelte sees them. */
export class LiveTails {
  #tails = new Tails();
  closed = $state(0);

  cut(part: string): void {
    this.#tails.cut(part);
    this.closed = this.#tails.closed;
  }

  opened(part: string): void {
    this.#tails.opened(part);
    this.closed = this.#tails.closed;
  }
}

/** Gathers the tails of everything inside this component. */
export function gatherTails(): LiveTails {
  return setContext(TAILS, new LiveTails());
}

/** The tails to report to; outside of a request nobody counts them. */
export function useTails(): LiveTails {
  return getContext<LiveTails | undefined>(TAILS) ?? new LiveTails();
}

import { type Problem, call, problemOf } from '../transport';

/** What can be taken back for a while. */
export interface Offer {
  keys: readonly string[];
  /** What was done: `Approved “Push the tag?”`. */
  words: string;
  /** Until when, as the host says. */
  until: string;
}

/** The last decision, for as long as it can be taken back. */
class Undo {
  offer = $state.raw<Offer | null>(null);
  /** What came of taking it back, where that needs words. */
  problem = $state.raw<Problem | null>(null);
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Offers it, unless the time is over. */
  give(offer: Offer): void {
    clearTimeout(this.#timer);
    this.problem = null;
    const rest = Date.parse(offer.until) - Date.now();
    this.offer = rest > 0 ? offer : null;
    if (rest > 0) this.#timer = setTimeout(() => (this.offer = null), rest);
  }

  /** Takes it back; gives the requests that wait again. */
  async run(): Promise<string[]> {
    const offer = this.offer;
    if (offer === null) return [];
    clearTimeout(this.#timer);
    this.offer = null;
    const back: string[] = [];
    for (const key of offer.keys)
      try {
        await call('inbox.undo', { key });
        back.push(key);
      } catch (thrown) {
        this.problem = problemOf(thrown);
      }
    if (this.problem !== null) this.#timer = setTimeout(() => (this.problem = null), SAID_MS);
    return back;
  }
}

/** How long a problem with it stands. */
const SAID_MS = 8000;

export const undo = new Undo();

/**
 * When a click or a key may decide. Pure: every time is an argument, in milliseconds of one monotonic clock.
 *
 * - Nothing decides until what is shown has stood for [`SETTLE_MS`].
 * - A decision key counts only if the person selected the request by hand and pressed no other key for [`QUIET_MS`].
 * - A key that follows within [`TAKE_BACK_MS`] takes it back: someone was typing.
 * - What must be held counts after [`HOLD_MS`]; letting go earlier, any key and any change take it back.
 */
export const SETTLE_MS = 500;
export const QUIET_MS = 500;
export const TAKE_BACK_MS = 300;
export const HOLD_MS = 1000;

/** What a decision key came to. `wait` means: decide in [`TAKE_BACK_MS`], unless [`Guard.key`] takes it back. */
export type KeyVerdict = 'wait' | 'not settled' | 'not selected by hand' | 'typing';

export class Guard {
  #shown: string | null = null;
  #since = Number.POSITIVE_INFINITY;
  #hand: string | null = null;
  #lastKey = Number.NEGATIVE_INFINITY;
  #waiting: number | null = null;
  #held: number | null = null;

  /** What stands over the buttons now: the request's key and the digest of what is shown. A change starts the wait anew. */
  shows(request: string | null, digest: string, now: number): void {
    const shown = request === null ? null : `${request} ${digest}`;
    if (shown === this.#shown) return;
    this.#shown = shown;
    this.rearm(now);
  }

  /** Starts the wait anew, for what is not a change of the request: the window came up, a link led here. */
  rearm(now: number): void {
    this.#since = this.#shown === null ? Number.POSITIVE_INFINITY : now;
    this.#drop();
  }

  /** The person selected this request by hand; null when something else selected one. */
  selected(byHand: string | null): void {
    this.#hand = byHand;
    this.#drop();
  }

  /** How long until a click counts. */
  settlesIn(now: number): number {
    return Math.max(0, this.#since + SETTLE_MS - now);
  }

  /** Whether a click decides. */
  click(now: number): boolean {
    return now >= this.#since + SETTLE_MS;
  }

  /** Any key went down. Call it for each one, before asking whether it decides. True if it takes a waiting decision back. */
  key(now: number): boolean {
    const taken = this.#held !== null || (this.#waiting !== null && now < this.#waiting + TAKE_BACK_MS);
    this.#drop();
    return taken;
  }

  /** What was allowed to decide must be held first: from now on. */
  hold(now: number): void {
    this.#drop();
    this.#held = now;
  }

  /** It was let go, or has been held for long enough: whether it decides. */
  release(now: number): boolean {
    const done = this.#held !== null && now >= this.#held + HOLD_MS;
    this.#held = null;
    return done;
  }

  /** Call when a key that decides nothing was handled, so that the quiet time starts anew. */
  pressed(now: number): void {
    this.#lastKey = now;
  }

  /** A decision key went down for `request`. */
  decides(request: string, now: number): KeyVerdict {
    if (this.#hand !== request) return this.#refuse('not selected by hand', now);
    return this.button(now);
  }

  /** Space went down on a decision button that has the focus: the focus stands for the selection by hand. */
  button(now: number): KeyVerdict {
    if (!this.click(now)) return this.#refuse('not settled', now);
    if (now < this.#lastKey + QUIET_MS) return this.#refuse('typing', now);
    this.#lastKey = now;
    this.#waiting = now;
    return 'wait';
  }

  #drop(): void {
    this.#waiting = null;
    this.#held = null;
  }

  #refuse(why: KeyVerdict, now: number): KeyVerdict {
    this.#lastKey = now;
    return why;
  }
}

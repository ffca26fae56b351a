import { Guard, type KeyVerdict, TAKE_BACK_MS } from '../decide/guard';

/** The one guard of the page, with its real clock and timer. */
class Deciding {
  readonly #guard = new Guard();
  /** Whether a click would count now; buttons are disabled until it would. */
  settled = $state(false);
  #settling: ReturnType<typeof setTimeout> | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #undone: (() => void) | undefined;
  #shown = '';

  get now(): number {
    return performance.now();
  }

  /** Any key went down, before anything handles it. */
  keyDown(): void {
    if (this.#guard.key(this.now)) this.#cancel();
  }

  /** The key that went down decides nothing. */
  keyDone(): void {
    this.#guard.pressed(this.now);
  }

  /** Decides after the time in which another key takes it back; `undone` tells when one does. */
  byKey(request: string, decide: () => void, undone: () => void): KeyVerdict {
    return this.#wait(this.#guard.decides(request, this.now), decide, undone);
  }

  /** The same for Space on a decision button. */
  byButton(decide: () => void, undone: () => void): KeyVerdict {
    return this.#wait(this.#guard.button(this.now), decide, undone);
  }

  /** Whether a click decides. It counts in place of a key that still waits. */
  click(): boolean {
    this.keyDown();
    return this.#guard.click(this.now);
  }

  /** What is shown, if it can be decided. A change drops what was pressed for what stood there before. */
  shows(request: string | null, digest: string): void {
    const shown = `${request} ${digest}`;
    if (shown !== this.#shown) this.#cancel();
    this.#shown = shown;
    this.#guard.shows(request, digest, this.now);
    this.#settle();
  }

  rearm(): void {
    this.#cancel();
    this.#guard.rearm(this.now);
    this.#settle();
  }

  /** The person selected this request by hand, or null: something else did. */
  selected(byHand: string | null): void {
    this.#cancel();
    this.#guard.selected(byHand);
  }

  #settle(): void {
    clearTimeout(this.#settling);
    const rest = this.#guard.settlesIn(this.now);
    this.settled = rest === 0;
    if (rest > 0 && Number.isFinite(rest)) this.#settling = setTimeout(() => this.#settle(), Math.ceil(rest));
  }

  #wait(verdict: KeyVerdict, decide: () => void, undone: () => void): KeyVerdict {
    if (verdict === 'wait') {
      this.#undone = undone;
      this.#timer = setTimeout(() => {
        this.#undone = undefined;
        decide();
      }, TAKE_BACK_MS);
    }
    return verdict;
  }

  #cancel(): void {
    clearTimeout(this.#timer);
    this.#undone?.();
    this.#undone = undefined;
  }
}

export const deciding = new Deciding();

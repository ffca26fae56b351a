import { Guard, HOLD_MS, type KeyVerdict, TAKE_BACK_MS } from '../decide/guard';

/** A press that may decide. */
export interface Pressing {
  /** Which button it stands for, to show that it is held. */
  button: string;
  /** Whether it must be held. */
  held: boolean;
  decide: () => void;
  /** It was taken back: by another key, by letting go too early, by a change. */
  undone: () => void;
}

/** The one guard of the page, with its real clock and timer. */
class Deciding {
  readonly #guard = new Guard();
  /** Whether a click would count now; buttons are disabled until it would. */
  settled = $state(false);
  /** The button that is being held. */
  holding = $state<string | null>(null);
  #settling: ReturnType<typeof setTimeout> | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #undone: (() => void) | undefined;
  #shown = '';
  #pointerAt: number | null = null;

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

  /** The pointer went down anywhere. */
  pointerDown(): void {
    this.#pointerAt = this.now;
  }

  /** A decision key went down. It decides after the time in which another key takes it back, or once it was held. */
  byKey(request: string, pressing: Pressing): KeyVerdict {
    return this.#wait(this.#guard.decides(request, this.now), pressing);
  }

  /** The same for Space on a decision button. */
  byButton(pressing: Pressing): KeyVerdict {
    return this.#wait(this.#guard.button(this.now), pressing);
  }

  /** The pointer went down on a button that must be held; false where it does not count yet. */
  byPointer(pressing: Pressing): boolean {
    this.keyDown();
    if (!this.#guard.click(this.now)) return false;
    this.#wait('wait', pressing);
    return true;
  }

  /** Whether a click decides: both ends of it must count. It counts in place of a key that still waits. */
  click(): boolean {
    this.keyDown();
    const began = this.#pointerAt ?? this.now;
    this.#pointerAt = null;
    return this.#guard.click(began) && this.#guard.click(this.now);
  }

  /** A key or the pointer went up, or the window lost the focus: what must be held is let go. */
  release(): void {
    if (this.holding === null) return;
    this.#guard.release(this.now);
    this.#cancel();
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

  #wait(verdict: KeyVerdict, { button, held, decide, undone }: Pressing): KeyVerdict {
    if (verdict !== 'wait') return verdict;
    this.#undone = undone;
    if (held) {
      this.#guard.hold(this.now);
      this.holding = button;
    }
    const done = (): void => {
      this.#undone = undefined;
      this.holding = null;
      if (held && !this.#guard.release(this.now)) return undone();
      decide();
    };
    // A timer may come a moment early; the guard's clock has the last word.
    this.#timer = setTimeout(done, held ? HOLD_MS + 5 : TAKE_BACK_MS);
    return verdict;
  }

  #cancel(): void {
    clearTimeout(this.#timer);
    this.holding = null;
    const undone = this.#undone;
    this.#undone = undefined;
    undone?.();
  }
}

export const deciding = new Deciding();

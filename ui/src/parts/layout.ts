/** Where the lines of a long list stand, and which of them to draw. */
export class Layout {
  /** Where each line begins, and at the end how high all of them are. */
  readonly #starts: Float64Array;

  constructor(heights: Iterable<number>, count: number) {
    this.#starts = new Float64Array(count + 1);
    let at = 0;
    let sum = 0;
    for (const height of heights) {
      sum += height;
      at += 1;
      this.#starts[at] = sum;
    }
  }

  get count(): number {
    return this.#starts.length - 1;
  }

  get height(): number {
    return this.start(this.count);
  }

  start(at: number): number {
    return this.#starts[at] ?? 0;
  }

  /** The line at a height, within the first and the last. */
  lineAt(height: number): number {
    let low = 0;
    let high = Math.max(0, this.count - 1);
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.start(middle) <= height) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** The lines to draw for a view of that height, with some around it: the first, and one past the last. */
  drawn(top: number, height: number, around: number): [number, number] {
    if (this.count === 0) return [0, 0];
    return [Math.max(0, this.lineAt(top) - around), Math.min(this.count, this.lineAt(top + height) + 1 + around)];
  }
}

/** Where to scroll so that a line is in view, with a margin above; the same place if it is. */
export function reveal(at: number, line: number, top: number, height: number, margin: number): number {
  if (at < top + margin) return Math.max(0, at - margin);
  if (at + line > top + height) return at + line - height;
  return top;
}

/** How to keep a line where it was on the screen when others come and go above it. */
export interface Held {
  scroll: number;
  /** Empty space above the list, where it cannot be scrolled so far up. */
  lead: number;
  /** Empty space below it, where it is too short to be scrolled so far down. */
  tail: number;
}

/** `offset` is how far below the top of the view the line stood; `start` where it stands in the list now. */
export function hold(start: number, offset: number, list: number, view: number): Held {
  const scroll = start - offset;
  if (scroll <= 0) return { scroll: 0, lead: -scroll, tail: 0 };
  return { scroll, lead: 0, tail: Math.max(0, scroll + view - list) };
}

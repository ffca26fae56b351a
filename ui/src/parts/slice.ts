/** Which rows of a long list to draw. Rows are of one height; what is not drawn is empty space of the same size. */
export interface Slice {
  first: number;
  /** One past the last. */
  end: number;
  before: number;
  after: number;
}

/** Lists up to this length are drawn whole. */
export const WHOLE = 150;
const OVERSCAN = 12;

/** The rows of a block that starts `start` pixels into a view scrolled to `top` and `height` pixels high. */
export function slice(count: number, row: number, start: number, top: number, height: number): Slice {
  if (count <= WHOLE) return { first: 0, end: count, before: 0, after: 0 };
  const clamp = (n: number): number => Math.min(Math.max(n, 0), count);
  const first = clamp(Math.floor((top - start) / row) - OVERSCAN);
  const end = clamp(Math.ceil((top + height - start) / row) + OVERSCAN);
  return { first, end, before: first * row, after: (count - end) * row };
}

/** Where to scroll so that a row is in view; the same place if it is. */
export function reveal(at: number, row: number, top: number, height: number, margin: number): number {
  if (at < top + margin) return Math.max(0, at - margin);
  if (at + row > top + height) return at + row - height;
  return top;
}

import { nice, ticks } from 'd3-array';

/** Where a value stands: plain arithmetic between two ends. */
export type Scale = (value: number) => number;

/** Evenly: the domain's ends stand at the range's. */
export function linear([from, to]: readonly [number, number], [start, end]: readonly [number, number]): Scale {
  const span = to - from;
  return (value) => (span === 0 ? start : start + ((value - from) / span) * (end - start));
}

/** In steps that grow tenfold; what lies beyond an end stands at it. Values are above zero. */
export function logarithmic(domain: readonly [number, number], range: readonly [number, number]): Scale {
  const [from, to] = [Math.log(domain[0]), Math.log(domain[1])];
  const even = linear([from, to], range);
  return (value) => even(Math.min(to, Math.max(from, Math.log(value))));
}

/** An axis from zero that ends at a round number, with its round marks. */
export function counted(most: number, count: number): { end: number; marks: number[] } {
  const [, end] = nice(0, most, count);
  return { end, marks: ticks(0, end, count).filter(Number.isInteger) };
}

/** So many bars side by side on whole pixels, with a part of each step left free between them. */
export interface Bands {
  step: number;
  width: number;
  start: (at: number) => number;
}

export function bands(count: number, [start, end]: readonly [number, number], free: number): Bands {
  const step = Math.floor((end - start) / Math.max(1, count - free));
  const width = Math.round(step * (1 - free));
  // What whole pixels leave over is shared by both sides.
  const first = start + Math.round((end - start - step * (count - free)) / 2);
  return { step, width, start: (at) => first + at * step };
}

import { describe, expect, it } from 'vitest';
import { reveal, slice } from './slice';

describe('the slice of a long list', () => {
  it('draws short lists whole', () => {
    expect(slice(150, 50, 0, 9999, 100)).toEqual({ first: 0, end: 150, before: 0, after: 0 });
  });

  it.each([
    [0, 0, 0, 22],
    [5000, 0, 88, 122],
    [499_500, 0, 9978, 10_000],
    [900_000, 0, 10_000, 10_000],
    [0, 800, 0, 6],
    [0, 5000, 0, 0],
  ])('scrolled to %d, starting at %d, draws %d to %d', (top, start, first, end) => {
    const drawn = slice(10_000, 50, start, top, 500);
    expect([drawn.first, drawn.end]).toEqual([first, end]);
    expect(drawn.before + (drawn.end - drawn.first) * 50 + drawn.after).toBe(500_000);
  });

  it.each([
    [100, 100],
    [40, 10],
    [0, 0],
    [590, 140],
    [550, 100],
  ])('brings a row at %d into view by scrolling to %d', (at, expected) => {
    expect(reveal(at, 50, 100, 500, 30)).toBe(at === 100 ? 70 : expected);
  });
});

import { describe, expect, it } from 'vitest';
import { Layout, hold, reveal } from './layout';

const layout = (...heights: number[]): Layout => new Layout(heights, heights.length);

describe('the layout of a long list', () => {
  it('knows where lines of any height stand', () => {
    const lines = layout(30, 50, 50, 30, 50);
    expect([0, 1, 2, 3, 4, 5].map((at) => lines.start(at))).toEqual([0, 30, 80, 130, 160, 210]);
    expect([-5, 0, 29, 30, 79, 80, 209, 999].map((height) => lines.lineAt(height))).toEqual([0, 0, 0, 1, 1, 2, 4, 4]);
  });

  it('draws what is in view and a little around it, of ten or ten thousand', () => {
    expect(layout(50, 50).drawn(0, 500, 5)).toEqual([0, 2]);
    expect(layout().drawn(0, 500, 5)).toEqual([0, 0]);
    const many = new Layout(Array.from({ length: 10_000 }, () => 50), 10_000);
    expect(many.drawn(250_000, 500, 5)).toEqual([4995, 5016]);
    expect(many.drawn(0, 500, 5)).toEqual([0, 16]);
    expect(many.drawn(499_500, 500, 5)).toEqual([9985, 10_000]);
  });

  it.each([
    [100, 70],
    [130, 100],
    [40, 10],
    [0, 0],
    [590, 140],
    [550, 100],
  ])('brings a line at %d into view by scrolling to %d', (at, expected) => {
    expect(reveal(at, 50, 100, 500, 30)).toBe(expected);
  });

  it.each([
    // A line 100 below the top of the view, with another above it that is new.
    [200, 100, 1000, 400, { scroll: 100, lead: 0, tail: 0 }],
    // The list is too short to scroll.
    [200, 100, 300, 400, { scroll: 100, lead: 0, tail: 200 }],
    // What stood above it is gone.
    [50, 100, 1000, 400, { scroll: 0, lead: 50, tail: 0 }],
  ])('holds a line that stands at %d now where it was, %d below the top', (start, offset, list, view, held) => {
    expect(hold(start, offset, list, view)).toEqual(held);
    expect(start + held.lead - held.scroll).toBe(offset);
  });
});

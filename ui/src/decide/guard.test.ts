import { describe, expect, it } from 'vitest';
import { Guard } from './guard';

/** Plays steps such as `shows a 0; hand a; press a 600` and gives what the last one came to. */
function play(steps: string): string {
  const guard = new Guard();
  let last = '';
  for (const step of steps.split(';').map((text) => text.trim().split(' '))) {
    const [verb, first = '', second = '', third = ''] = step;
    switch (verb) {
      case 'shows':
        guard.shows(first, third || 'd', Number(second));
        break;
      case 'hand':
        guard.selected(first === 'nobody' ? null : first);
        break;
      case 'rearm':
        guard.rearm(Number(first));
        break;
      case 'click':
        last = guard.click(Number(first)) ? 'decides' : 'ignored';
        break;
      case 'type':
        last = guard.key(Number(first)) ? 'taken back' : 'typed';
        guard.pressed(Number(first));
        break;
      case 'press':
        guard.key(Number(second));
        last = guard.decides(first, Number(second));
        break;
      case 'hold':
        guard.hold(Number(first));
        break;
      case 'release':
        last = guard.release(Number(first)) ? 'decides' : 'let go';
        break;
      case 'space':
        guard.key(Number(first));
        last = guard.button(Number(first));
        break;
      default:
        throw new Error(`unknown step ${verb}`);
    }
  }
  return last;
}

describe('the guard', () => {
  it.each([
    // Nothing is shown, or it has not stood for long enough.
    ['click 10000', 'ignored'],
    ['shows a 0; click 0', 'ignored'],
    ['shows a 0; click 499', 'ignored'],
    ['shows a 0; click 500', 'decides'],
    ['shows a 0; shows a 400; click 600', 'decides'],
    ['shows a 0; shows b 400; click 600', 'ignored'],
    ['shows a 0; shows a 400 other; click 600', 'ignored'],
    ['shows a 0; rearm 1000; click 1400', 'ignored'],
    ['shows a 0; rearm 1000; click 1500', 'decides'],
    // A key needs a selection by hand of this very request.
    ['shows a 0; press a 1000', 'not selected by hand'],
    ['shows a 0; hand b; press a 1000', 'not selected by hand'],
    ['shows a 0; hand a; hand nobody; press a 1000', 'not selected by hand'],
    ['shows a 0; hand a; press a 499', 'not settled'],
    ['shows a 0; hand a; press a 500', 'wait'],
    // No other key in the half second before.
    ['shows a 0; hand a; type 1000; press a 1499', 'typing'],
    ['shows a 0; hand a; type 1000; press a 1500', 'wait'],
    ['shows a 0; hand a; press a 300; press a 799', 'typing'],
    ['shows a 0; hand a; press a 300; press a 800', 'wait'],
    // A key that follows takes it back, and so does one that would decide itself.
    ['shows a 0; hand a; press a 1000; type 1299', 'taken back'],
    ['shows a 0; hand a; press a 1000; type 1300', 'typed'],
    ['shows a 0; hand a; press a 1000; press a 1100', 'typing'],
    ['shows a 0; hand a; press a 1000; shows b 1100; type 1200', 'typed'],
    // Space on a focused button needs no selection, but the same calm.
    ['shows a 0; space 499', 'not settled'],
    ['shows a 0; space 500', 'wait'],
    ['shows a 0; type 900; space 1000', 'typing'],
    // What must be held: long enough, with no key and no change meanwhile.
    ['shows a 0; hold 600; release 1599', 'let go'],
    ['shows a 0; hold 600; release 1600', 'decides'],
    ['shows a 0; hold 600; release 1600; release 1700', 'let go'],
    ['shows a 0; hold 600; type 1400', 'taken back'],
    ['shows a 0; hold 600; type 1400; release 1600', 'let go'],
    ['shows a 0; hold 600; rearm 1000; release 1600', 'let go'],
    ['shows a 0; hold 600; shows b 1000; release 1600', 'let go'],
    ['shows a 0; hold 600; hand b; release 1600', 'let go'],
  ])('%s → %s', (steps, expected) => {
    expect(play(steps)).toBe(expected);
  });

  it('says how long the wait still is', () => {
    const guard = new Guard();
    expect(guard.settlesIn(0)).toBe(Number.POSITIVE_INFINITY);
    guard.shows('a', 'd', 1000);
    expect(guard.settlesIn(1200)).toBe(300);
    expect(guard.settlesIn(2000)).toBe(0);
  });

  it('never lets ordinary typing decide, at any speed of 60 to 450 ms a key', () => {
    for (let gap = 60; gap <= 450; gap += 10) {
      const guard = new Guard();
      guard.shows('a', 'd', 0);
      guard.selected('a');
      let now = 5000;
      let decided = 0;
      let waiting: number | null = null;
      for (const letter of 'a day and a date, adding data. and then ') {
        if (waiting !== null && now - waiting >= 300 && !guard.key(now)) decided += 1;
        else guard.key(now);
        waiting = null;
        if (letter === 'a' || letter === 'd') {
          if (guard.decides('a', now) === 'wait') waiting = now;
        } else guard.pressed(now);
        now += gap;
      }
      // Only the first letter of all comes out of a calm; at 300 ms and slower nothing takes it back.
      expect(decided, `at ${gap} ms a key`).toBeLessThanOrEqual(gap < 300 ? 0 : 1);
    }
  });
});

import { describe, expect, it } from 'vitest';
import { ago, clock, exact, isSoon, left, moment, took } from './time';

const now = new Date(2026, 2, 3, 14, 2, 11).getTime();
const at = (ms: number) => new Date(now + ms).toISOString();
const MIN = 60_000;

describe('times', () => {
  it.each([
    [0, 'now'],
    [-59_000, 'now'],
    [-6 * MIN, '6 min'],
    [-180 * MIN, '3 h'],
    [-48 * 60 * MIN, '1 Mar'],
    [-400 * 24 * 60 * MIN, '27 Jan 2025'],
  ])('%d ms from now was %s ago', (ms, expected) => {
    expect(ago(at(ms), now)).toBe(expected);
  });

  it.each([
    [-5, '0:00'],
    [9_000, '0:09'],
    [MIN, '1:00'],
    [3 * MIN + 41_000, '3:41'],
    [125 * MIN, '2 h 5 min'],
    [24 * 60 * MIN, '1 day'],
    [49 * 60 * MIN, '2 days'],
  ])('%d ms from now leaves %s', (ms, short) => {
    expect(left(at(ms), now)).toBe(short);
  });

  it('are soon within a quarter of an hour', () => {
    expect(isSoon(null, now)).toBe(false);
    expect(isSoon(at(15 * MIN - 1), now)).toBe(true);
    expect(isSoon(at(15 * MIN), now)).toBe(false);
  });

  it('are exact where they are asked to be', () => {
    expect(clock(at(0))).toBe('14:02:11');
    expect(moment(at(0), now)).toBe('14:02');
    expect(moment(at(-24 * 60 * MIN), now)).toBe('2 Mar 14:02');
    expect(exact(at(0))).toBe('3 Mar 2026 14:02:11');
    expect(took(at(0), at(14_000))).toBe('14 s');
  });
});

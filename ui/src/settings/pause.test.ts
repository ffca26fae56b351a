import { expect, it } from 'vitest';
import { isPaused, pauseUntil, wrongTime } from './pause';

it('pauses for an hour or until the next morning', () => {
  const night = new Date(2026, 11, 31, 23, 30).getTime();
  expect(pauseUntil('hour', night)).toBe(new Date(2027, 0, 1, 0, 30).toISOString());
  expect(pauseUntil('tomorrow', night)).toBe(new Date(2027, 0, 1, 8).toISOString());
});

it('knows whether a pause is over', () => {
  const now = Date.parse('2026-12-01T12:00:00Z');
  expect(isPaused(null, now)).toBe(false);
  expect(isPaused('2026-12-01T12:00:00Z', now)).toBe(false);
  expect(isPaused('2026-12-01T12:00:01Z', now)).toBe(true);
});

it.each([
  ['22:00', true],
  ['00:00', true],
  ['23:59', true],
  ['24:00', false],
  ['9:00', false],
  ['22:60', false],
  ['', false],
  ['night', false],
])('takes %j as a time of day: %s', (typed, ok) => {
  expect(wrongTime(typed) === null).toBe(ok);
});

import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { deciding } from './deciding.svelte';

// One clock for all: the guard is one for the page, and time never goes back.
beforeAll(() => void vi.useFakeTimers());
afterAll(() => void vi.useRealTimers());

it('lets a click count in place of a key that still waits', () => {
  const decided: string[] = [];
  const press = () =>
    deciding.byKey('a', {
      button: 'yes',
      held: false,
      decide: () => decided.push('key'),
      undone: () => decided.push('taken back'),
    });
  deciding.selected('a');
  deciding.shows('a', 'digest');
  vi.advanceTimersByTime(1000);
  expect(press()).toBe('wait');
  vi.advanceTimersByTime(100);
  expect(deciding.click()).toBe(true);
  vi.advanceTimersByTime(1000);
  expect(decided).toEqual(['taken back']);
  expect(press()).toBe('wait');
  vi.advanceTimersByTime(1000);
  expect(decided).toEqual(['taken back', 'key']);
});

it('decides what must be held after a second, and shows meanwhile that it is held', () => {
  const decided: string[] = [];
  const press = () =>
    deciding.byKey('a', { button: 'yes', held: true, decide: () => decided.push('key'), undone: () => decided.push('let go') });
  deciding.selected('a');
  deciding.shows('a', 'other digest');
  vi.advanceTimersByTime(1000);
  press();
  expect(deciding.holding).toBe('yes');
  vi.advanceTimersByTime(900);
  deciding.release();
  expect(deciding.holding).toBeNull();
  vi.advanceTimersByTime(2000);
  expect(decided).toEqual(['let go']);
  press();
  vi.advanceTimersByTime(1010);
  expect(decided).toEqual(['let go', 'key']);
  deciding.release();
  expect(decided).toHaveLength(2);
});

it('lets no click decide whose press began before what is shown had settled', () => {
  deciding.shows('b', 'digest');
  vi.advanceTimersByTime(450);
  deciding.pointerDown();
  vi.advanceTimersByTime(100);
  expect(deciding.click()).toBe(false);
  deciding.pointerDown();
  expect(deciding.click()).toBe(true);
});

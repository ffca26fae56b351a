import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { deciding } from './deciding.svelte';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('lets a click count in place of a key that still waits', () => {
  const decided: string[] = [];
  const press = () =>
    deciding.byKey(
      'a',
      () => decided.push('key'),
      () => decided.push('taken back'),
    );
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

import { expect, test } from 'vitest';
import { bands, counted, linear, logarithmic } from './scale';

test.each([
  [0, 200],
  [5, 100],
  [10, 0],
])('an even scale puts %d at %d', (value, at) => {
  expect(linear([0, 10], [200, 0])(value)).toBe(at);
});

test('an even scale of one value stands at its start', () => {
  expect(linear([3, 3], [0, 10])(3)).toBe(0);
});

test.each([
  [1, 0],
  [10, 50],
  [100, 100],
  [1000, 100],
  [0.1, 0],
])('a growing scale puts %d at %d', (value, at) => {
  expect(logarithmic([1, 100], [0, 100])(value)).toBeCloseTo(at);
});

test.each([
  [1, [0, 1]],
  [7, [0, 2, 4, 6, 8]],
  [42, [0, 10, 20, 30, 40, 50]],
])('an axis for %d has round marks', (most, marks) => {
  const axis = counted(most, 4);
  expect(axis.end).toBeGreaterThanOrEqual(most);
  expect(axis.marks).toEqual(marks);
});

test.each([1, 3, 30, 365])('%d bars stand side by side within their range', (count) => {
  const made = bands(count, [44, 640], 0.3);
  expect(made.start(0)).toBeGreaterThanOrEqual(44);
  expect(made.start(count - 1) + made.width).toBeLessThanOrEqual(641);
  expect(made.width).toBeLessThanOrEqual(made.step);
});

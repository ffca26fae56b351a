import { expect, it } from 'vitest';
import { partOf, partsFor } from './parts';

it('offers a browser neither keys nor the data', () => {
  expect(partsFor('browser').map((part) => part.id)).toEqual(['looks', 'notifications', 'deciding', 'shortcuts', 'desktop', 'about']);
  expect(partOf('keys', 'browser')).toBe('looks');
  expect(partOf('keys', 'window')).toBe('keys');
  expect(partOf('nonsense', 'window')).toBe('looks');
  expect(partOf(null, 'window')).toBe('looks');
});

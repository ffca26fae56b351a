import { expect, it } from 'vitest';
import { boundOf, freeWords, retentionWords, sizeWord, wrongBound } from './retention';

it('says what retention does', () => {
  expect(retentionWords({ days: null, megabytes: null })).toBe('Every decision is kept.');
  expect(retentionWords({ days: 1, megabytes: null })).toMatch(/^Days that are more than 1 day old are removed\. What is left still verifies/);
  expect(retentionWords({ days: null, megabytes: 500 })).toMatch(/^When there is more than 500 MB, the oldest days are removed\. What is left/);
  expect(retentionWords({ days: 30, megabytes: 2000 })).toMatch(/more than 30 days old are removed\. When there is more than 2\.0 GB, the oldest/);
});

it.each([
  ['', null],
  ['  ', null],
  ['30', null],
  ['0', 'Enter a whole number of days'],
  ['-4', 'Enter a whole number of days'],
  ['1.5', 'Enter a whole number of days'],
  ['soon', 'Enter a whole number of days'],
  ['9999999', 'Enter at most 1,000,000 days'],
])('takes %j as a bound or says what is wrong', (typed, wrong) => {
  const said = wrongBound(typed, 'days');
  if (wrong === null) expect(said).toBeNull();
  else expect(said).toContain(wrong);
});

it('keeps all where nothing is typed', () => {
  expect(boundOf(' ')).toBeNull();
  expect(boundOf('30')).toBe(30);
});

it.each([
  [0, '0 bytes'],
  [1, '1 byte'],
  [1000, '1.0 kB'],
  [999_600, '1.0 MB'],
  [12_345_678, '12 MB'],
  [3_400_000_000, '3.4 GB'],
])('says %i bytes as %s', (bytes, words) => {
  expect(sizeWord(bytes)).toBe(words);
});

it('says what compaction gives back', () => {
  expect(freeWords({ bytes: 10, free_bytes: 0 })).toBe('Nothing to give back.');
  expect(freeWords({ bytes: 9_000_000, free_bytes: 3_400_000 })).toBe('3.4 MB of it can be given back.');
});

import { expect, it } from 'vitest';
import { foundWords, runningWords, wrongText } from './redact';

const NONE = { entries: 0, fields: 0, requests: 0, running: 0, backups: [] };

it('says what would be erased', () => {
  expect(foundWords(NONE)).toBeNull();
  expect(foundWords({ ...NONE, entries: 1, fields: 1 })).toBe('It stands in 1 place in 1 entry of the record.');
  expect(foundWords({ ...NONE, entries: 2, fields: 5, requests: 1 })).toBe('It stands in 5 places in 2 entries of the record and in 1 request.');
  expect(foundWords({ ...NONE, requests: 3 })).toBe('It stands in 3 requests.');
});

it('says what is left alone', () => {
  expect(runningWords(NONE)).toBeNull();
  expect(runningWords({ ...NONE, running: 1 })).toContain('1 place in runs that have not ended is not touched.');
  expect(runningWords({ ...NONE, running: 2 })).toContain('2 places in runs that have not ended are not touched.');
});

it('takes no text that would erase more than is meant', () => {
  expect(wrongText('')).toContain('Enter the text');
  expect(wrongText('   ')).toContain('Enter the text');
  expect(wrongText('a1😀')).toContain('at least 4');
  expect(wrongText('hunter2')).toBeNull();
});

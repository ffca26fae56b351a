import { expect, it } from 'vitest';
import { foundWords, runningWords, wrongText } from './redact';

const NONE = { entries: 0, fields: 0, requests: 0, places: 0, running: 0, setups: [], backups: [] };

it('says what would be erased', () => {
  expect(foundWords(NONE)).toBeNull();
  expect(foundWords({ ...NONE, entries: 1, fields: 1 })).toBe('1 content of 1 entry of the record');
  expect(foundWords({ ...NONE, entries: 2, fields: 5, requests: 1 })).toBe('5 contents of 2 entries of the record and 1 decided request');
  expect(foundWords({ ...NONE, requests: 3 })).toBe('3 decided requests');
  expect(foundWords({ ...NONE, entries: 1, fields: 1, requests: 1, places: 2 })).toBe('1 content of 1 entry of the record, 1 decided request and 2 other texts');
});

it('says what is left alone', () => {
  expect(runningWords(NONE)).toBeNull();
  expect(runningWords({ ...NONE, running: 1 })).toBe('1 request or run that goes on holds it and is left alone. Erase it again once it has ended.');
  expect(runningWords({ ...NONE, running: 2 })).toBe('2 requests and runs that go on hold it and are left alone. Erase it again once they have ended.');
});

it('takes no text that would erase more than is meant', () => {
  expect(wrongText('')).toContain('Enter the text');
  expect(wrongText('   ')).toContain('Enter the text');
  expect(wrongText('  a1😀 ')).toContain('at least 4');
  expect(wrongText('hunter2')).toBeNull();
});

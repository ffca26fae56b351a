import { expect, it } from 'vitest';
import { verdictWords } from './verdict';

it('says what a verification found', () => {
  expect(verdictWords({ ok: true, entries: 1, head: 'x', entry: null, problem: null })).toBe(
    'The record is intact: 1 entry, each following from the one before.',
  );
  expect(verdictWords({ ok: false, entries: 1283, head: 'x', entry: 1200, problem: 'changed' })).toContain(
    'First at entry 1,200: its content differs from what was recorded.',
  );
});

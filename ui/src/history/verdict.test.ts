import { expect, it } from 'vitest';
import { headOf, verdictWords, wrongHead } from './verdict';

it('says what a verification found', () => {
  expect(verdictWords({ ok: true, entries: 1, head: 'x', entry: null, problem: null })).toBe(
    'The record is intact: 1 entry, each following from the one before.',
  );
  expect(verdictWords({ ok: true, entries: 2, head: 'x', entry: null, problem: null }, true)).toContain('The head that you noted is among them');
  expect(verdictWords({ ok: false, entries: 1283, head: 'x', entry: 1200, problem: 'changed' })).toContain(
    'First at entry 1,200: its content differs from what was recorded.',
  );
});

it('takes a head however it was copied, and says when it cannot be one', () => {
  const head = 'ab'.repeat(32);
  expect(headOf(` "${head.toUpperCase()}"\n`)).toBe(head);
  expect(wrongHead(` ${head.slice(0, 30)}\n${head.slice(30)} `)).toBeNull();
  expect(wrongHead('')).toBeNull();
  for (const wrong of [head.slice(1), `${head}0`, 'entry 1,284', head.replace('a', 'g')]) expect(wrongHead(wrong)).toContain('64 digits');
});

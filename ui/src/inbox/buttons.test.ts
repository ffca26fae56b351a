import { expect, it } from 'vitest';
import { buttonsOf } from './buttons';

it('a request without choices of its own has a yes and a no, in the words of its kind', () => {
  const labels = (kind: string, edited = false): string[] => buttonsOf(kind, [], edited).map((one) => one.label);
  expect(labels('approval')).toEqual(['Deny', 'Approve']);
  expect(labels('approval', true)).toEqual(['Deny', 'Approve with edits']);
  expect(labels('tool_call')).toEqual(['Deny', 'Approve']);
  expect(labels('input')).toEqual(['Decline', 'Send answer']);
  expect(labels('question')).toEqual(['Decline', 'Answer']);
  expect(labels('authorization')).toEqual(['Decline', 'I have signed in']);
});

it('choices stand in their order, the keys for the first of each, and only what approves is a yes', () => {
  const choice = (id: string, effect: string): { id: string; label: string; effect: string } => ({ id, label: id.toUpperCase(), effect });
  const choices = [choice('later', 'deny'), choice('one', 'approve'), choice('all', 'approve'), choice('odd', 'other')];
  expect(buttonsOf('approval', choices, false)).toEqual([
    { ok: false, choice: 'later', label: 'LATER', key: 'deny' },
    { ok: true, choice: 'one', label: 'ONE', key: 'approve' },
    { ok: true, choice: 'all', label: 'ALL', key: null },
    { ok: false, choice: 'odd', label: 'ODD', key: null },
  ]);
  expect(buttonsOf('approval', choices, true).map((one) => one.label)).toEqual(['LATER', 'ONE (with edits)', 'ALL (with edits)', 'ODD']);
});

import { expect, it } from 'vitest';
import type { RequestItem } from '../bindings/RequestItem';
import { rowLines } from './row';

it.each([
  ['approval', 'Run it?', 'ls', 'Run it?', 'ls'],
  ['question', 'Which? (options: a, b)', 'Which?', 'Which?', 'a, b'],
  ['question', 'Which? (options: a, b)\nWhere?', 'Which?', 'Which? and 1 more', 'a, b'],
  ['question', 'What is it called?', 'What is it called?', 'What is it called?', ''],
  ['approval', 'Really? (options: a, b)', '', 'Really? (options: a, b)', ''],
])('%s %j, %j reads %j above %j', (kind, prompt, summary, title, below) => {
  expect(rowLines({ kind, prompt, summary } as RequestItem)).toEqual({ title, below });
});

import { expect, it } from 'vitest';
import { compare } from './compare';

const lines = (text: string): string[] => text.split('');

it('shows what changed with what is around it', () => {
  expect(compare(lines('abc'), lines('abc'))).toBe('');
  expect(compare(lines('abc'), lines('axc'))).toBe('@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n');
  expect(compare([], ['new'])).toBe('@@ -1,0 +1,1 @@\n+new\n');
  expect(compare(['old'], [])).toBe('@@ -1,1 +1,0 @@\n-old\n');
});

it('leaves out what is far from a change', () => {
  const before = lines('abcdefghijklmnopqrst');
  const after = before.map((line) => (line === 'b' || line === 's' ? line.toUpperCase() : line));
  expect(compare(before, after)).toBe(
    '@@ -1,5 +1,5 @@\n a\n-b\n+B\n c\n d\n e\n@@ -16,5 +16,5 @@\n p\n q\n r\n-s\n+S\n t\n',
  );
});

it('finds the lines that stayed', () => {
  expect(compare(lines('abcd'), lines('bcxd'))).toBe('@@ -1,4 +1,4 @@\n-a\n b\n c\n+x\n d\n');
});

it('replaces all where there is too much to match', () => {
  const many = (word: string): string[] => Array.from({ length: 2500 }, (_, at) => `${word}${at}`);
  const diff = compare(many('a'), many('b'));
  expect(diff.split('\n').filter((line) => line.startsWith('-'))).toHaveLength(2500);
  expect(diff.split('\n').filter((line) => line.startsWith('+'))).toHaveLength(2500);
});

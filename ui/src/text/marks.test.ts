import { describe, expect, it } from 'vitest';
import type { Risk } from '../bindings/Risk';
import { piecesOf } from './marks';

const mark = (start: number | null, end: number | null, level: Risk = 'medium', text = level as string) => ({ code: 'x', level, text, start, end });

/** The pieces as text: `git «medium:push» origin`. */
const shown = (text: string, ...marks: ReturnType<typeof mark>[]): string =>
  piecesOf(text, marks)
    .map((one) => (one.level === null ? one.text : `«${one.level}:${one.text}»`))
    .join('');

describe('the marked parts of a text', () => {
  it.each([
    ['no marks', shown('git push'), 'git push'],
    ['one', shown('git push origin', mark(4, 8)), 'git «medium:push» origin'],
    ['the whole', shown('git push', mark(0, 8, 'low')), '«low:git push»'],
    ['after more than a byte a character', shown('é😀 rm', mark(7, 9, 'high')), 'é😀 «high:rm»'],
    ['within a character', shown('é rm', mark(1, 4)), 'é rm'],
    ['past the end', shown('rm', mark(0, 99)), 'rm'],
    ['about nothing in particular', shown('rm', mark(null, null)), 'rm'],
    ['inside of one another', shown('sudo rm -r x', mark(0, 12, 'medium'), mark(5, 10, 'high')), '«medium:sudo »«high:rm -r»«medium: x»'],
  ])('%s', (_, is, expected) => {
    expect(is).toBe(expected);
  });

  it('says all that is noted about a part', () => {
    expect(piecesOf('rm', [mark(0, 2, 'low', 'Deletes.'), mark(0, 2, 'high', 'As root.')])).toEqual([{ text: 'rm', level: 'high', note: 'Deletes. As root.' }]);
  });

  it('loses not a character, whatever is marked', () => {
    const text = 'a\u202eé😀\n\u0000b';
    for (let start = 0; start < 14; start += 1)
      for (let end = 0; end < 14; end += 1) expect(piecesOf(text, [mark(start, end), mark(end, start + 3, 'high')]).map((one) => one.text).join('')).toBe(text);
  });
});

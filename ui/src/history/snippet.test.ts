import { describe, expect, it } from 'vitest';
import { pieces } from './snippet';

const shown = (text: string, marks: [number, number][]): string =>
  pieces(text, marks)
    .map((piece) => (piece.found ? `[${piece.text}]` : piece.text))
    .join('');

describe('what a search found is marked', () => {
  it.each<[string, string, [number, number][], string]>([
    ['nothing', 'git push', [], 'git push'],
    ['the start and the end', 'git push', [[0, 3], [4, 8]], '[git] [push]'],
    ['the whole', 'git', [[0, 3]], '[git]'],
    ['in any order', 'git push', [[4, 8], [0, 3]], '[git] [push]'],
    ['where marks overlap, once', 'git push', [[0, 5], [3, 8]], '[git push]'],
    ['where marks touch, once', 'git push', [[0, 3], [3, 5]], '[git p]ush'],
    ['one inside another', 'git push', [[0, 8], [2, 3]], '[git push]'],
    ['not beyond the text', 'git', [[1, 99], [-5, -1], [50, 60]], 'g[it]'],
    ['not backwards', 'git', [[2, 1]], 'git'],
    ['not by half a character', 'a😀b', [[1, 2]], 'a[😀]b'],
    ['not from half a character', 'a😀b', [[2, 4]], 'a[😀b]'],
    ['not what is no number', 'git', [[Number.NaN, 2]], '[gi]t'],
    ['in Chinese', '请批准推送', [[1, 3]], '请[批准]推送'],
  ])('%s', (_name, text, marks, expected) => {
    expect(shown(text, marks)).toBe(expected);
    expect(pieces(text, marks).map((piece) => piece.text).join('')).toBe(text);
  });

  it('as text, whatever it looks like', () => {
    expect(pieces('<b>x</b>', [[0, 3]])).toEqual([
      { text: '<b>', found: true },
      { text: 'x</b>', found: false },
    ]);
  });
});

import { describe, expect, it } from 'vitest';
import { Tails, cut } from './cut';

const limit = { characters: 10, lines: 3 };

describe('cutting', () => {
  it.each([
    ['', '', 0],
    ['0123456789', '0123456789', 0],
    ['0123456789X', '0123456789', 1],
    ['a\nb\nc', 'a\nb\nc', 0],
    ['a\nb\nc\n', 'a\nb\nc', 1],
    ['a\nb\nc\nd', 'a\nb\nc', 2],
    ['012345678🙂', '012345678', 1],
    ['0123456789🙂🙂', '0123456789', 2],
  ])('%j', (text, head, more) => {
    expect(cut(text, limit)).toEqual({ head, more });
  });

  it('finds what stands at the end of a megabyte', () => {
    const text = `${'x'.repeat(1_000_000)}; rm -rf ~`;
    const { head, more } = cut(text, { characters: 4000, lines: 60 });
    expect(head.length).toBe(4000);
    expect(more).toBe(text.length - 4000);
  });
});

describe('tails', () => {
  it('wait until every part was opened', () => {
    const tails = new Tails();
    expect(tails.closed).toBe(0);
    tails.cut('command');
    tails.cut('prompt');
    tails.cut('command');
    expect(tails.closed).toBe(2);
    tails.opened('command');
    expect(tails.closed).toBe(1);
    tails.opened('prompt');
    tails.opened('prompt');
    expect(tails.closed).toBe(0);
  });
});

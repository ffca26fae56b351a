import { describe, expect, it } from 'vitest';
import { BINDINGS, Keys, hint, keyName, takesText } from './keys';

function type(keys: string, options: { inText?: boolean; gap?: number; ctrl?: boolean } = {}): string {
  const table = new Keys();
  const { inText = false, gap = 10, ctrl = false } = options;
  return keys
    .split(' ')
    .map((key, at) => table.press({ key, ctrl, alt: false, meta: false, inText }, at * gap) ?? '-')
    .join(' ');
}

describe('the key table', () => {
  it.each([
    ['j', 'next'],
    ['ArrowDown', 'next'],
    ['k', 'previous'],
    ['a', 'approve'],
    ['d', 'deny'],
    ['r', 'reason'],
    ['?', 'help'],
    ['Escape', 'back'],
    ['A', '-'],
    ['Enter', '-'],
    [' ', '- -'],
    ['g i', '- inbox'],
    ['g r', '- runs'],
    ['g h', '- history'],
    ['g g h', '- - history'],
    ['g x h', '- - -'],
    ['g a', '- approve'],
  ])('%s → %s', (keys, expected) => {
    expect(type(keys)).toBe(expected);
  });

  it('forgets the first of two keys after a second', () => {
    expect(type('g r', { gap: 1000 })).toBe('- runs');
    expect(type('g r', { gap: 1001 })).toBe('- reason');
  });

  it('fires nothing in a text field but Escape', () => {
    expect(type('a d j g i ? Escape', { inText: true })).toBe('- - - - - - back');
  });

  it('leaves keys with a modifier to the system', () => {
    expect(type('a d r', { ctrl: true })).toBe('- - -');
  });

  it('binds every key to one action, and every action once', () => {
    const keys = BINDINGS.flatMap((one) => one.keys);
    expect(new Set(keys).size).toBe(keys.length);
    expect(new Set(BINDINGS.map((one) => one.action)).size).toBe(BINDINGS.length);
  });

  it('names keys for people', () => {
    expect(hint('approve')).toBe('A');
    expect(keyName('g i')).toBe('G then I');
    expect(keyName('ArrowDown')).toBe('↓');
  });

  it('knows what takes text', () => {
    const make = (html: string) => {
      document.body.innerHTML = html;
      return document.body.firstElementChild;
    };
    for (const html of ['<input>', '<input type="search">', '<textarea></textarea>', '<select></select>'])
      expect(takesText(make(html)), html).toBe(true);
    for (const html of ['<input type="radio">', '<input type="checkbox">', '<button>a</button>', '<div></div>'])
      expect(takesText(make(html)), html).toBe(false);
  });
});

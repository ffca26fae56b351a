import { afterEach, describe, expect, it } from 'vitest';
import { shortcuts } from '../keyboard/shortcuts.svelte';
import { Keys, hint, takesText } from './keys';

function type(keys: string, options: { inText?: boolean; gap?: number; ctrl?: boolean } = {}): string {
  const table = new Keys();
  const { inText = false, gap = 10, ctrl = false } = options;
  return keys
    .split(' ')
    .map((key, at) => table.press({ key, ctrlKey: ctrl, altKey: false, metaKey: false, shiftKey: key.length === 1 && key !== key.toLowerCase(), inText }, at * gap) ?? '-')
    .join(' ');
}

afterEach(() => {
  shortcuts.overrides = {};
});

describe('the keys', () => {
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
    ['g x h', '- mark fold'],
    ['g q h', '- - fold'],
    ['g a', '- agents'],
    ['g d', '- deny'],
    ['J', 'mark_next'],
    ['u', 'undo'],
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

  it('lets Ctrl-K through in a text field', () => {
    expect(type('k a', { inText: true, ctrl: true })).toBe('palette -');
  });

  it('takes the keys that the person set, and none that stand for two actions', () => {
    shortcuts.overrides = { approve: 'y', next: 'd' };
    expect(type('y a d j')).toBe('approve - - -');
    expect(hint('approve')).toBe('Y');
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

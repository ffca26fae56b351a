import { describe, expect, it } from 'vitest';
import { ACTIONS, bindings, chordOf, conflicts, keyName, refusal } from './actions';

const stroke = (key: string, over: Partial<Parameters<typeof chordOf>[0]> = {}) =>
  chordOf({ key, ctrlKey: false, altKey: false, metaKey: false, shiftKey: false, ...over });

describe('the table of actions', () => {
  it('names every action once, and no key twice', () => {
    expect(new Set(ACTIONS.map((one) => one.id)).size).toBe(ACTIONS.length);
    expect(conflicts()).toEqual([]);
  });

  it('has no key that presses or moves the focus', () => {
    for (const { id, keys } of ACTIONS) for (const one of keys) expect(refusal(id, one), `${id} ${one}`).toBeNull();
  });

  it('lets the person put another key in place, or none', () => {
    const keys = (overrides: Record<string, string>, id: string) => bindings(overrides).find((one) => one.id === id)?.keys;
    expect(keys({ next: 'n' }, 'next')).toEqual(['n']);
    expect(keys({ next: '' }, 'next')).toEqual([]);
    expect(keys({ approve: 'Enter' }, 'approve')).toEqual(['a']);
    expect(keys({ approve: 'g y' }, 'approve')).toEqual(['a']);
    expect(keys({ nonsense: 'y' }, 'next')).toEqual(['j', 'ArrowDown']);
  });

  it.each([
    [{ deny: 'a' }, [{ keys: 'a', actions: ['approve', 'deny'] }]],
    [{ deny: 'g' }, [{ keys: 'g', actions: ['deny', 'inbox', 'runs', 'agents', 'senders', 'history', 'settings'] }]],
    [{ deny: 'y' }, []],
    [{ approve: 'd', deny: 'a' }, []],
  ])('finds what %j brings into conflict', (overrides, expected) => {
    expect(conflicts(overrides)).toEqual(expected);
  });

  it('writes what was pressed as the table does', () => {
    expect(stroke('a')).toBe('a');
    expect(stroke('A')).toBe('a');
    expect(stroke('J', { shiftKey: true })).toBe('Shift+j');
    expect(stroke('?', { shiftKey: true })).toBe('?');
    expect(stroke('ArrowDown', { shiftKey: true })).toBe('Shift+ArrowDown');
    expect(stroke('k', { ctrlKey: true })).toBe('Mod+k');
    expect(stroke('k', { metaKey: true })).toBe('Mod+k');
    expect(stroke(' ')).toBe('Space');
    expect(stroke('Shift', { shiftKey: true })).toBeNull();
  });

  it('names keys for people', () => {
    expect(keyName('a')).toBe('A');
    expect(keyName('g i')).toBe('G then I');
    expect(keyName('ArrowDown')).toBe('↓');
    expect(keyName('Shift+j')).toBe('Shift+J');
    expect(keyName('+')).toBe('+');
  });
});

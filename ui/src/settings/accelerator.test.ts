import { expect, it } from 'vitest';
import { type Chord, acceleratorOf } from './accelerator';

const press = (code: string, over: Partial<Chord> = {}): Chord => ({ key: 'x', code, ctrlKey: false, altKey: false, shiftKey: false, metaKey: false, ...over });

it('writes a chord as the desktop is told of it', () => {
  expect(acceleratorOf(press('KeyS', { ctrlKey: true, altKey: true }))).toEqual({ keys: 'Ctrl+Alt+S' });
  expect(acceleratorOf(press('Digit1', { metaKey: true, shiftKey: true }))).toEqual({ keys: 'Shift+Super+1' });
  expect(acceleratorOf(press('F12', { altKey: true }))).toEqual({ keys: 'Alt+F12' });
  // Alt makes another letter of it on some keyboards.
  expect(acceleratorOf(press('KeyS', { key: 'ß', altKey: true }))).toEqual({ keys: 'Alt+S' });
});

it('takes no chord that typing would press', () => {
  for (const wrong of [press('KeyS'), press('KeyS', { shiftKey: true }), press('Enter', { ctrlKey: true }), press('F25', { altKey: true })])
    expect(acceleratorOf(wrong)).toHaveProperty('wrong');
  expect(acceleratorOf(press('ControlLeft', { key: 'Control', ctrlKey: true }))).toBeNull();
});

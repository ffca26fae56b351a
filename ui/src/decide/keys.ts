import { type ActionId, type Stroke, chordOf } from '../keyboard/actions';
import { shortcuts } from '../keyboard/shortcuts.svelte';

export { hint } from '../keyboard/shortcuts.svelte';

/** How long the first key of two waits for the second. */
export const SEQUENCE_MS = 1000;

/** What [`Keys`] needs to know of a key event. */
export interface Press extends Stroke {
  /** Whether a field for text has the focus. */
  inText: boolean;
}

/** Turns presses into actions. In a text field nothing fires but Escape and what is pressed with Ctrl or Cmd. */
export class Keys {
  #first: { keys: string; at: number } | null = null;

  press(press: Press, now: number): ActionId | null {
    const first = this.#first !== null && now - this.#first.at <= SEQUENCE_MS ? this.#first.keys : null;
    this.#first = null;
    const keys = chordOf(press);
    if (keys === null) return null;
    if (press.inText) return keys === 'Escape' ? 'back' : keys.startsWith('Mod+') ? this.#find(keys) : null;
    if (first !== null) {
      const both = this.#find(`${first} ${keys}`);
      if (both !== null) return both;
    }
    if (shortcuts.bindings.some((one) => one.keys.some((all) => all.startsWith(`${keys} `)))) {
      this.#first = { keys, at: now };
      return null;
    }
    return this.#find(keys);
  }

  /** Keys that stand for several actions stand for none. */
  #find(keys: string): ActionId | null {
    if (shortcuts.clashing.has(keys)) return null;
    return shortcuts.bindings.find((one) => one.keys.includes(keys))?.id ?? null;
  }
}

const TEXT_INPUTS = ['text', 'search', 'url', 'email', 'number', 'password', 'tel', 'date', 'time', 'datetime-local', ''];

/** Whether letters that are typed at this element are text. */
export function takesText(element: EventTarget | null): boolean {
  if (!(element instanceof HTMLElement)) return false;
  if (element.isContentEditable) return true;
  if (element instanceof HTMLInputElement) return TEXT_INPUTS.includes(element.getAttribute('type') ?? '');
  return element instanceof HTMLTextAreaElement || element instanceof HTMLSelectElement;
}

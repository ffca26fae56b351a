/** The one table of keys. Bindings, the hints on buttons and the help sheet are all drawn from it. */

export type Action =
  | 'next'
  | 'previous'
  | 'approve'
  | 'deny'
  | 'reason'
  | 'edit'
  | 'open'
  | 'filter'
  | 'inbox'
  | 'runs'
  | 'history'
  | 'back'
  | 'help';

export interface Binding {
  action: Action;
  /** Alternatives. Two keys with a space between are pressed one after the other. */
  keys: readonly string[];
  /** For the help sheet. */
  does: string;
}

export const BINDINGS: readonly Binding[] = [
  { action: 'next', keys: ['j', 'ArrowDown'], does: 'Select the next one' },
  { action: 'previous', keys: ['k', 'ArrowUp'], does: 'Select the one before' },
  { action: 'approve', keys: ['a'], does: 'Approve or answer the request that you selected' },
  { action: 'deny', keys: ['d'], does: 'Deny or decline the request that you selected' },
  { action: 'reason', keys: ['r'], does: 'Write a reason, kept in history only' },
  { action: 'edit', keys: ['e'], does: 'Change what will run before you approve it, where you may' },
  { action: 'open', keys: ['o'], does: 'Open the sign-in page' },
  { action: 'filter', keys: ['/'], does: 'Filter or search' },
  { action: 'inbox', keys: ['g i'], does: 'Go to Inbox' },
  { action: 'runs', keys: ['g r'], does: 'Go to Runs' },
  { action: 'history', keys: ['g h'], does: 'Go to History' },
  { action: 'back', keys: ['Escape'], does: 'Leave a field, or go back' },
  { action: 'help', keys: ['?'], does: 'Show these keys' },
];

/** How long the first key of two waits for the second. */
export const SEQUENCE_MS = 1000;

const NAMES: Record<string, string> = { ArrowDown: '↓', ArrowUp: '↑', Escape: 'Esc' };

/** A key as a person reads it on a hint: `A`, `↓`, `G then I`. */
export function keyName(keys: string): string {
  return keys
    .split(' ')
    .map((key) => NAMES[key] ?? key.toUpperCase())
    .join(' then ');
}

/** The hint for a button: the first key of its action. */
export function hint(action: Action): string {
  const binding = BINDINGS.find((one) => one.action === action);
  return keyName(binding?.keys[0] ?? '');
}

/** What [`Keys`] needs to know of a key event. */
export interface Press {
  key: string;
  ctrl: boolean;
  alt: boolean;
  meta: boolean;
  /** Whether a field for text has the focus. */
  inText: boolean;
}

/** Turns presses into actions. Nothing fires in a text field but Escape. */
export class Keys {
  #first: { key: string; at: number } | null = null;

  press(press: Press, now: number): Action | null {
    const first = this.#first !== null && now - this.#first.at <= SEQUENCE_MS ? this.#first.key : null;
    this.#first = null;
    if (press.ctrl || press.alt || press.meta) return null;
    if (press.inText) return press.key === 'Escape' ? 'back' : null;
    if (first !== null) {
      const both = this.#find(`${first} ${press.key}`);
      if (both !== null) return both;
    }
    if (BINDINGS.some((one) => one.keys.some((keys) => keys.startsWith(`${press.key} `)))) {
      this.#first = { key: press.key, at: now };
      return null;
    }
    return this.#find(press.key);
  }

  #find(keys: string): Action | null {
    return BINDINGS.find((one) => one.keys.includes(keys))?.action ?? null;
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

/** The one table of keys. Bindings, the hints on buttons, the help sheet and the command palette are all drawn from it. */

export type ActionId =
  | 'next'
  | 'previous'
  | 'first'
  | 'last'
  | 'unfold'
  | 'fold'
  | 'mark'
  | 'mark_next'
  | 'mark_previous'
  | 'approve'
  | 'deny'
  | 'reason'
  | 'edit'
  | 'open'
  | 'snooze'
  | 'undo'
  | 'filter'
  | 'palette'
  | 'inbox'
  | 'runs'
  | 'agents'
  | 'senders'
  | 'history'
  | 'settings'
  | 'back'
  | 'help';

/** Where an action works. */
export type Where = 'Everywhere' | 'Lists' | 'Inbox';

/**
 * What a key can do. Keys are alternatives; two with a space between are pressed one after the other. A key is written as
 * the browser names it, with its modifiers before it: `a`, `?`, `ArrowDown`, `Shift+j`, `Mod+k`. `Mod` is Ctrl or Cmd.
 */
export interface Action {
  id: ActionId;
  keys: string[];
  label: string;
  place: Where;
  /** When it is possible, where that is not always. */
  when?: string;
  /** It decides: it never fires from the palette, and its keys are guarded. */
  decides?: true;
}

export const ACTIONS: Action[] = [
  { id: 'next', keys: ['j', 'ArrowDown'], label: 'Select the next one', place: 'Lists' },
  { id: 'previous', keys: ['k', 'ArrowUp'], label: 'Select the one before', place: 'Lists' },
  { id: 'first', keys: ['Home'], label: 'Select the first one', place: 'Lists' },
  { id: 'last', keys: ['End'], label: 'Select the last one', place: 'Lists' },
  { id: 'approve', keys: ['a'], label: 'Approve or answer', place: 'Inbox', when: 'for a request that you selected; held where the risk is high', decides: true },
  { id: 'deny', keys: ['d'], label: 'Deny or decline', place: 'Inbox', when: 'for a request that you selected', decides: true },
  { id: 'reason', keys: ['r'], label: 'Write a reason, kept in history only', place: 'Inbox' },
  { id: 'edit', keys: ['e'], label: 'Change what will run, or fill in the form', place: 'Inbox', when: 'where the source allows edits or asks for more' },
  { id: 'open', keys: ['o'], label: 'Open the sign-in page', place: 'Inbox', when: 'when a request asks you to sign in' },
  { id: 'snooze', keys: ['s'], label: 'Snooze until a time', place: 'Inbox' },
  { id: 'undo', keys: ['u'], label: 'Take the last decision back', place: 'Inbox', when: 'until it is delivered' },
  { id: 'mark', keys: ['x'], label: 'Mark it, to answer several at once', place: 'Inbox' },
  { id: 'mark_next', keys: ['Shift+j', 'Shift+ArrowDown'], label: 'Mark the next one too', place: 'Inbox' },
  { id: 'mark_previous', keys: ['Shift+k', 'Shift+ArrowUp'], label: 'Mark the one before too', place: 'Inbox' },
  { id: 'unfold', keys: ['l', 'ArrowRight'], label: 'Show all of a group', place: 'Inbox', when: 'on a group of identical requests' },
  { id: 'fold', keys: ['h', 'ArrowLeft'], label: 'Fold a group', place: 'Inbox', when: 'on a group of identical requests' },
  { id: 'filter', keys: ['/'], label: 'Filter or search', place: 'Lists' },
  { id: 'palette', keys: ['Mod+k'], label: 'Find anything', place: 'Everywhere' },
  { id: 'inbox', keys: ['g i'], label: 'Go to Inbox', place: 'Everywhere' },
  { id: 'runs', keys: ['g r'], label: 'Go to Runs', place: 'Everywhere' },
  { id: 'agents', keys: ['g a'], label: 'Go to Agents', place: 'Everywhere' },
  { id: 'senders', keys: ['g e'], label: 'Go to Senders', place: 'Everywhere' },
  { id: 'history', keys: ['g h'], label: 'Go to History', place: 'Everywhere' },
  { id: 'settings', keys: ['g s'], label: 'Go to Settings', place: 'Everywhere' },
  { id: 'back', keys: ['Escape'], label: 'Leave a field, or go back', place: 'Everywhere' },
  { id: 'help', keys: ['?'], label: 'Show these keys', place: 'Everywhere' },
];

/** The person's own keys: from an action's id to what stands in place of its keys; an empty text leaves it without any. */
export type Overrides = Readonly<Record<string, string>>;

/** An action with the keys that it has now. */
export interface Binding {
  id: ActionId;
  keys: readonly string[];
}

/** What a key event must tell. */
export interface Stroke {
  key: string;
  ctrlKey: boolean;
  altKey: boolean;
  metaKey: boolean;
  shiftKey: boolean;
}

const MODIFIERS = ['Control', 'Shift', 'Alt', 'Meta', 'AltGraph', 'CapsLock', 'Dead', 'Process', 'Unidentified'];

/** A key event as the table writes it; null for a modifier alone. */
export function chordOf({ key, ctrlKey, altKey, metaKey, shiftKey }: Stroke): string | null {
  if (MODIFIERS.includes(key)) return null;
  const letter = key.length === 1 && key.toLowerCase() !== key.toUpperCase();
  // What Shift makes of a digit or a sign is a sign of its own: `?`.
  const shift = shiftKey && (letter || key.length > 1);
  const name = key === ' ' ? 'Space' : letter ? key.toLowerCase() : key;
  return [...(ctrlKey || metaKey ? ['Mod'] : []), ...(altKey ? ['Alt'] : []), ...(shift ? ['Shift'] : []), name].join('+');
}

/** Keys that no action may take: they move the focus, or press what has it. Enter never decides. */
const TAKEN = ['Enter', 'Space', 'Tab', 'Shift+Tab', 'Backspace', 'Delete'];

/** Why these keys cannot be an action's, in words; null when they can. */
export function refusal(id: string, keys: string): string | null {
  const action = ACTIONS.find((one) => one.id === id);
  if (action === undefined) return 'There is no such action.';
  if (keys === '') return null;
  const strokes = keys.split(' ');
  if (strokes.length > 2 || strokes.some((one) => one === '')) return 'Use one key, or two pressed one after the other.';
  if (strokes.some((one) => TAKEN.includes(one))) return 'Enter, Space, Tab and the keys that delete keep what they do.';
  if (action.decides && (strokes.length > 1 || /^(Mod|Alt)\+/.test(keys))) return 'A decision takes a single key, so that typing can take it back.';
  return null;
}

/** Every action with its keys now: the person's own where they are possible, else those of the table. */
export function bindings(overrides: Overrides = {}): Binding[] {
  return ACTIONS.map(({ id, keys }) => {
    const own = overrides[id];
    if (own === undefined || refusal(id, own) !== null) return { id, keys };
    return { id, keys: own === '' ? [] : [own] };
  });
}

/** Keys that more than one action has. None of them fires until one is changed. */
export interface Conflict {
  keys: string;
  actions: ActionId[];
}

/** The keys that stand for several actions, also where one is the first of two of another. */
export function conflicts(overrides: Overrides = {}): Conflict[] {
  const all = bindings(overrides).flatMap(({ id, keys }) => keys.map((one) => ({ id, keys: one })));
  const found = new Map<string, Set<ActionId>>();
  for (const one of all)
    for (const other of all)
      if (one.id !== other.id && (one.keys === other.keys || other.keys.startsWith(`${one.keys} `)))
        found.set(one.keys, (found.get(one.keys) ?? new Set()).add(one.id).add(other.id));
  return [...found].map(([keys, ids]) => ({ keys, actions: [...ids] }));
}

const NAMES: Record<string, string> = { ArrowDown: '↓', ArrowUp: '↑', ArrowLeft: '←', ArrowRight: '→', Escape: 'Esc' };
const IS_MAC = /Mac|iPhone|iPad/.test(globalThis.navigator?.platform ?? '');

/** Keys as a person reads them on a hint: `A`, `↓`, `Shift+J`, `G then I`. */
export function keyName(keys: string): string {
  const one = (stroke: string): string =>
    stroke
      .split(/\+(?=.)/)
      .map((part) => (part === 'Mod' ? (IS_MAC ? 'Cmd' : 'Ctrl') : (NAMES[part] ?? (part.length === 1 ? part.toUpperCase() : part))))
      .join('+');
  return keys.split(' ').map(one).join(' then ');
}

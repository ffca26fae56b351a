/** What a key event must tell. */
export interface Chord {
  key: string;
  /** The key's place on the keyboard: `KeyS`, whatever Alt makes of it. */
  code: string;
  ctrlKey: boolean;
  altKey: boolean;
  shiftKey: boolean;
  metaKey: boolean;
}

const MODIFIERS = ['Control', 'Shift', 'Alt', 'Meta', 'AltGraph', 'CapsLock'];

/** A chord as the desktop is told of it: `Ctrl+Alt+S`; words where it cannot be one; null for a modifier alone. */
export function acceleratorOf({ key, code, ctrlKey, altKey, shiftKey, metaKey }: Chord): { keys: string } | { wrong: string } | null {
  if (MODIFIERS.includes(key)) return null;
  const name = /^(?:Key|Digit)([A-Z0-9])$/.exec(code)?.[1] ?? /^F(?:[1-9]|1\d|2[0-4])$/.exec(code)?.[0];
  if (name === undefined || !(ctrlKey || altKey || metaKey))
    return { wrong: 'Press Ctrl, Alt or Super together with a letter, a digit or a function key.' };
  const parts = [ctrlKey && 'Ctrl', altKey && 'Alt', shiftKey && 'Shift', metaKey && 'Super', name];
  return { keys: parts.filter((part) => part !== false).join('+') };
}

/** What the app says about states. Sentence case, no blame. */

/** `18,402`. */
export function count(number: number): string {
  return number.toLocaleString('en');
}

/** `1 decision`, `2 decisions`. */
export function plural(number: number, one: string, many: string): string {
  return `${count(number)} ${number === 1 ? one : many}`;
}

const KINDS: Record<string, string> = {
  approval: 'asks for approval',
  input: 'needs details',
  question: 'has a question',
  authorization: 'needs you to sign in',
  tool_call: 'asks for a tool to be run',
};

/** What an agent does by asking: `asks for approval`. */
export function asks(kind: string, tool: string | null): string {
  if (kind === 'approval' && (tool === 'edit_file' || tool === 'write_file'))
    return tool === 'edit_file' ? 'wants to edit a file' : 'wants to write a file';
  return KINDS[kind] ?? 'asks';
}

const OUTCOMES: Record<string, string> = {
  approved: 'Approved',
  answered: 'Answered',
  declined: 'Denied',
  cancelled: 'Cancelled',
  expired: 'Expired',
};

/** An outcome as a person reads it. A no to something other than an approval was declined, not denied. */
export function outcomeWord(outcome: string, kind: string): string {
  if (outcome === 'declined' && ['input', 'question', 'authorization'].includes(kind)) return 'Declined';
  if (outcome === 'approved' && kind === 'authorization') return 'Signed in';
  return OUTCOMES[outcome] ?? outcome;
}

/** The colour of an outcome: `ok`, `no` or `ex`. */
export function outcomeTone(outcome: string): 'ok' | 'no' | 'ex' {
  if (outcome === 'approved' || outcome === 'answered') return 'ok';
  return outcome === 'declined' ? 'no' : 'ex';
}

const SURFACES: Record<string, string> = {
  window: 'in the window',
  notification: 'from the notification',
  tray: 'from the tray',
  cli: 'in the terminal',
  browser: 'in the browser',
};

/** Who decided, and where: `you, from the notification`. */
export function decidedBy(by: string, surface: string | null): string {
  switch (by) {
    case 'person': {
      const where = surface === null ? undefined : (SURFACES[surface] ?? surface);
      return where === undefined ? 'you' : `you, ${where}`;
    }
    case 'rule':
      return 'a rule';
    case 'deadline':
      return 'the deadline';
    case 'source':
      return 'whoever asked';
    case 'stop':
      return 'stopping the run';
    default:
      return by;
  }
}

/** The same for a narrow column: `you · notification`. */
export function decidedShort(by: string, surface: string | null): string {
  if (by === 'person') return surface === null ? 'you' : `you · ${surface === 'cli' ? 'terminal' : surface}`;
  return by === 'stop' ? 'run stopped' : by;
}

/** How a request ended, as a sentence without its end: `Denied by you, in the window`. */
export function settledWords(outcome: string, kind: string, by: string, surface: string | null): string {
  if (outcome === 'expired') return 'Expired: nobody answered in time';
  if (by === 'stop') return 'Cancelled: its run was stopped';
  return `${outcomeWord(outcome, kind)} by ${decidedBy(by, surface)}`;
}

/** Splits a note into the sentence that stands out and the rest. */
export function noteParts(note: string): [string, string] {
  const end = note.search(/[.:] /);
  return end === -1 ? [note, ''] : [note.slice(0, end + 1), note.slice(end + 2)];
}

/** Two letters for a source: `release-bot` → `RB`, `invoice` → `IN`. */
export function initials(name: string): string {
  const words = name.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '');
  const [first = '', second = ''] = words;
  const pair = second === '' ? [...first].slice(0, 2) : [[...first][0], [...second][0]];
  return pair.join('').toUpperCase() || '?';
}

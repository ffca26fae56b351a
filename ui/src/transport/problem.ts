/** What went wrong, in words for a person; `code` is for branching. */
export interface Problem {
  code: string;
  message: string;
}

/** No answer at all: the host is gone, or was never there. */
export const UNREACHABLE = 'unreachable';
/** This browser has no session. */
export const NO_SESSION = 'no_session';

/** A failed call. */
export class CallError extends Error implements Problem {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

export function unreachable(): CallError {
  return new CallError(
    UNREACHABLE,
    'Sayso does not answer. What waits is stored. Whether an answer that was on its way has arrived shows once Sayso is back; this page tries again by itself.',
  );
}

/** Whatever was thrown, as a problem. */
export function problemOf(thrown: unknown): Problem {
  if (thrown instanceof CallError) return { code: thrown.code, message: thrown.message };
  if (typeof thrown === 'object' && thrown !== null && 'message' in thrown && typeof thrown.message === 'string') {
    const code = 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : 'internal';
    return { code, message: thrown.message };
  }
  return { code: 'internal', message: String(thrown) };
}

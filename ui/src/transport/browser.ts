import type { UiEvent } from '../bindings/UiEvent';
import type { Listener, Transport } from './commands';
import { CallError, NO_SESSION, type Problem, unreachable } from './problem';

const TOKEN = 'sayso-session';
const FIRST_WAIT = 500;
const LONGEST_WAIT = 5000;

function noSession(): CallError {
  return new CallError(NO_SESSION, 'This browser has no session, or it has ended. What waits is safe.');
}

async function reach(path: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(path, { ...init, cache: 'no-store', credentials: 'omit' });
  } catch {
    throw unreachable();
  }
}

function post(path: string, body: unknown): Promise<Response> {
  const headers: Record<string, string> = { 'Content-Type': 'application/json', ...bearer() };
  return reach(path, { method: 'POST', headers, body: JSON.stringify(body) });
}

function bearer(): Record<string, string> {
  const token = sessionStorage.getItem(TOKEN);
  return token === null ? {} : { Authorization: `Bearer ${token}` };
}

async function read(response: Response): Promise<unknown> {
  const body: unknown = await response.json().catch(() => null);
  if (response.status === 401) {
    sessionStorage.removeItem(TOKEN);
    throw noSession();
  }
  if (response.ok) return body;
  const error = typeof body === 'object' && body !== null && 'error' in body ? body.error : null;
  if (typeof error === 'object' && error !== null && 'message' in error && 'code' in error)
    throw new CallError(String(error.code), String(error.message));
  throw new CallError('internal', `Sayso answered with status ${response.status}. Look whether it was done before you try again.`);
}

/** Swaps the one-time code of a `sayso open` link for a session, and takes it out of the address. */
async function exchangeCode(): Promise<void> {
  const code = new URLSearchParams(location.hash.replace(/^#\/?/, '')).get('code');
  if (code === null) return;
  history.replaceState(null, '', `${location.pathname}#/inbox`);
  const response = await post('/session', { code });
  if (!response.ok) {
    if (sessionStorage.getItem(TOKEN) !== null) return;
    throw new CallError(
      NO_SESSION,
      'This link was used already or is older than a minute. What waits is safe.',
    );
  }
  const body = (await response.json()) as { token: string };
  sessionStorage.setItem(TOKEN, body.token);
}

/** Reads server-sent events until the stream ends. */
export async function readEvents(stream: ReadableStream<Uint8Array>, each: (event: UiEvent) => void): Promise<void> {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    rest += decoder.decode(value, { stream: true });
    const lines = rest.split(/\r?\n/);
    rest = lines.pop() ?? '';
    for (const line of lines) if (line.startsWith('data:')) each(JSON.parse(line.slice(5)) as UiEvent);
  }
}

async function listen(listener: Listener): Promise<void> {
  for (let wait = FIRST_WAIT; ; wait = Math.min(wait * 2, LONGEST_WAIT)) {
    let problem: Problem = unreachable();
    try {
      const response = await reach('/events', { headers: bearer() });
      if (!response.ok || response.body === null) await read(response);
      else {
        wait = FIRST_WAIT;
        listener.changed(null);
        await readEvents(response.body, listener.changed);
      }
    } catch (thrown) {
      // Cut in the middle counts as gone.
      if (thrown instanceof CallError) problem = thrown;
    }
    listener.lost(problem);
    if (problem.code === NO_SESSION) return;
    await new Promise((resolve) => setTimeout(resolve, wait));
  }
}

/** A browser on the loopback port. */
export const browser: Transport = {
  surface: 'browser',
  async start() {
    await exchangeCode();
    if (sessionStorage.getItem(TOKEN) === null) throw noSession();
    return null;
  },
  retry: async () => null,
  async call(command, params) {
    const body = (await read(await post('/rpc', { command, params }))) as { result: unknown };
    return body.result;
  },
  subscribe: (listener) => void listen(listener),
  async openUrl(_key, url) {
    window.open(url, '_blank', 'noopener,noreferrer');
  },
  async openDataFolder() {
    throw new CallError('window_only', 'A browser cannot open the data folder. The desktop app can.');
  },
};

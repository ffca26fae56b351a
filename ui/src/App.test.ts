import { flushSync, mount, tick, unmount } from 'svelte';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import App from './App.svelte';
import type { Decide } from './bindings/Decide';
import type { RequestDetail } from './bindings/RequestDetail';
import { type Listener, type Transport, use } from './transport';
import { request } from './transport/fake-data';
import { DEFAULTS } from './transport/fake-settings';

// happy-dom tells of a new hash after pushState, which no browser does.
vi.hoisted(() =>
  window.addEventListener('hashchange', (event) => {
    if (event instanceof HashChangeEvent) event.stopImmediatePropagation();
  }),
);

let requests: RequestDetail[];
let settled: Map<string, RequestDetail>;
let decided: Decide[];
let listener: Listener;
let app: Record<string, unknown>;

const STATUS = { version: '0', waiting: 0, snoozed: 0, active_runs: 0, data_dir: '/d', url: null, notifications: null, tray: null, autostart: null, global_shortcut: null, quiet: null, problems: [] };

function settle(key: string, decision: Partial<RequestDetail['decision']> & { outcome: string }): unknown {
  const found = requests.find((one) => one.item.key === key);
  if (found === undefined) throw { code: 'already_decided', message: 'You denied this elsewhere.' };
  requests = requests.filter((one) => one !== found);
  const whole = { key, answer: '{}', class: null, decided_by: 'person', surface: 'window', decided_at: '2026-01-01T00:00:00.000Z', undo_until: null, ...decision };
  settled.set(key, { ...found, decision: whole });
  return whole;
}

const answers: Record<string, (params: never) => unknown> = {
  status: () => STATUS,
  'settings.get': () => DEFAULTS,
  'inbox.list': () => ({ items: requests.map((one) => one.item), next: null, total: requests.length, snoozed: 0 }),
  'inbox.items': ({ keys }: { keys: string[] }) => requests.map((one) => one.item).filter((one) => keys.includes(one.key)),
  'inbox.show': ({ key }: { key: string }) => {
    const found = requests.find((one) => one.item.key === key) ?? settled.get(key);
    if (found === undefined) throw { code: 'not_found', message: 'Not known.' };
    return found;
  },
  'runs.list': () => [],
  'inbox.decide': (params: Decide) => {
    decided.push(params);
    return settle(params.key, { outcome: params.ok ? 'approved' : 'declined' });
  },
};

const transport: Transport = {
  surface: 'window',
  start: async () => null,
  retry: async () => null,
  call: async (command, params) => structuredClone(answers[command]?.(params as never)),
  subscribe: (one) => {
    listener = one;
    one.changed(null);
  },
  openUrl: async () => undefined,
  openDataFolder: async () => undefined,
  quit: async () => undefined,
};

const ask = (key: string, prompt: string): RequestDetail =>
  request({ key, kind: 'approval', prompt, source: 'bot', tool: 'shell', age: 100, arguments: '{"command":"ls"}' });

async function pass(ms: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(ms);
  await tick();
  flushSync();
}

async function changed(): Promise<void> {
  listener.changed({ topic: 'inbox', id: null });
  await pass(5);
}

function button(name: string): HTMLButtonElement {
  const found = [...document.querySelectorAll('button')].find((one) => one.textContent?.trim().startsWith(name));
  if (found === undefined) throw new Error(`no button ${name} in ${document.body.textContent}`);
  return found;
}

const option = (name: string): HTMLElement =>
  [...document.querySelectorAll<HTMLElement>('[role=option]')].find((one) => one.textContent?.trim().startsWith(name)) as HTMLElement;

const heading = (): string => document.querySelector('h2')?.textContent?.trim() ?? '';

async function press(key: string, at: EventTarget = document.body): Promise<boolean> {
  const goesOn = at.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
  at.dispatchEvent(new KeyboardEvent('keyup', { key, bubbles: true, cancelable: true }));
  await pass(1);
  return goesOn;
}

/** As a link from outside does. */
function goTo(hash: string): void {
  location.hash = hash;
  window.dispatchEvent(new Event('hashchange'));
}

// One clock for all: the guard is one for the page, and time never goes back.
beforeAll(() => void vi.useFakeTimers());
afterAll(() => void vi.useRealTimers());

beforeEach(async () => {
  goTo('#/inbox');
  requests = [ask('a', 'First?'), ask('b', 'Second?')];
  settled = new Map();
  decided = [];
  use(transport);
  app = mount(App, { target: document.body });
  await pass(20);
});

afterEach(async () => {
  await unmount(app);
  document.body.innerHTML = '';
});

it('opens the first request, and a click decides it only after half a second', async () => {
  expect(heading()).toBe('First?');
  button('Approve').click();
  await pass(300);
  button('Approve').click();
  await pass(10);
  expect(decided).toEqual([]);
  await pass(300);
  button('Approve').click();
  await pass(10);
  expect(decided.map((one) => [one.key, one.ok])).toEqual([['a', true]]);
  expect(decided[0]?.digest).toBe(settled.get('a')?.item.digest);
  expect(document.body.textContent).toContain('Approved by you, in the window');
});

it('keeps the request being read when others come or it settles elsewhere', async () => {
  await pass(600);
  requests = [ask('c', 'Sooner?'), ...requests];
  await changed();
  expect(heading()).toBe('First?');
  settle('a', { outcome: 'declined', surface: 'notification' });
  await changed();
  expect(heading()).toBe('First?');
  expect(document.body.textContent).toContain('Denied by you, from the notification');
  expect(option('First?').textContent).toContain('Denied');
  expect(() => button('Approve')).toThrow();
});

it('takes a decision key only for a request selected by hand', async () => {
  await pass(2000);
  await press('a');
  await pass(1000);
  expect(decided).toEqual([]);
  option('Second?').click();
  await pass(600);
  await press('a');
  await pass(400);
  expect(decided.map((one) => one.key)).toEqual(['b']);
});

it('takes a decision key back when another follows at once', async () => {
  option('Second?').click();
  await pass(1000);
  await press('d');
  await pass(100);
  await press('o');
  await pass(1000);
  expect(decided).toEqual([]);
  expect(document.body.textContent).toContain('Taken back');
});

it('never decides by Enter; by Space on the button it does', async () => {
  await pass(1000);
  const approve = button('Approve');
  expect(await press('Enter', approve)).toBe(false);
  await pass(1000);
  expect(decided).toEqual([]);
  await press(' ', approve);
  await pass(400);
  expect(decided.map((one) => one.key)).toEqual(['a']);
});

it('lets a link from outside select and nothing more', async () => {
  option('First?').click();
  await pass(1000);
  goTo('#/inbox/b');
  await pass(50);
  expect(heading()).toBe('Second?');
  expect(button('Approve').disabled).toBe(true);
  await pass(1000);
  await press('a');
  await pass(1000);
  expect(decided).toEqual([]);
});

it('makes no decision while someone types, with Enter, as requests arrive', async () => {
  await pass(1000);
  for (const letter of 'add a date and a deadline\nall in all, done') {
    await press(letter === '\n' ? 'Enter' : letter);
    await pass(90);
    if (Math.random() < 0.2) {
      requests = [ask(`x${requests.length}`, 'Another?'), ...requests];
      await changed();
    }
  }
  await pass(2000);
  expect(decided).toEqual([]);
});

it('sends the reason with a no, and waits for a tail to be opened before a yes', async () => {
  requests = [{ ...ask('long', 'Long?'), arguments: JSON.stringify({ command: `${'x'.repeat(5000)}; rm` }) }];
  await changed();
  option('Long?').click();
  await pass(1000);
  expect(button('Approve').disabled).toBe(true);
  expect(document.body.textContent).not.toContain('; rm');
  button('Show the rest').click();
  await pass(10);
  expect(document.body.textContent).toContain('; rm');
  expect(button('Approve').disabled).toBe(false);
  const reason = document.querySelector<HTMLInputElement>('[aria-label="Reason, kept in history only"]') as HTMLInputElement;
  reason.value = 'over budget';
  reason.dispatchEvent(new Event('input', { bubbles: true }));
  button('Deny').click();
  await pass(10);
  expect(decided[0]).toMatchObject({ key: 'long', ok: false, reason: 'over budget' });
});

const SCHEMA = '{"type":"object","properties":{"command":{"type":"string"},"timeout_seconds":{"type":"integer","minimum":1}},"required":["command"]}';

async function type(label: string, text: string): Promise<void> {
  const field = document.querySelector<HTMLTextAreaElement>(`[aria-label=${label}]`);
  if (field === null) throw new Error(`no field ${label}`);
  field.value = text;
  field.dispatchEvent(new Event('input', { bubbles: true }));
  await pass(1);
}

it('approves what the person made of the arguments, and only that', async () => {
  requests = [request({ key: 'a', kind: 'approval', prompt: 'Run it?', source: 'bot', tool: 'shell', age: 1, arguments: '{"command":"ls","timeout_seconds":9007199254740993}', editable: SCHEMA })];
  await changed();
  option('Run it?').click();
  await pass(1000);
  await press('e');
  await pass(10);
  expect(document.activeElement?.getAttribute('aria-label')).toBe('command');
  // The button stands for something else now, so it settles anew.
  expect(button('Approve with edits').disabled).toBe(true);
  await pass(600);
  button('Approve with edits').click();
  await pass(10);
  expect(decided).toEqual([]);
  expect(document.body.textContent).toContain('Nothing is changed yet');
  await type('command', '');
  await type('command', 'ls -l');
  expect(document.querySelector('.diff')?.textContent).toContain('+command: ls -l');
  // Letters that are typed are text: none of them decides.
  for (const key of ['a', 'd', 'e']) await press(key, document.querySelector('textarea') as EventTarget);
  await pass(1000);
  expect(decided).toEqual([]);
  button('Approve with edits').click();
  await pass(10);
  expect(decided).toEqual([{ key: 'a', ok: true, digest: requests[0]?.item.digest ?? settled.get('a')?.item.digest, data: '{"arguments":{"command":"ls -l","timeout_seconds":9007199254740993}}' }]);
});

it('sends nothing while an edit does not fit, and forgets it when it is cancelled', async () => {
  requests = [request({ key: 'a', kind: 'approval', prompt: 'Run it?', source: 'bot', tool: 'shell', age: 1, arguments: '{"command":"ls"}', editable: SCHEMA })];
  await changed();
  option('Run it?').click();
  await pass(1000);
  button('Edit').click();
  await pass(600);
  await type('timeout_seconds', 'soon');
  expect(document.body.textContent).toContain('Enter a whole number');
  button('Approve with edits').click();
  await pass(10);
  expect(decided).toEqual([]);
  button('Cancel edit').click();
  await pass(600);
  expect(document.querySelector('textarea')).toBeNull();
  button('Approve').click();
  await pass(10);
  expect(decided.map((one) => one.data)).toEqual([undefined]);
});

it('offers no edit where the source allows none', async () => {
  option('First?').click();
  await pass(1000);
  expect(() => button('Edit')).toThrow();
  await press('e');
  expect(document.querySelector('textarea')).toBeNull();
});

const CHOICES = [
  { id: 'later', label: 'Not today', effect: 'deny' },
  { id: 'one', label: 'Deploy to one', effect: 'approve' },
  { id: 'all', label: 'Deploy to all', effect: 'approve' },
  { id: 'never', label: 'Never', effect: 'deny' },
];

async function asksWithChoices(over: Partial<RequestDetail> = {}): Promise<void> {
  requests = [{ ...ask('a', 'Deploy?'), choices: CHOICES, ...over }];
  await changed();
  option('Deploy?').click();
}

it("shows a sender's own choices in place of Approve and Deny, with the same calm", async () => {
  await asksWithChoices();
  await pass(10);
  expect(() => button('Approve')).toThrow();
  expect(() => button('Deny')).toThrow();
  for (const group of ['Yes', 'No']) {
    const labels = [...document.querySelectorAll(`[role=group][aria-label=${group}] button`)].map((one) => one.textContent?.trim().split(' ').slice(0, 3).join(' '));
    expect(labels).toHaveLength(2);
  }
  button('Deploy to all').click();
  await pass(300);
  button('Deploy to all').click();
  await pass(10);
  expect(decided).toEqual([]);
  await pass(300);
  button('Deploy to all').click();
  await pass(10);
  expect(decided).toEqual([{ key: 'a', ok: true, digest: settled.get('a')?.item.digest, data: '{"choice":"all"}' }]);
});

it('a choice that denies is a no, and says which one to History alone', async () => {
  await asksWithChoices();
  await pass(1000);
  button('Never').click();
  await pass(10);
  expect(decided).toEqual([{ key: 'a', ok: false, digest: settled.get('a')?.item.digest, data: '{"choice":"never"}' }]);
});

it('the keys stand for the first choice that approves and the first that denies', async () => {
  for (const [key, ok, choice] of [
    ['a', true, 'one'],
    ['d', false, 'later'],
  ] as const) {
    decided = [];
    await asksWithChoices();
    await pass(1000);
    await press(key);
    await pass(100);
    expect(decided).toEqual([]);
    await pass(400);
    expect(decided).toMatchObject([{ ok, data: `{"choice":"${choice}"}` }]);
  }
});

it('a choice with edits sends both, and its button settles anew when the edit begins', async () => {
  await asksWithChoices({ editable: SCHEMA });
  await pass(1000);
  await press('e');
  await pass(10);
  expect(button('Deploy to one (with edits)').disabled).toBe(true);
  await type('command', 'ls -l');
  await pass(600);
  button('Deploy to one (with edits)').click();
  await pass(10);
  expect(decided).toMatchObject([{ ok: true, data: '{"choice":"one","arguments":{"command":"ls -l"}}' }]);
});

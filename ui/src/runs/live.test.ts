import { flushSync, mount, tick, unmount } from 'svelte';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { LiveText } from '../bindings/LiveText';
import type { RunDetail } from '../bindings/RunDetail';
import { host } from '../state/host.svelte';
import { route } from '../state/route.svelte';
import { DEFAULTS } from '../transport/fake-settings';
import { type Listener, use } from '../transport';
import Runs from './Runs.svelte';

const run = 'r1';
const item = { run, agent: 'worker', title: 'Look', status: 'running', detail: null, turns: 0, usage: { input_tokens: 0, output_tokens: 0 }, started_at: '2026-01-01T00:00:00.000Z', updated_at: '2026-01-01T00:00:00.000Z', waiting: 0 };
const START: RunDetail = {
  item,
  task: 'Look',
  model: 'm',
  folder: null,
  messages: [{ role: 'user', text: 'Look', turn: null, at: item.started_at }],
  calls: [],
  queued: [],
  servers: [],
  live: null,
  max_turns: 10,
  max_tokens: null,
};
const said = (text: string): RunDetail => ({
  ...START,
  item: { ...item, status: 'done', turns: 1 },
  messages: [...START.messages, { role: 'assistant', text, turn: 1, at: item.started_at }],
});

let detail: RunDetail;
let live: LiveText | null;
/** Answers of `runs.live` that a test holds back. */
let held: (() => void)[] | null;
let calls: string[];
let listener: Listener;
let app: Record<string, unknown>;

const ANSWERS: Record<string, () => unknown> = {
  status: () => ({ version: '0', waiting: 0, active_runs: 1, data_dir: '/d', url: null, notifications: null, tray: null, problems: [] }),
  'settings.get': () => DEFAULTS,
  'inbox.list': () => ({ items: [], next: null, total: 0, snoozed: 0 }),
  'runs.list': () => [detail.item],
  'runs.show': () => detail,
  'runs.live': () => live,
};

async function settled(): Promise<void> {
  for (let turn = 0; turn < 12; turn += 1) {
    await tick();
    await new Promise((resolve) => setTimeout(resolve));
  }
  flushSync();
}

async function hear(topic: 'live' | 'runs', id: string | null = run): Promise<void> {
  listener.changed({ topic, id });
  await settled();
}

function write(text: string): void {
  live = { turn: 1, text, left_out: 0 };
}

const shown = (): string => document.querySelector('[aria-label="Transcript"]')?.textContent ?? '';
const carets = (): number => document.querySelectorAll('.caret').length;

beforeEach(async () => {
  [detail, live, held, calls] = [START, null, null, []];
  use({
    surface: 'window',
    start: async () => null,
    retry: async () => null,
    call: async (command) => {
      calls.push(command);
      const answer = structuredClone(ANSWERS[command]?.());
      if (command === 'runs.live' && held !== null) await new Promise<void>((resolve) => held?.push(resolve));
      return answer;
    },
    subscribe: (one) => {
      listener = one;
      one.changed(null);
    },
    openUrl: async () => undefined,
    openDataFolder: async () => undefined,
    quit: async () => undefined,
  });
  route.show('runs', run, true);
  await host.start();
  app = mount(Runs, { target: document.body });
  await settled();
});

afterEach(async () => {
  await unmount(app);
});

it('shows what is being written, and its message in its place', async () => {
  expect(shown()).toContain('Working…');
  write('I look');
  await hear('live');
  expect(shown()).toContain('I look');
  expect(carets()).toBe(1);
  write('I look at it');
  await hear('live');
  expect(shown()).toContain('I look at it');

  // The turn is committed: nothing is being written any more. Until the message is here, the words stay.
  live = null;
  await hear('live');
  expect(shown()).toContain('I look at it');
  detail = said('I look at it.');
  await hear('runs');
  expect(shown().split('I look at it').length - 1).toBe(1);
  expect(carets()).toBe(0);
});

it('never shows the words beside the message that took their place', async () => {
  write('I look at it');
  await hear('live');
  // An answer that was on its way when the message came.
  held = [];
  listener.changed({ topic: 'live', id: run });
  detail = said('I look at it.');
  await hear('runs');
  held.forEach((release) => release());
  await settled();
  expect(shown().split('I look at it').length - 1).toBe(1);
});

it('takes back what broke off, and does not ask for other runs', async () => {
  write('Half an ans');
  await hear('live');
  write('');
  await hear('live');
  expect(shown()).not.toContain('Half');
  expect(shown()).toContain('Working…');
  write('of another');
  await hear('live', 'r2');
  expect(shown()).not.toContain('of another');
});

it('cuts nothing that the person read while it was written', async () => {
  const long = 'line\n'.repeat(200) + 'the last of it';
  write(long);
  await hear('live');
  expect(shown()).toContain('the last of it');
  detail = said(long);
  await hear('runs');
  expect(shown()).toContain('the last of it');
  expect(shown()).not.toContain('Show the rest');
});

it('asks once for each change and then rests', async () => {
  calls.length = 0;
  await settled();
  expect(calls).toEqual([]);
  await hear('live');
  expect(calls).toEqual(['runs.live']);
  calls.length = 0;
  await hear('runs');
  expect(calls.filter((command) => command === 'runs.show')).toHaveLength(1);
});

/** Nobody decides by accident: whoever types into the window with requests coming in, or clicks as something changes. */
import { flushSync, mount, tick, unmount } from 'svelte';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import App from '../App.svelte';
import type { Decide } from '../bindings/Decide';
import type { DecideMany } from '../bindings/DecideMany';
import { looking } from '../inbox/view.svelte';
import { type Listener, type Transport, use } from '../transport';
import { request } from '../transport/fake-data';
import { DEFAULTS } from '../transport/fake-settings';
import { FakeInbox } from '../transport/fake-inbox';

// happy-dom tells of a new hash after pushState, which no browser does.
vi.hoisted(() =>
  window.addEventListener('hashchange', (event) => {
    if (event instanceof HashChangeEvent) event.stopImmediatePropagation();
  }),
);

const STATUS = { version: '0', waiting: 0, snoozed: 0, active_runs: 0, data_dir: '/d', url: null, notifications: null, tray: null, autostart: null, global_shortcut: null, quiet: null, problems: [] };

let inbox: FakeInbox;
let decisions: string[];
let listener: Listener;
let app: Record<string, unknown>;
let serial = 0;

const ask = (over: Partial<Parameters<typeof request>[0]> = {}) =>
  request({ key: `k${(serial += 1)}`, kind: 'approval', prompt: `Request ${serial}?`, source: `bot-${serial % 7}`, tool: 'shell', age: 1000 - (serial % 500), arguments: `{"command":"ls ${serial}"}`, ...over });

function transport(): Transport {
  const answers: Record<string, (params: never) => unknown> = {
    status: () => STATUS,
    'settings.get': () => DEFAULTS,
    'runs.list': () => [],
    'agents.list': () => [],
    'senders.list': () => [],
    'history.list': () => ({ items: [], next: null }),
    'inbox.list': (params) => inbox.list(params),
    'inbox.items': (params) => inbox.items(params),
    'inbox.show': (params) => inbox.show(params),
    'inbox.snooze': (params) => inbox.snooze(params),
    'inbox.decide': (params: Decide) => (decisions.push(params.key), inbox.decide(params)),
    'inbox.decide_many': (params: DecideMany) => (decisions.push(...params.decisions.map((one) => one.key)), inbox.decideMany(params)),
  };
  return {
    surface: 'window',
    start: async () => null,
    retry: async () => null,
    call: async (command, params) => structuredClone(answers[command]?.(params as never)),
    subscribe: (one) => {
      listener = one;
      inbox.changed = (key) => listener.changed({ topic: 'inbox', id: key });
      one.changed(null);
    },
    openUrl: async () => undefined,
    openDataFolder: async () => undefined,
    quit: async () => undefined,
  };
}

async function pass(ms: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(ms);
  await tick();
  flushSync();
}

/** A sequence that looks random and is the same every time. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** A key goes down and up at whatever has the focus, with what a browser makes of it by itself. */
function press(key: string): void {
  const at = document.activeElement ?? document.body;
  const shift = key.length === 1 && key !== key.toLowerCase();
  const event = { key, code: `Key ${key.toLowerCase()}`, shiftKey: shift, bubbles: true, cancelable: true };
  const goesOn = at.dispatchEvent(new KeyboardEvent('keydown', event));
  if (goesOn && key === 'Enter' && (at instanceof HTMLButtonElement || at instanceof HTMLAnchorElement)) at.click();
  const released = at.dispatchEvent(new KeyboardEvent('keyup', event));
  if (goesOn && released && key === ' ' && at instanceof HTMLButtonElement) at.click();
}

/** The person leaves whatever has the focus, goes to the inbox and selects one by hand. */
async function selectOne(next: () => number): Promise<void> {
  for (const dialog of document.querySelectorAll('dialog')) dialog.dispatchEvent(new Event('cancel', { cancelable: true }));
  if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
  document.querySelector<HTMLAnchorElement>('nav a[href="#/inbox"]')?.click();
  looking.marked.clear();
  await pass(50);
  const rows = options();
  rows[Math.floor(next() * rows.length)]?.click();
}

const options = (): HTMLElement[] => [...document.querySelectorAll<HTMLElement>('[role=option]')];
const button = (name: string): HTMLButtonElement | undefined => [...document.querySelectorAll('button')].find((one) => one.textContent?.trim().startsWith(name));

// One clock for all: the guard is one for the page, and time never goes back.
beforeAll(() => void vi.useFakeTimers());
afterAll(() => void vi.useRealTimers());

beforeEach(async () => {
  location.hash = '#/inbox';
  window.dispatchEvent(new Event('hashchange'));
  looking.marked.clear();
  looking.showAll();
  decisions = [];
  inbox = new FakeInbox(Array.from({ length: 8 }, (_, n) => ask(n % 4 === 3 ? { risk: 'high' } : n % 4 === 2 ? { group: 'same' } : {})));
  use(transport());
  app = mount(App, { target: document.body });
  await pass(50);
});

afterEach(async () => {
  await unmount(app);
  document.body.innerHTML = '';
});

const TEXTS = [
  'Dear all,\n\nadd a date and a deadline to all agenda items, and send a draft by Friday. Thanks, Ada\n',
  'a d a d aa dd ad da a a a d d d\nadd dad ada dada\na\nd\na d\n',
  'SELECT a, d FROM data WHERE added > deadline AND a = d;\nDELETE FROM data;\n',
  'jkx a jx d Jk A xx a lh a sd uu a /d\n g a g d ra ed o a ? a\n',
];

describe('whoever types as requests come in', () => {
  for (const [n, text] of TEXTS.entries())
    for (const seed of [1, 2, 3])
      it(`decides nothing: text ${n}, seed ${seed}`, async () => {
        const next = random(seed * 1000 + n);
        // The worst that can be: a request is selected by hand, in calm, and stands over the buttons.
        options()[seed]?.click();
        await pass(2000);
        if (seed === 2) button('Approve')?.focus();
        let left = 100;
        let armed = 0;
        const every = Math.max(1, Math.floor((text.length * 3) / left));
        for (let round = 0, typed = 0; round < 3; round += 1)
          for (const [at, letter] of [...text].entries()) {
            const begins = at > 0 && /\s/.test(text[at - 1] ?? '') && !/\s/.test(letter);
            // A pause comes before a word, as long as one likes: its first letter stands after a calm.
            if (begins && next() < 0.4) {
              // Half of the time the person turns to the list meanwhile, so that the keys are not all text for a field.
              if (next() < 0.5) await selectOne(next);
              await pass(500 + next() * 2500);
              if (document.querySelector('[role=option]') !== null && document.activeElement === document.body) armed += 1;
            }
            press(letter === '\n' ? 'Enter' : letter);
            await pass(60 + next() * 90);
            typed += 1;
            if (typed % every === 0 && left > 0) {
              left -= 1;
              inbox.arrive(ask(next() < 0.3 ? { left: 60 } : {}));
            }
          }
        for (; left > 0; left -= 1) inbox.arrive(ask());
        await pass(5000);
        expect(decisions).toEqual([]);
        expect(inbox.count).toBe(108);
        expect(armed, 'words that began where a key would decide').toBeGreaterThan(3);
      }, 30_000);
});

describe('whoever clicks within half a second of a change', () => {
  it('decides nothing, whichever way it changed', async () => {
    const next = random(7);
    await pass(1000);
    for (let n = 0; n < 60; n += 1) {
      const rows = options();
      const shown = rows[Math.floor(next() * rows.length)];
      const key = shown?.dataset['key'] ?? '';
      if (n % 3 === 0) {
        // Another one is shown.
        shown?.click();
      } else if (n % 3 === 1) {
        // The one that is shown changes.
        shown?.click();
        await pass(1500);
        const found = inbox.show({ key });
        inbox.arrive({ ...found, item: { ...found.item, digest: `${n}`.padEnd(64, 'e') } });
        await pass(60);
      } else {
        // A link from outside leads to it.
        await pass(1500);
        location.hash = `#/inbox/${key}`;
        window.dispatchEvent(new Event('hashchange'));
      }
      await pass(0);
      for (let clicks = 0; clicks < 5; clicks += 1) {
        button(next() < 0.5 ? 'Approve' : 'Deny')?.click();
        press(next() < 0.5 ? 'a' : 'd');
        await pass(next() * 85);
      }
    }
    await pass(2000);
    expect(decisions).toEqual([]);
  }, 30_000);
});

describe('whoever selects, waits and presses once', () => {
  it.each(['a', 'd'])('decides that request once with %s', async (key) => {
    const row = options()[1];
    row?.click();
    await pass(800);
    press(key);
    await pass(3000);
    expect(decisions).toEqual([row?.dataset['key']]);
    await pass(3000);
    expect(decisions).toHaveLength(1);
  });

  it('needs the key held for a second where the risk is high', async () => {
    const row = options().find((one) => one.textContent?.includes('High risk'));
    row?.click();
    await pass(800);
    press('a');
    await pass(3000);
    expect(decisions).toEqual([]);
    expect(document.body.textContent).toContain('hold the button or its key for a second');
    const down = { key: 'a', code: 'KeyA', bubbles: true, cancelable: true };
    document.body.dispatchEvent(new KeyboardEvent('keydown', down));
    // The system repeats a held key, with or without saying so.
    for (let n = 0; n < 10; n += 1) {
      await pass(90);
      document.body.dispatchEvent(new KeyboardEvent('keydown', { ...down, repeat: n % 2 === 0 }));
    }
    expect(decisions).toEqual([]);
    await pass(200);
    expect(decisions).toEqual([row?.dataset['key']]);
    document.body.dispatchEvent(new KeyboardEvent('keyup', down));
  });

  it('needs the button held too: a click decides nothing, and letting go takes it back', async () => {
    const row = options().find((one) => one.textContent?.includes('High risk'));
    row?.click();
    await pass(800);
    const approve = button('Approve');
    const pointer = (type: string): void => void approve?.dispatchEvent(new PointerEvent(type, { bubbles: true, isPrimary: true, button: 0 }));
    pointer('pointerdown');
    await pass(900);
    pointer('pointerup');
    approve?.click();
    await pass(2000);
    expect(decisions).toEqual([]);
    pointer('pointerdown');
    await pass(500);
    pointer('pointerleave');
    await pass(2000);
    expect(decisions).toEqual([]);
    pointer('pointerdown');
    await pass(1100);
    pointer('pointerup');
    expect(decisions).toEqual([row?.dataset['key']]);
  });
});

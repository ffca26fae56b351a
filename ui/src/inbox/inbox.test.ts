/** The list and what is done with several at once, in the whole app. */
import { flushSync, mount, tick, unmount } from 'svelte';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import App from '../App.svelte';
import { use } from '../transport';
import type { Transport } from '../transport';
import { fake } from '../transport/fake';
import { looking } from './view.svelte';

// happy-dom tells of a new hash after pushState, which no browser does.
vi.hoisted(() =>
  window.addEventListener('hashchange', (event) => {
    if (event instanceof HashChangeEvent) event.stopImmediatePropagation();
  }),
);

let app: Record<string, unknown>;
let calls: [string, Record<string, unknown>][];

async function pass(ms: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(ms);
  await tick();
  flushSync();
}

async function open(options: string): Promise<void> {
  location.hash = '#/inbox';
  window.dispatchEvent(new Event('hashchange'));
  looking.marked.clear();
  looking.open.clear();
  looking.showAll();
  calls = [];
  const host: Transport = fake(options);
  use({ ...host, call: (command, params) => (calls.push([command, params as Record<string, unknown>]), host.call(command, params)) });
  app = mount(App, { target: document.body });
  await pass(200);
  // The page is one for all tests: what an earlier host had is not what is read now.
  location.hash = '#/inbox';
  window.dispatchEvent(new Event('hashchange'));
  await pass(50);
}

const options = (): HTMLElement[] => [...document.querySelectorAll<HTMLElement>('[role=option]')];
const option = (name: string): HTMLElement | undefined => options().find((one) => one.textContent?.includes(name));
const button = (name: string): HTMLButtonElement | undefined => [...document.querySelectorAll('button')].find((one) => one.textContent?.trim().startsWith(name));
const called = (command: string): Record<string, unknown>[] => calls.filter((one) => one[0] === command).map((one) => one[1]);

function down(key: string, over: Partial<KeyboardEventInit> = {}): void {
  document.body.dispatchEvent(new KeyboardEvent('keydown', { key, code: key, bubbles: true, cancelable: true, ...over }));
}
function up(key: string): void {
  document.body.dispatchEvent(new KeyboardEvent('keyup', { key, code: key, bubbles: true, cancelable: true }));
}
async function press(key: string, over: Partial<KeyboardEventInit> = {}): Promise<void> {
  down(key, over);
  up(key);
  await pass(20);
}
async function hold(key: string): Promise<void> {
  down(key);
  await pass(1100);
  up(key);
  await pass(100);
}

// One clock for all: the guard is one for the page, and time never goes back.
beforeAll(() => void vi.useFakeTimers());
afterAll(() => void vi.useRealTimers());

afterEach(async () => {
  await unmount(app);
  document.body.innerHTML = '';
});

it('draws a few rows of ten thousand, and steps to the next one without asking for the list', async () => {
  await open('huge');
  await pass(500);
  expect(document.body.textContent).toContain('10,011 waiting');
  expect(options().length).toBeLessThan(60);
  calls = [];
  await press('j');
  await press('j');
  await pass(100);
  expect(called('inbox.list')).toEqual([]);
  expect(called('inbox.show')).toHaveLength(2);
  await press('End');
  await pass(50);
  expect(options().some((one) => one.getAttribute('aria-current') === 'true')).toBe(true);
});

it('shows identical requests as one row that opens and folds', async () => {
  await open('groups');
  expect(options()).toHaveLength(3);
  await press('ArrowRight');
  expect(options()).toHaveLength(14);
  await press('ArrowDown');
  await press('ArrowLeft');
  expect(options()).toHaveLength(3);
  // What was being read is still the one.
  expect(options()[0]?.getAttribute('aria-current')).toBe('true');
});

it('answers several marked requests at once, by a held key alone', async () => {
  await open('groups');
  option('Restart web?')?.click();
  await press('x');
  await press('J', { shiftKey: true });
  await pass(700);
  expect(document.body.textContent).toContain('One answer for 4 requests');
  expect(document.body.textContent).toContain('systemctl restart db');
  await press('a');
  button('Approve all 4')?.click();
  await pass(3000);
  expect(called('inbox.decide_many')).toEqual([]);
  await hold('a');
  expect(called('inbox.decide_many')).toHaveLength(1);
  const { decisions, ok } = called('inbox.decide_many')[0] as { decisions: { key: string; digest: string }[]; ok: boolean };
  expect(ok).toBe(true);
  expect(decisions.map((one) => one.key).sort()).toEqual(['gdb0', 'gweb0', 'gweb1', 'gweb2']);
  expect(looking.marked.size).toBe(0);
});

it('marks with Ctrl and a range with Shift', async () => {
  await open('many');
  const click = (at: number, over: MouseEventInit): void => void options()[at]?.dispatchEvent(new MouseEvent('click', { bubbles: true, ...over }));
  click(0, {});
  click(2, { ctrlKey: true });
  expect(looking.marked.size).toBe(2);
  click(4, { shiftKey: true });
  expect(looking.marked.size).toBe(5);
  await press('Escape');
  expect(looking.marked.size).toBe(0);
});

it('does not approve together what does not go together', async () => {
  await open('light');
  option('Free space')?.click();
  await press('x');
  option('Approve refund')?.dispatchEvent(new MouseEvent('click', { bubbles: true, ctrlKey: true }));
  await pass(1000);
  expect(document.body.textContent).toContain('They cannot be approved together.');
  expect(button('Approve all 2')?.disabled).toBe(true);
  await hold('a');
  expect(called('inbox.decide_many')).toEqual([]);
});

it('gives identical requests the same answer only when told to, and held', async () => {
  await open('groups');
  option('Restart api?')?.click();
  await pass(600);
  document.querySelector<HTMLInputElement>('.alike input')?.click();
  await pass(700);
  button('Approve all 12')?.click();
  await pass(2000);
  expect(called('inbox.decide_many')).toEqual([]);
  await hold('a');
  expect((called('inbox.decide_many')[0]?.['decisions'] as unknown[]).length).toBe(12);
  expect(called('inbox.decide')).toEqual([]);
});

it('takes a decision back while it can be', async () => {
  await open('three');
  option('Approve refund')?.click();
  await pass(800);
  await press('d');
  await pass(500);
  expect(document.body.textContent).toContain('Denied “Approve refund of $482.00?”');
  await press('u');
  await pass(100);
  expect(called('inbox.undo')).toEqual([{ key: 'refund' }]);
  await pass(100);
  expect(button('Deny')).toBeDefined();
});

it('offers no way back once the time is over', async () => {
  await open('three');
  option('Approve refund')?.click();
  await pass(800);
  await press('d');
  await pass(5000);
  expect(button('Undo')).toBeUndefined();
  await press('u');
  expect(called('inbox.undo')).toEqual([]);
});

it('puts a request aside until a time, and wakes it', async () => {
  await open('three');
  option('Approve refund')?.click();
  await pass(50);
  await press('s');
  button('1 hour')?.click();
  await pass(100);
  expect(called('inbox.snooze')).toMatchObject([{ key: 'refund' }]);
  expect(document.body.textContent).toContain('Snoozed until');
  expect([...document.querySelectorAll('.group')].map((one) => one.textContent)).toContain('Snoozed');
  button('Wake now')?.click();
  await pass(100);
  expect(called('inbox.snooze').at(-1)).toEqual({ key: 'refund', until: null });
});

it('tells of what came in, once for a burst, without a change of focus or selection', async () => {
  await open('three,burst');
  const [reading, focus] = [location.hash, document.activeElement];
  await pass(2000);
  const said = document.querySelector('[data-arrivals]')?.textContent;
  expect(said).toMatch(/^\d new requests? from (deploy-bot|\d+ sources)/);
  expect([location.hash, document.activeElement]).toEqual([reading, focus]);
});

it('finds anything from the keyboard and decides nothing from there', async () => {
  await open('light');
  await press('k', { ctrlKey: true });
  const field = document.querySelector<HTMLInputElement>('[role=combobox]');
  if (field === null) throw new Error('no palette');
  field.value = 'refund';
  field.dispatchEvent(new Event('input', { bubbles: true }));
  await pass(10);
  field.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, cancelable: true }));
  await pass(100);
  expect(location.hash).toBe('#/inbox/refund');
  expect(calls.map((one) => one[0])).not.toContain('inbox.decide');
});

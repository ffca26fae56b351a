import { flushSync, mount, tick, unmount } from 'svelte';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Settings } from '../bindings/Settings';
import { host } from '../state/host.svelte';
import { route } from '../state/route.svelte';
import { CallError, use } from '../transport';
import { browser } from '../transport/browser';
import { SETTINGS } from '../transport/fake-settings';
import Page from './Settings.svelte';

let calls: [command: string, params: unknown][];
let held: Settings;
let refuse: string | null;
let page: Record<string, unknown>;

beforeEach(() => {
  calls = [];
  held = structuredClone(SETTINGS);
  refuse = null;
});

afterEach(async () => {
  await unmount(page);
  document.body.innerHTML = '';
});

async function open(part: string, surface: 'window' | 'browser' = 'window'): Promise<void> {
  use({
    ...browser,
    surface,
    call: async (command, params) => {
      calls.push([command, params]);
      if (command === 'settings.set') {
        if (refuse !== null) throw new CallError('storage', refuse);
        held = { ...held, ...(params as Partial<Settings>) };
        return held;
      }
      if (command === 'keys.list') return [{ name: 'main', used_by: ['bot'] }];
      if (command === 'keys.set' && refuse !== null) throw new CallError('keyring', refuse);
      return {};
    },
    subscribe: (listener) => listener.changed(null),
  });
  host.settings = held;
  host.connection = 'live';
  route.show('settings', part, true);
  page = mount(Page, { target: document.body });
  await settle();
}

async function settle(): Promise<void> {
  for (let n = 0; n < 8; n += 1) await tick();
  flushSync();
}

const box = (label: string): HTMLInputElement =>
  [...document.querySelectorAll('label')].find((one) => one.textContent?.trim() === label)?.querySelector('input') as HTMLInputElement;
const press = (name: string): void => [...document.querySelectorAll('button')].find((one) => one.textContent?.trim().startsWith(name))?.click();

it('saves one setting at once, and nothing beside it', async () => {
  await open('notifications');
  box('With a sound').click();
  await settle();
  expect(calls.filter(([command]) => command === 'settings.set')).toEqual([['settings.set', { sound: false }]]);
  expect(host.settings?.sound).toBe(false);
});

it('shows what holds when saving fails, with the error beside it alone', async () => {
  await open('notifications');
  refuse = 'The disk is full: nothing was changed.';
  box('With a sound').click();
  await settle();
  expect(box('With a sound').checked).toBe(true);
  const alerts = [...document.querySelectorAll('[role=alert]')];
  expect(alerts).toHaveLength(1);
  expect(alerts[0]?.closest('.setting')?.textContent).toContain('With a sound');
  refuse = null;
  box('With a sound').click();
  await settle();
  expect(document.querySelectorAll('[role=alert]')).toHaveLength(0);
});

it('keeps quiet hours that were typed when saving fails', async () => {
  await open('notifications');
  refuse = 'The disk is full: nothing was changed.';
  const from = document.querySelector<HTMLInputElement>('input[type=time]') as HTMLInputElement;
  from.value = '21:15';
  from.dispatchEvent(new Event('change', { bubbles: true }));
  await settle();
  expect(calls.at(-1)).toEqual(['settings.set', { quiet_hours: { from: '21:15', to: '07:00' } }]);
  expect(document.querySelector<HTMLInputElement>('input[type=time]')?.value).toBe('21:15');
});

it('never shows a key, and keeps what was typed when the keyring refuses it', async () => {
  await open('keys');
  press('Replace');
  await settle();
  const field = (): HTMLInputElement => document.querySelector('form input') as HTMLInputElement;
  expect(field().type).toBe('password');
  expect(field().value).toBe('');
  field().value = 'sk-new';
  field().dispatchEvent(new Event('input', { bubbles: true }));
  refuse = 'The keyring is locked. Nothing was changed.';
  document.querySelector('form')?.dispatchEvent(new SubmitEvent('submit', { bubbles: true, cancelable: true }));
  await settle();
  expect(field().value).toBe('sk-new');
  expect(document.body.textContent).toContain('The keyring is locked.');
  refuse = null;
  document.querySelector('form')?.dispatchEvent(new SubmitEvent('submit', { bubbles: true, cancelable: true }));
  await settle();
  expect(calls).toContainEqual(['keys.set', { name: 'main', value: 'sk-new' }]);
  expect(document.querySelector('form')).toBeNull();
  expect(document.body.innerHTML).not.toContain('sk-new');
});

it('takes a new key for an action, and says which other one has it', async () => {
  await open('shortcuts');
  const change = [...document.querySelectorAll('button')].find((one) => one.textContent?.includes('for: Deny or decline')) as HTMLButtonElement;
  change.click();
  await settle();
  for (const key of ['n']) change.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
  change.dispatchEvent(new FocusEvent('blur'));
  await settle();
  expect(calls.at(-1)).toEqual(['settings.set', { shortcuts: { ...SETTINGS.shortcuts, deny: 'n' } }]);
});

it('lets a browser change nothing', async () => {
  await open('notifications', 'browser');
  expect(document.querySelector('fieldset')?.disabled).toBe(true);
  expect(document.body.textContent).toContain('Settings are changed in the desktop app.');
  expect(document.body.textContent).not.toContain('Model keys');
});

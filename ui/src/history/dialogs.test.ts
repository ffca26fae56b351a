import { flushSync, mount, tick, unmount } from 'svelte';
import { afterEach, expect, it, vi } from 'vitest';
import type { Redact } from '../bindings/Redact';
import { CallError, use } from '../transport';
import { browser } from '../transport/browser';
import RedactDialog from './RedactDialog.svelte';

let mounted: Record<string, unknown> | null = null;

afterEach(async () => {
  if (mounted !== null) await unmount(mounted);
  mounted = null;
  document.body.innerHTML = '';
});

function open(answer: (params: Redact) => unknown): { asked: Redact[]; erased: ReturnType<typeof vi.fn> } {
  const asked: Redact[] = [];
  use({
    ...browser,
    surface: 'window',
    call: async (_command, params) => {
      asked.push(params as Redact);
      return answer(params as Redact);
    },
  });
  const erased = vi.fn<() => void>();
  mounted = mount(RedactDialog, { target: document.body, props: { close: () => undefined, erased } });
  flushSync();
  return { asked, erased };
}

const buttons = (): HTMLButtonElement[] => [...document.querySelectorAll('button')];
const button = (name: string): HTMLButtonElement | undefined => buttons().find((one) => one.textContent?.trim() === name);
const field = (): HTMLInputElement => document.querySelector('input.mono') as HTMLInputElement;

async function settle(): Promise<void> {
  for (let n = 0; n < 5; n += 1) await tick();
  flushSync();
}

async function type(text: string): Promise<void> {
  field().value = text;
  field().dispatchEvent(new Event('input', { bubbles: true }));
  await settle();
}

async function look(): Promise<void> {
  document.querySelector('form')?.dispatchEvent(new SubmitEvent('submit', { bubbles: true, cancelable: true }));
  await settle();
}

const FOUND = { entries: 2, fields: 3, requests: 1, places: 0, running: 0, setups: [], backups: ['/b/old.db'] };

it('counts before it erases, and erases only what was counted and confirmed', async () => {
  const { asked, erased } = open(() => FOUND);
  expect(field().type).toBe('password');
  await type('hunter2!');
  await look();
  expect(asked).toEqual([{ text: 'hunter2!', confirm: false }]);
  expect(document.body.textContent).toContain('3 contents of 2 entries of the record and 1 decided request');
  expect(document.body.textContent).toContain('/b/old.db');
  const erase = button('Erase for good');
  expect(erase?.disabled).toBe(true);
  erase?.click();
  await settle();
  expect(asked).toHaveLength(1);
  const sure = document.querySelector<HTMLInputElement>('.sure input');
  sure?.click();
  await settle();
  button('Erase for good')?.click();
  await settle();
  expect(asked.at(-1)).toEqual({ text: 'hunter2!', confirm: true });
  expect(erased).toHaveBeenCalledOnce();
  // What was erased stays nowhere on the page.
  expect(field().value).toBe('');
});

it('asks for a new count once the text is another', async () => {
  open(() => FOUND);
  await type('hunter2!');
  await look();
  expect(button('Erase for good')).toBeDefined();
  await type('hunter3!');
  expect(button('Erase for good')).toBeUndefined();
});

it('keeps the text when erasing fails, and says why', async () => {
  const { erased } = open(({ confirm }) => {
    if (confirm) throw new CallError('storage', 'The disk is full: nothing was erased.');
    return FOUND;
  });
  await type('hunter2!');
  await look();
  document.querySelector<HTMLInputElement>('.sure input')?.click();
  await settle();
  button('Erase for good')?.click();
  await settle();
  expect(document.body.textContent).toContain('The disk is full: nothing was erased.');
  expect(field().value).toBe('hunter2!');
  expect(erased).not.toHaveBeenCalled();
});

it('asks nothing for a text that is too short', async () => {
  const { asked } = open(() => FOUND);
  await type('abc');
  await look();
  expect(asked).toEqual([]);
  expect(document.body.textContent).toContain('at least 4 characters');
});

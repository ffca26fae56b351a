import { flushSync, mount, unmount } from 'svelte';
import { afterEach, expect, it, vi } from 'vitest';
import type { ServerItem } from '../bindings/ServerItem';
import Server from './Server.svelte';

let app: Record<string, unknown>;

function show(command: string): () => void {
  const server: ServerItem = { name: 'files', command, url: null, fingerprint: 'f', allowed: false, disabled: false };
  const allow = vi.fn();
  app = mount(Server, { target: document.body, props: { server, mayEdit: true, allow } });
  flushSync();
  return allow;
}

function button(text: string): HTMLButtonElement | undefined {
  return [...document.querySelectorAll('button')].find((one) => one.textContent?.includes(text));
}

afterEach(async () => {
  await unmount(app);
});

it('lets a command that is shown whole be allowed', () => {
  const allow = show('npx server');
  button('Allow')?.click();
  expect(allow).toHaveBeenCalledOnce();
});

it.each([`npx ${'x'.repeat(5000)} && rm`, `npx ${'\n'.repeat(20)} && rm`])('lets no command be allowed whose end was not shown', (command) => {
  const allow = show(command);
  expect(document.body.textContent).not.toContain('&& rm');
  expect(button('Allow')?.disabled).toBe(true);
  button('Allow')?.click();
  expect(allow).not.toHaveBeenCalled();
  expect(document.body.textContent).toContain('until you have seen the rest');

  button('Show the rest')?.click();
  flushSync();
  expect(document.body.textContent).toContain('&& rm');
  button('Allow')?.click();
  expect(allow).toHaveBeenCalledOnce();
});

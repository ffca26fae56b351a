import { browser } from './browser';
import type { Command, Listener, Params, Result, Transport } from './commands';
import { tauri } from './tauri';

let transport: Transport = '__TAURI_INTERNALS__' in window ? tauri : browser;

/** Takes another transport, before the app starts: the fake one of `?fake`, or a test's. */
export function use(other: Transport): void {
  transport = other;
}

/** The app's own window, or a browser, which cannot set up agents or change settings. */
export const surface = (): 'window' | 'browser' => transport.surface;

/** Calls a command of the host. Throws a `CallError`. */
export async function call<C extends Command>(command: C, params: Params<C>): Promise<Result<C>> {
  return (await transport.call(command, params)) as Result<C>;
}

export const start = () => transport.start();
export const retry = () => transport.retry();
export const subscribe = (listener: Listener) => transport.subscribe(listener);
export const openDataFolder = () => transport.openDataFolder();
export const openUrl = (key: string, url: string) => transport.openUrl(key, url);

export * from './commands';
export * from './problem';

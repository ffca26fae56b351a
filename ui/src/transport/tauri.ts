import { Channel, invoke } from '@tauri-apps/api/core';
import type { UiEvent } from '../bindings/UiEvent';
import type { Listener, Transport } from './commands';
import { CallError, type Problem, problemOf } from './problem';

async function ask<T>(command: string, args?: Record<string, unknown>): Promise<T> {
  try {
    return await invoke<T>(command, args);
  } catch (thrown) {
    const { code, message } = problemOf(thrown);
    throw new CallError(code, message);
  }
}

async function connect(listener: Listener): Promise<void> {
  const channel = new Channel<UiEvent>();
  channel.onmessage = listener.changed;
  await ask('subscribe', { channel });
  listener.changed(null);
}

/** The app's own window. */
export const tauri: Transport = {
  surface: 'window',
  start: () => ask<Problem | null>('startup_error'),
  retry: () => ask<Problem | null>('retry_start'),
  call: (command, params) => ask('rpc', { command, params }),
  subscribe: (listener) => void connect(listener).catch((thrown) => listener.lost(problemOf(thrown))),
  openUrl: (key) => ask('open_url', { key }),
  openDataFolder: () => ask('open_data_folder'),
};

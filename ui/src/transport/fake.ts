/** A host in memory, for `npm run dev` with `?fake` and for pictures of the screens. Never part of what is shipped. */
import type { Decide } from '../bindings/Decide';
import type { DecideMany } from '../bindings/DecideMany';
import type { HistoryFilter } from '../bindings/HistoryFilter';
import type { HistoryExport } from '../bindings/HistoryExport';
import type { InboxList } from '../bindings/InboxList';
import type { Job } from '../bindings/Job';
import type { JobRef } from '../bindings/JobRef';
import type { KeyItem } from '../bindings/KeyItem';
import type { KeyName } from '../bindings/KeyName';
import type { KeySet } from '../bindings/KeySet';
import type { RequestKeys } from '../bindings/RequestKeys';
import type { RequestRef } from '../bindings/RequestRef';
import type { Settings } from '../bindings/Settings';
import type { Snooze } from '../bindings/Snooze';
import type { Verification } from '../bindings/Verification';
import type { Listener, Transport } from './commands';
import { AGENTS, HISTORY, REQUESTS, RUNS, SENDERS, SETTINGS, at } from './fake-data';
import { FakeInbox } from './fake-inbox';
import { HOSTILE, RARE, burst, groups, many, snoozed } from './fake-requests';
import { CallError, NO_SESSION, unreachable } from './problem';

/** `?fake=three,dark,lost`: words that choose what there is. */
export function fake(options: string): Transport {
  const has = (word: string): boolean => options.split(',').includes(word);
  const base = has('empty') ? [] : has('three') ? REQUESTS.slice(0, 3) : has('hostile') ? HOSTILE : has('groups') ? groups() : [...REQUESTS, ...RARE];
  const inbox = new FakeInbox(has('snoozed') ? snoozed(base) : base);
  inbox.add(many(has('huge') ? 10_000 : has('many') ? 300 : 0));
  if (has('error')) inbox.broken = new CallError('storage', 'The disk is full: nothing was decided and the request still waits. Make room and try again.');
  // Long enough for pictures.
  if (has('slow')) inbox.undoMs = 60_000;
  const size = /(?:^|,)size(\d+)/.exec(options)?.[1];
  let settings: Settings = {
    ...SETTINGS,
    appearance: has('dark') ? 'dark' : has('light') ? 'light' : 'system',
    density: has('compact') ? 'compact' : 'comfortable',
    text_size: size === undefined ? 100 : Number(size),
  };
  let keys: KeyItem[] = has('empty') ? [] : [{ name: 'work', used_by: ['release'] }];
  let listener: Listener | null = null;
  inbox.changed = (key) => listener?.changed({ topic: 'inbox', id: key });
  if (has('burst')) {
    const more = burst(100);
    setInterval(() => {
      const next = more.shift();
      if (next !== undefined) inbox.arrive(next);
    }, 400);
  }

  const jobs: Job[] = [];
  function job(what: string, more: Partial<Job> = {}): Job {
    const begun: Job = { id: `job-${jobs.length}`, what, done: 0, total: 1284, state: 'running', message: null, path: null, verification: null };
    jobs.unshift(begun);
    const tick = setInterval(() => {
      if (begun.state !== 'running') return clearInterval(tick);
      begun.done = Math.min(1284, begun.done + 107);
      if (begun.done === 1284) Object.assign(begun, { state: 'done', ...more });
      listener?.changed({ topic: 'jobs', id: begun.id });
    }, 100);
    return begun;
  }
  function jobOf({ job: id }: JobRef): Job {
    const found = jobs.find((one) => one.id === id);
    if (found === undefined) throw new CallError('not_found', 'There is no such job. Jobs are forgotten when Sayso ends.');
    return found;
  }

  const answers: Record<string, (params: never) => unknown> = {
    status: () => ({
      version: '0.1.0',
      waiting: inbox.count,
      snoozed: inbox.snoozed,
      active_runs: has('empty') ? 0 : 2,
      data_dir: '~/.local/share/sayso',
      url: 'http://127.0.0.1:41000',
      notifications: { ok: !has('error'), message: has('error') ? 'No notification service answers. Requests still wait here and in the tray. Start one and restart Sayso.' : '' },
      tray: { ok: !has('error'), message: has('error') ? 'This desktop shows no tray. Closing the window ends nothing; start Sayso again to see it.' : '' },
      autostart: { ok: true, message: '' },
      global_shortcut: null,
      quiet: settings.paused_until === null ? null : 'paused until 14:00',
      problems: has('error') ? ['The disk is full: nothing can be decided until there is room. What waits is safe.'] : [],
    }),
    'settings.get': () => settings,
    'settings.set': (params: Partial<Settings>) => (settings = { ...settings, ...params }),
    'inbox.list': (params: InboxList) => inbox.list(params),
    'inbox.items': (params: RequestKeys) => inbox.items(params),
    'inbox.show': (params: RequestRef) => inbox.show(params),
    'inbox.decide': (params: Decide) => inbox.decide(params),
    'inbox.decide_many': (params: DecideMany) => inbox.decideMany(params),
    'inbox.snooze': (params: Snooze) => inbox.snooze(params),
    'inbox.undo': (params: RequestRef) => inbox.undo(params),
    'keys.list': () => keys,
    'keys.set': ({ name }: KeySet) => {
      const item = keys.find((one) => one.name === name) ?? { name, used_by: [] };
      keys = [...keys.filter((one) => one !== item), item];
      return item;
    },
    'keys.remove': ({ name }: KeyName) => {
      keys = keys.filter((one) => one.name !== name);
      return {};
    },
    'runs.list': () => (has('empty') ? [] : RUNS.map((one) => one.item)),
    'runs.show': ({ run }: { run: string }) => RUNS.find((one) => one.item.run === run),
    'runs.live': ({ run }: { run: string }) => RUNS.find((one) => one.item.run === run)?.live ?? null,
    'runs.start': () => ({ run: 'mailbox' }),
    'runs.stop': () => RUNS[0]?.item,
    'runs.tell': () => RUNS[0]?.item,
    'agents.list': () => (has('empty') ? [] : AGENTS),
    'agents.save': () => AGENTS[0],
    'agents.remove': () => ({}),
    'agents.test': () => (has('works') ? { ok: true, message: 'The model qwen3-coder answered in 0.4 s.', servers: [] } : { ok: false, message: 'Nothing answers at http://localhost:11434/v1. Nothing was sent. Start the model server, or correct the base URL.', servers: [] }),
    'agents.trust': () => AGENTS[0],
    'senders.list': () => (has('empty') ? [] : SENDERS),
    'senders.add': () => ({ sender: SENDERS[1], token: `sayso_${'5f3a9c'.repeat(10)}7b21` }),
    'senders.update': () => SENDERS[1],
    'senders.rotate': () => ({ sender: SENDERS[1], token: `sayso_${'5f3a9c'.repeat(10)}7b21` }),
    'senders.callback': () => ({ sender: SENDERS[1], secret: `whsec_${'Q2h1Y2s='.repeat(5)}` }),
    'senders.resend': () => ({ ok: true, message: 'The server took the answer.' }),
    'senders.revoke': () => SENDERS[3],
    'demo.start': () => {
      setTimeout(() => {
        for (const one of REQUESTS.slice(2, 3)) inbox.arrive(one);
      }, 800);
      return { run: 'release' };
    },
    'history.list': ({ text = '', outcome }: HistoryFilter) => ({
      items: has('empty') ? [] : HISTORY.filter((one) => one.prompt.toLowerCase().includes(text.toLowerCase()) && (outcome === undefined || one.outcome === outcome)),
      next: null,
    }),
    'history.show': ({ key }: { key: string }) => {
      const item = HISTORY.find((one) => one.key === key) ?? HISTORY[0];
      return {
        item,
        tool: 'refund',
        arguments: '{"customer":20114,"amount":1250.00,"currency":"USD"}',
        edited_arguments: null,
        folder: null,
        diff: null,
        sent: `{"id":"req-88","ok":false,"reason":"declined"}`,
        delivery: 'delivered',
        digest: '9f2c00000000000000000000000000000000000000000000000000000000a1e1',
        entries: [{ seq: 1283, kind: 'decision', hash: 'ab12', at: at(-900) }],
        next: ['Agent was told the request was declined', 'Run finished 13:59'],
      };
    },
    'history.verify_job': () => job('verify', { verification: answers['history.verify']!(undefined as never) as Verification }),
    'history.head': () => ({ chain: '01a2323f-2057-768f-bfd9-fe3c42ec8ab6', seq: 1284, hash: 'f4a3aceb0f8bc1c92d2e28ac1dc401ed0f8e3d81b6606e8e29e2cbd25ad77dae', signature: has('error') ? null : 'c2lnbmVk', public_key: has('error') ? null : 'a2V5', unsigned: has('error') ? 'The keyring cannot be read: it is locked.' : null }),
    'history.export': ({ format, path }: HistoryExport) => job('export', { path: path ?? `~/.local/share/sayso/exports/sayso-history.${format}`, message: '1284 decisions were exported.' }),
    'history.redact': () => ({ entries: 1, fields: 3, requests: 1, places: 4, running: has('many') ? 2 : 0, setups: [], backups: ['~/.local/share/sayso/backups/sayso-20261201T090000000.db'] }),
    'jobs.list': () => jobs,
    'jobs.show': jobOf,
    'jobs.cancel': (params: JobRef) => Object.assign(jobOf(params), { state: 'cancelled', message: 'It was stopped. Nothing that was there before has changed.' }),
    'backups.list': () => (has('empty') ? [] : [{ path: '~/.local/share/sayso/backups/sayso-20261201T090000000.db', at: at(-7200), bytes: 4_210_688 }]),
    'backups.create': () => job('backup', { message: 'The backup was made and checked.' }),
    'backups.restore': () => ({ restart: true }),
    'storage.show': () => ({ bytes: 5_242_880, free_bytes: 819_200, decisions: 1284, oldest: at(-8_000_000), backups_bytes: 4_210_688 }),
    'storage.compact': () => job('compact', { message: '819200 bytes were given back.' }),
    'storage.prune': () => job('prune', { message: 'There was nothing to remove.' }),
    'history.verify': () => ({ ok: !has('error'), entries: 1284, head: 'ab', entry: has('error') ? 12 : null, problem: has('error') ? 'changed' : null }),
  };

  return {
    surface: has('browser') ? 'browser' : 'window',
    async start() {
      if (has('session')) throw new CallError(NO_SESSION, 'This browser has no session.');
      if (has('startup')) return { code: 'newer', message: 'The data folder was written by a newer Sayso. Nothing was changed. Install that version again, or choose another folder.' };
      return null;
    },
    retry: async () => null,
    async call(command, params) {
      await new Promise((resolve) => setTimeout(resolve, 5));
      if (has('lost')) throw unreachable();
      const answer = answers[command];
      if (answer === undefined) throw new CallError('unknown_command', command);
      return structuredClone(answer(params as never));
    },
    subscribe(one) {
      listener = one;
      if (has('lost')) one.lost(unreachable());
      else one.changed(null);
    },
    openUrl: async () => undefined,
    openDataFolder: async () => undefined,
    quit: async () => undefined,
  };
}

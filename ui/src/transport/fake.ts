/** A host in memory, for `npm run dev` with `?fake` and for pictures of the screens. Never part of what is shipped. */
import type { Decide } from '../bindings/Decide';
import type { DecideMany } from '../bindings/DecideMany';
import type { InboxList } from '../bindings/InboxList';
import type { RequestKeys } from '../bindings/RequestKeys';
import type { RequestRef } from '../bindings/RequestRef';
import type { Settings } from '../bindings/Settings';
import type { Snooze } from '../bindings/Snooze';
import type { Listener, Transport } from './commands';
import { AGENTS, REQUESTS, RUNS, SENDERS } from './fake-data';
import { FakeJobs, fakeHistory } from './fake-history';
import { FakeInbox } from './fake-inbox';
import { HOSTILE, RARE, burst, groups, many, snoozed } from './fake-requests';
import { DEFAULTS, SETTINGS, fakeSettings } from './fake-settings';
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
    ...(has('habits') ? SETTINGS : DEFAULTS),
    appearance: has('dark') ? 'dark' : has('light') ? 'light' : 'system',
    density: has('compact') ? 'compact' : 'comfortable',
    text_size: size === undefined ? 100 : Number(size),
  };
  let listener: Listener | null = null;
  inbox.changed = (key) => listener?.changed({ topic: 'inbox', id: key });
  if (has('burst')) {
    const more = burst(100);
    setInterval(() => {
      const next = more.shift();
      if (next !== undefined) inbox.arrive(next);
    }, 400);
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
  };
  const jobs = new FakeJobs((topic, id) => listener?.changed({ topic, id }));
  Object.assign(answers, fakeHistory(has, jobs), fakeSettings(has, jobs), jobs.answers);

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

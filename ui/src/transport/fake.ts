/** A host in memory, for `npm run dev` with `?fake` and for pictures of the screens. Never part of what is shipped. */
import type { Decide } from '../bindings/Decide';
import type { RequestDetail } from '../bindings/RequestDetail';
import type { Settings } from '../bindings/Settings';
import type { Listener, Transport } from './commands';
import { AGENTS, REQUESTS, RUNS, SENDERS, at, request } from './fake-data';
import { FakeJobs, fakeHistory } from './fake-history';
import { SETTINGS, fakeSettings } from './fake-settings';
import { CallError, NO_SESSION, unreachable } from './problem';

/** `?fake=three,dark,lost`: words that choose what there is. */
export function fake(options: string): Transport {
  const has = (word: string): boolean => options.split(',').includes(word);
  let requests: RequestDetail[] = has('empty') ? [] : has('three') ? REQUESTS.slice(0, 3) : [...REQUESTS];
  const many = has('many') ? 300 : has('huge') ? 10_000 : 0;
  if (many > 0)
    for (let n = 0; n < many; n += 1)
      requests.push(request({ key: `n${n}`, kind: 'approval', prompt: `Delete old build ${n}?`, source: 'clean-bot', tool: 'shell', summary: `rm -r builds/${n}`, age: 30_000 + n * 60, arguments: `{"command":"rm -r builds/${n}"}` }));
  let settings: Settings = { ...SETTINGS, appearance: has('dark') ? 'dark' : has('light') ? 'light' : 'system' };
  const settled = new Map<string, RequestDetail>();
  let listener: Listener | null = null;

  function decide({ key, ok, data, reason }: Decide): unknown {
    const detail = requests.find((one) => one.item.key === key);
    if (detail === undefined) throw new CallError('already_decided', 'You denied this at 14:02, from the notification. Nothing was changed.');
    const outcome = !ok ? 'declined' : data === undefined ? 'approved' : 'answered';
    const answer = JSON.stringify({ id: key, ok, ...(reason === undefined ? {} : { reason }) });
    const decision = { key, outcome, answer, class: ok ? null : 'declined', decided_by: 'person', surface: 'window', decided_at: at(0) };
    requests = requests.filter((one) => one !== detail);
    settled.set(key, { ...detail, decision });
    setTimeout(() => listener?.changed({ topic: 'inbox', id: key }), 20);
    return decision;
  }

  const answers: Record<string, (params: never) => unknown> = {
    status: () => ({
      version: '0.1.0',
      waiting: requests.length,
      active_runs: has('empty') ? 0 : 2,
      data_dir: '~/.local/share/sayso',
      url: 'http://127.0.0.1:41000',
      notifications: { ok: !has('error'), message: has('error') ? 'No notification service answers. Requests still wait here and in the tray. Start one and restart Sayso.' : '' },
      tray: { ok: !has('error'), message: has('error') ? 'This desktop shows no tray. Closing the window ends nothing; start Sayso again to see it.' : '' },
      problems: has('error') ? ['The disk is full: nothing can be decided until there is room. What waits is safe.'] : [],
      snoozed: 0,
      autostart: { ok: true, message: '' },
      global_shortcut: null,
      quiet: null,
    }),
    'settings.get': () => settings,
    'settings.set': (params: Partial<Settings>) => (settings = { ...settings, ...params }),
    'inbox.list': () => requests.map((one) => one.item),
    'inbox.show': ({ key }: { key: string }) => {
      const found = requests.find((one) => one.item.key === key) ?? settled.get(key);
      if (found === undefined) throw new CallError('not_found', 'This request is not known. It may belong to another data folder.');
      return found;
    },
    'inbox.decide': (params: Decide) => {
      if (has('error')) throw new CallError('storage', 'The disk is full: nothing was decided and the request still waits. Make room and try again.');
      return decide(params);
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
    'agents.test': () => ({ ok: false, message: 'Nothing answers at http://localhost:11434/v1. Nothing was sent. Start the model server, or correct the base URL.', servers: [] }),
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
        requests = [...REQUESTS.slice(2, 3)];
        listener?.changed({ topic: 'inbox', id: null });
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
  };
}

/** A host in memory, for `npm run dev` with `?fake` and for pictures of the screens. Never part of what is shipped. */
import type { Decide } from '../bindings/Decide';
import type { DecideMany } from '../bindings/DecideMany';
import type { HistoryFilter } from '../bindings/HistoryFilter';
import type { HistoryExport } from '../bindings/HistoryExport';
import type { HistoryItem } from '../bindings/HistoryItem';
import type { InboxList } from '../bindings/InboxList';
import type { Job } from '../bindings/Job';
import type { JobRef } from '../bindings/JobRef';
import type { RequestDetail } from '../bindings/RequestDetail';
import type { RequestKeys } from '../bindings/RequestKeys';
import type { Settings } from '../bindings/Settings';
import type { Snooze } from '../bindings/Snooze';
import type { Verification } from '../bindings/Verification';
import type { Listener, Transport } from './commands';
import { AGENTS, HISTORY, REQUESTS, RUNS, SENDERS, at, request } from './fake-data';
import { CallError, NO_SESSION, unreachable } from './problem';

/** `?fake=three,dark,lost`: words that choose what there is. */
export function fake(options: string): Transport {
  const has = (word: string): boolean => options.split(',').includes(word);
  let requests: RequestDetail[] = has('empty') ? [] : has('three') ? REQUESTS.slice(0, 3) : [...REQUESTS];
  const many = has('many') ? 300 : has('huge') ? 10_000 : 0;
  if (many > 0)
    for (let n = 0; n < many; n += 1)
      requests.push(request({ key: `n${n}`, kind: 'approval', prompt: `Delete old build ${n}?`, source: 'clean-bot', tool: 'shell', summary: `rm -r builds/${n}`, age: 30_000 + n * 60, arguments: `{"command":"rm -r builds/${n}"}` }));
  let settings: Settings = { appearance: has('dark') ? 'dark' : has('light') ? 'light' : 'system', notifications: true, close_to_tray: true, undo_seconds: 3, retention: { days: null, megabytes: null } };
  const settled = new Map<string, RequestDetail>();
  let listener: Listener | null = null;

  function decide({ key, ok, data, reason }: Decide): unknown {
    const detail = requests.find((one) => one.item.key === key);
    if (detail === undefined) throw new CallError('already_decided', 'You denied this at 14:02, from the notification. Nothing was changed.');
    const outcome = !ok ? 'declined' : data === undefined ? 'approved' : 'answered';
    const answer = JSON.stringify({ id: key, ok, ...(reason === undefined ? {} : { reason }) });
    const decision = { key, outcome, answer, class: ok ? null : 'declined', decided_by: 'person', surface: 'window', decided_at: at(0), undo_until: new Date(Date.now() + settings.undo_seconds * 1000).toISOString() };
    requests = requests.filter((one) => one !== detail);
    settled.set(key, { ...detail, decision });
    setTimeout(() => listener?.changed({ topic: 'inbox', id: key }), 20);
    return decision;
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
      waiting: requests.length,
      snoozed: requests.filter((one) => one.item.snoozed_until !== null).length,
      active_runs: has('empty') ? 0 : 2,
      data_dir: '~/.local/share/sayso',
      url: 'http://127.0.0.1:41000',
      notifications: { ok: !has('error'), message: has('error') ? 'No notification service answers. Requests still wait here and in the tray. Start one and restart Sayso.' : '' },
      tray: { ok: !has('error'), message: has('error') ? 'This desktop shows no tray. Closing the window ends nothing; start Sayso again to see it.' : '' },
      problems: has('error') ? ['The disk is full: nothing can be decided until there is room. What waits is safe.'] : [],
    }),
    'settings.get': () => settings,
    'settings.set': (params: Settings) => (settings = params),
    'inbox.list': ({ after, limit = 200 }: InboxList) => {
      const start = after === undefined ? 0 : Number(after);
      const items = requests.slice(start, start + limit).map((one) => one.item);
      const next = start + limit < requests.length ? String(start + limit) : null;
      return { items, next, total: requests.length, snoozed: requests.filter((one) => one.item.snoozed_until !== null).length };
    },
    'inbox.items': ({ keys }: RequestKeys) => requests.map((one) => one.item).filter((item) => keys.includes(item.key)),
    'inbox.decide_many': ({ decisions, ok, reason, data }: DecideMany) => ({
      results: decisions.map(({ key }) => ({
        key,
        decision: decide({ key, ok, ...(reason === undefined ? {} : { reason }), ...(data === undefined ? {} : { data }) }),
        error: null,
      })),
    }),
    'inbox.snooze': ({ key, until }: Snooze) => {
      const found = requests.find((one) => one.item.key === key);
      if (found === undefined) throw new CallError('already_decided', 'This request waits no longer. Nothing was changed.');
      found.item.snoozed_until = until;
      setTimeout(() => listener?.changed({ topic: 'inbox', id: key }), 20);
      return found.item;
    },
    'inbox.undo': ({ key }: { key: string }) => {
      const found = settled.get(key);
      if (found === undefined) throw new CallError('too_late', 'It is too late to take this back: the answer is on its way or was delivered. Nothing was changed.');
      settled.delete(key);
      requests = [{ ...found, decision: null }, ...requests];
      setTimeout(() => listener?.changed({ topic: 'inbox', id: key }), 20);
      return found.item;
    },
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
        notes: ['It moves money.'],
        risk: item?.risk ?? null,
        waited_ms: 14_000,
        sent: `{"id":"req-88","ok":false,"reason":"declined"}`,
        delivery: 'delivered',
        delivered_at: at(-899),
        effects: [],
        run_end: { at: at(-840), status: 'done', detail: null },
        redactions: [],
        digest: '9f2c00000000000000000000000000000000000000000000000000000000a1e1',
        entries: [{ seq: 1283, kind: 'decision', hash: 'ab12', at: at(-900) }],
        next: ['Agent was told the request was declined', 'Run finished 13:59'],
      };
    },
    'history.counts': () => {
      const tally = (of: (item: HistoryItem) => string | null) => {
        const counts = new Map<string, number>();
        for (const value of HISTORY.map(of)) if (value !== null) counts.set(value, (counts.get(value) ?? 0) + 1);
        return [...counts].map(([value, count]) => ({ value, count })).sort((a, b) => b.count - a.count);
      };
      return {
        total: HISTORY.length,
        capped: false,
        outcome: tally((one) => one.outcome),
        source: tally((one) => one.source),
        kind: tally((one) => one.kind),
        decided_by: tally((one) => one.decided_by),
        surface: tally((one) => one.surface),
        tool: tally((one) => one.tool),
        risk: tally((one) => one.risk),
      };
    },
    'history.charts': () => ({
      days: [
        { day: '2026-11-29', approved: 14, answered: 3, declined: 2, cancelled: 1, expired: 0 },
        { day: '2026-11-30', approved: 21, answered: 5, declined: 4, cancelled: 0, expired: 2 },
        { day: '2026-12-01', approved: 9, answered: 1, declined: 3, cancelled: 2, expired: 1 },
      ],
      times: {
        median_ms: 24_000,
        p95_ms: 840_000,
        by_day: [
          { day: '2026-11-29', median_ms: 31_000, p95_ms: 620_000 },
          { day: '2026-11-30', median_ms: 22_000, p95_ms: 900_000 },
          { day: '2026-12-01', median_ms: 18_000, p95_ms: 410_000 },
        ],
      },
      sources: [
        { source: 'release-bot', count: 31, median_ms: 19_000, p95_ms: 300_000 },
        { source: 'invoice-bot', count: 22, median_ms: 41_000, p95_ms: 1_200_000 },
        { source: 'deploy-bot', count: 15, median_ms: null, p95_ms: null },
      ],
      most_asked: [
        { label: 'cargo test --workspace', tool: 'shell', kind: 'approval', source: 'release-bot', count: 12 },
        { label: 'Refund to customer 20114?', tool: null, kind: 'approval', source: 'invoice-bot', count: 7 },
      ],
      most_denied: [{ label: 'rm -rf target/release', tool: 'shell', kind: 'approval', source: 'release-bot', count: 4 }],
      expired: [{ label: 'Restart api-2', tool: 'shell', kind: 'approval', source: 'deploy-bot', count: 3 }],
    }),
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
  };
}

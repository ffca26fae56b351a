/** The record of a made-up host: thousands of decisions, jobs that take their time, an export that goes nowhere. */
import type { Asked } from '../bindings/Asked';
import type { Count } from '../bindings/Count';
import type { HistoryCharts } from '../bindings/HistoryCharts';
import type { HistoryCounts } from '../bindings/HistoryCounts';
import type { HistoryDetail } from '../bindings/HistoryDetail';
import type { HistoryFilter } from '../bindings/HistoryFilter';
import type { HistoryItem } from '../bindings/HistoryItem';
import type { Redact } from '../bindings/Redact';
import type { Job } from '../bindings/Job';
import type { Topic } from '../bindings/Topic';
import { HISTORY, at } from './fake-data';
import { CallError } from './problem';

type Answers = Record<string, (params: never) => unknown>;
type Tell = (topic: Topic, id: string | null) => void;

const ASKS: [source: string, tool: string | null, prompt: string, kind: string][] = [
  ['clean-bot', 'shell', 'rm -rf target/debug/incremental', 'approval'],
  ['release-bot', 'shell', 'cargo publish --dry-run', 'approval'],
  ['invoice-bot', 'refund', 'Refund $18.00 to customer 20007?', 'approval'],
  ['mail-agent', null, 'Send reply to 3 recipients', 'approval'],
  ['deploy-bot', null, 'Scale workers to 12', 'approval'],
  ['research', null, 'Which sources may I cite?', 'question'],
  ['docs-agent', 'edit_file', 'Edit docs/guide/getting-started.md', 'approval'],
];
const ENDS: [outcome: string, by: string, surface: string | null][] = [
  ['approved', 'person', 'window'],
  ['approved', 'person', 'notification'],
  ['approved', 'person', 'tray'],
  ['declined', 'person', 'window'],
  ['approved', 'person', 'cli'],
  ['approved', 'person', 'window'],
  ['expired', 'deadline', null],
  ['approved', 'person', 'browser'],
  ['cancelled', 'source', null],
];

/** The same numbers each time: pictures are compared. */
function mixed(n: number): number {
  return (Math.imul(n ^ (n >>> 15), 2_246_822_519) >>> 0) % 9973;
}

function decision(n: number): HistoryItem {
  const [source, tool, prompt, kind] = ASKS[mixed(n) % ASKS.length] ?? ASKS[0]!;
  const [end, by, surface] = ENDS[mixed(n + 7) % ENDS.length] ?? ENDS[0]!;
  const outcome = kind === 'question' && end === 'approved' ? 'answered' : end;
  const waited = 2000 + ((mixed(n + 3) * 977) % 260_000);
  const seconds = -(n * 1900 + 1200);
  return {
    ...HISTORY[0]!,
    key: `m${n}`,
    request: '',
    kind,
    prompt: `${prompt}${n % 40 === 3 ? ' — and then tell everyone who is on the list, in the order in which they signed up, by mail' : ''}`,
    answer: '',
    outcome,
    class: outcome === 'approved' || outcome === 'answered' ? null : outcome,
    decided_by: by,
    surface,
    source,
    tool,
    risk: (['low', 'low', 'medium', 'high'] as const)[mixed(n + 11) % 4] ?? 'low',
    run: null,
    reason: outcome === 'declined' ? 'not before the freeze is over' : null,
    waited_ms: waited,
    received_at: at(seconds - waited / 1000),
    decided_at: at(seconds),
  };
}

const FACETS = ['outcome', 'source', 'kind', 'decided_by', 'surface', 'tool', 'risk'] as const;

function matches(item: HistoryItem, filter: HistoryFilter, but?: string): boolean {
  const text = (filter.text ?? '').toLowerCase();
  const found = text === '' || [item.prompt, item.source, item.reason ?? ''].some((one) => one.toLowerCase().includes(text));
  const dates = (filter.since === undefined || item.decided_at >= filter.since) && (filter.until === undefined || item.decided_at <= filter.until);
  return found && dates && (filter.run === undefined || item.run === filter.run) && FACETS.every((name) => name === but || filter[name] === undefined || item[name] === filter[name]);
}

function marked(item: HistoryItem, text: string): HistoryItem {
  if (text === '') return item;
  const fields: [string, string][] = [
    ['prompt', item.prompt],
    ['reason', item.reason ?? ''],
    ['names', item.source],
  ];
  const [field, whole] = fields.find(([, one]) => one.toLowerCase().includes(text.toLowerCase())) ?? ['prompt', ''];
  const from = whole.toLowerCase().indexOf(text.toLowerCase());
  return from === -1 ? item : { ...item, snippet: { field, text: whole, marks: [[from, from + text.length]] } };
}

function most(values: (string | null)[]): Count[] {
  const counts = new Map<string, number>();
  for (const value of values) if (value !== null) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].map(([value, count]) => ({ value, count })).sort((a, b) => b.count - a.count).slice(0, 20);
}

const quantile = (sorted: number[], part: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;

function grouped(items: HistoryItem[], by: (item: HistoryItem) => string): Map<string, HistoryItem[]> {
  const groups = new Map<string, HistoryItem[]>();
  for (const item of items) {
    const name = by(item);
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [item]);
    else group.push(item);
  }
  return groups;
}

function chartsOf(items: HistoryItem[], offset: number): HistoryCharts {
  const dayOf = (item: HistoryItem): string => new Date(Date.parse(item.decided_at) + offset * 60_000).toISOString().slice(0, 10);
  const sorted = (list: HistoryItem[]): number[] => list.filter((one) => one.decided_by === 'person').map((one) => one.waited_ms).sort((a, b) => a - b);
  const days = [...grouped(items, dayOf)].sort(([a], [b]) => a.localeCompare(b));
  const number = (list: HistoryItem[], outcome: string): number => list.filter((one) => one.outcome === outcome).length;
  const asked = (list: HistoryItem[]): Asked[] =>
    [...grouped(list, (one) => `${one.source}\n${one.prompt}`).values()]
      .flatMap((same) => (same[0] === undefined || same.length < 2 ? [] : [{ label: same[0].prompt, tool: same[0].tool, kind: same[0].kind, source: same[0].source, count: same.length }]))
      .sort((a, b) => b.count - a.count)
      .slice(0, 6);
  const all = sorted(items);
  return {
    days: days.map(([day, list]) => ({ day, approved: number(list, 'approved'), answered: number(list, 'answered'), declined: number(list, 'declined'), cancelled: number(list, 'cancelled'), expired: number(list, 'expired') })),
    times: {
      median_ms: all.length === 0 ? null : quantile(all, 0.5),
      p95_ms: all.length === 0 ? null : quantile(all, 0.95),
      by_day: days.flatMap(([day, list]) => (sorted(list).length === 0 ? [] : [{ day, median_ms: quantile(sorted(list), 0.5), p95_ms: quantile(sorted(list), 0.95) }])),
    },
    sources: most(items.map((one) => one.source)).map(({ value, count }) => {
      const times = sorted(items.filter((one) => one.source === value));
      return { source: value, count, median_ms: times.length === 0 ? null : quantile(times, 0.5), p95_ms: times.length === 0 ? null : quantile(times, 0.95) };
    }),
    most_asked: asked(items),
    most_denied: asked(items.filter((one) => one.outcome === 'declined')),
    expired: asked(items.filter((one) => one.outcome === 'expired')),
  };
}

/** Jobs that count up to their end and tell of it. */
export class FakeJobs {
  #jobs = new Map<string, Job>();

  constructor(private readonly tell: Tell) {}

  start(what: string, total: number, over: Partial<Job> = {}): Job {
    const job: Job = { id: `job-${this.#jobs.size}`, what, done: 0, total, state: 'running', message: null, path: null, verification: null };
    this.#jobs.set(job.id, job);
    const step = (): void => {
      if (job.state !== 'running') return;
      job.done = Math.min(total, job.done + Math.ceil(total / 25));
      if (job.done === total) Object.assign(job, { state: 'done' }, over);
      else setTimeout(step, 80);
      this.tell('jobs', job.id);
    };
    setTimeout(step, 80);
    return job;
  }

  readonly answers: Answers = {
    'jobs.list': () => [...this.#jobs.values()],
    'jobs.show': ({ job }: { job: string }) => this.#jobs.get(job),
    'jobs.cancel': ({ job }: { job: string }) => Object.assign(this.#jobs.get(job) ?? {}, { state: 'cancelled' }),
  };
}

export function fakeHistory(has: (word: string) => boolean, jobs: FakeJobs): Answers {
  const number = has('empty') ? 0 : has('ledger') ? 20_000 : 1275;
  const items = has('empty') ? [] : [...HISTORY, ...Array.from({ length: number }, (_, n) => decision(n + 6))].sort((a, b) => b.decided_at.localeCompare(a.decided_at));
  const broken = (): void => {
    if (has('error')) throw new CallError('storage', 'A part of the data file cannot be read. What can be read is shown; restore a backup to get the rest.');
  };
  const verification = { ok: !has('error'), entries: 1284, head: 'ab'.repeat(32), entry: has('error') ? 12 : null, problem: has('error') ? 'changed' : null } as const;

  return {
    'history.list': (filter: HistoryFilter) => {
      const found = items.filter((one) => matches(one, filter));
      const from = filter.after === undefined ? 0 : Number(filter.after);
      const end = from + (filter.limit ?? 100);
      return { items: found.slice(from, end).map((one) => marked(one, filter.text ?? '')), next: end < found.length ? String(end) : null };
    },
    'history.counts': (filter: HistoryFilter): HistoryCounts => {
      broken();
      const total = items.filter((one) => matches(one, filter)).length;
      const facet = (name: (typeof FACETS)[number]): Count[] => most(items.filter((one) => matches(one, filter, name)).map((one) => one[name]));
      const [outcome, source, kind, decided_by, surface, tool, risk] = FACETS.map(facet) as [Count[], Count[], Count[], Count[], Count[], Count[], Count[]];
      return { total: Math.min(total, 10_000), capped: total > 10_000, outcome, source, kind, decided_by, surface, tool, risk };
    },
    'history.charts': ({ offset_minutes = 0, ...filter }: HistoryFilter & { offset_minutes?: number }) => {
      broken();
      return chartsOf(items.filter((one) => matches(one, filter)), offset_minutes);
    },
    'history.show': ({ key }: { key: string }): HistoryDetail => {
      const item = items.find((one) => one.key === key);
      if (item === undefined) throw new CallError('not_found', 'This decision is not known. It may belong to another data folder.');
      const edited = item.edited;
      return {
        item: { ...item, request: JSON.stringify({ id: key, kind: item.kind, prompt: item.prompt, data: { customer: 20114 } }), answer: item.answer || JSON.stringify({ id: key, ok: item.class === null }) },
        tool: item.tool,
        arguments: item.tool === 'shell' ? JSON.stringify({ command: item.prompt, timeout_seconds: 120 }) : '{"customer":20114,"amount":1250.00,"currency":"USD"}',
        edited_arguments: edited ? '{"customer":20114,"amount":250.00,"currency":"USD"}' : null,
        folder: item.tool === 'shell' ? '~/code/atlas' : null,
        diff: null,
        sent: JSON.stringify({ id: key, ok: item.class === null, ...(item.class === null ? {} : { reason: item.class }) }),
        delivery: 'delivered',
        digest: `9f2c${'0'.repeat(56)}a1e1`,
        entries: [
          { seq: 1283, kind: 'decision', hash: `ab12${'c'.repeat(56)}77d0`, at: item.decided_at },
          { seq: 1284, kind: 'delivery', hash: `ef90${'d'.repeat(56)}41aa`, at: item.decided_at },
        ],
        next: ['Agent was told the request was declined', 'Opened ticket 5521 instead'],
        notes: item.risk === 'high' ? ['Deletes without a way back. All below target/debug is removed.'] : item.risk === 'medium' ? ['Sends money. $1,250.00 leaves the account.'] : [],
        risk: item.risk,
        waited_ms: item.waited_ms,
        delivered_at: item.decided_at,
        effects: item.class === null ? [{ at: item.decided_at, output: 'Removed 1,204 files.\n', is_error: false }] : [],
        run_end: item.run === null ? null : { at: at(-60), status: 'done', detail: null },
        redactions: item.redacted ? [{ at: at(-40), fields: ['arguments', 'output'] }] : [],
      };
    },
    'history.verify': () => verification,
    'history.verify_job': () => jobs.start('verify', 1284, { verification }),
    'history.head': () => ({ chain: 'main', seq: 1284, hash: '4be1'.repeat(16), unsigned: has('error') ? 'The keyring is locked.' : null, signature: has('error') ? null : 'c3RhbXBlZCBhbmQgc2VhbGVk'.repeat(3), public_key: has('error') ? null : 'cHVibGljIGtleSBvZiB0aGlzIG1hY2hpbmU' }),
    'history.export': ({ format, path }: { format: string; path?: string }) => jobs.start('export', items.length, { path: path ?? `~/.local/share/sayso/exports/history-2026-12-01.${format}` }),
    'history.redact': ({ text }: Redact) => {
      const fields = items.filter((one) => matches(one, { text })).length;
      return { entries: fields, fields, requests: fields === 0 ? 0 : 1, places: fields, setups: fields === 0 ? [] : ['agent release-bot'], running: fields === 0 ? 0 : 1, backups: fields === 0 ? [] : ['~/.local/share/sayso/backups/sayso-2026-11-20.db'] };
    },
  };
}

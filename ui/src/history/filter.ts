import type { HistoryFilter } from '../bindings/HistoryFilter';

/** What History can be filtered by. Dates are days of the person's calendar, `2026-12-01`, both included, or exact times. */
export const NAMES = ['text', 'outcome', 'source', 'kind', 'decided_by', 'surface', 'tool', 'risk', 'run', 'since', 'until'] as const;
export type FilterName = (typeof NAMES)[number];
export type Filter = Partial<Record<FilterName, string>>;

/** Filters of which every value is known; what else stands in an address is left out. */
const KNOWN: Partial<Record<FilterName, readonly string[]>> = {
  outcome: ['approved', 'answered', 'declined', 'cancelled', 'expired'],
  decided_by: ['person', 'rule', 'deadline', 'source', 'stop'],
  surface: ['window', 'notification', 'tray', 'cli', 'browser'],
  risk: ['low', 'medium', 'high'],
};
const LONGEST = 500;
const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** Reads the part of an address after its `?`. What means nothing is left out; nothing fails. */
export function filterOf(query: string): Filter {
  const params = new URLSearchParams(query);
  const filter: Filter = {};
  for (const name of NAMES) {
    const value = params.get(name)?.slice(0, LONGEST) ?? '';
    if (value.trim() !== '' && isPossible(name, value)) filter[name] = value;
  }
  return filter;
}

function isPossible(name: FilterName, value: string): boolean {
  if (name === 'since' || name === 'until') return !Number.isNaN(Date.parse(value)) && (!DAY.test(value) || isDay(value));
  return KNOWN[name]?.includes(value) ?? true;
}

/** The 31st of February is a day to the parser and none to a calendar. */
function isDay(day: string): boolean {
  return new Date(`${day}T00:00:00Z`).toISOString().startsWith(day);
}

/** The part of an address after its `?`, always in one order, so that equal filters have equal addresses. */
export function queryOf(filter: Filter, view: View = 'list'): string {
  const params = new URLSearchParams();
  for (const name of NAMES) {
    const value = filter[name];
    if (value !== undefined && value.trim() !== '') params.set(name, value);
  }
  if (view !== 'list') params.set('view', view);
  return params.toString();
}

export type View = 'list' | 'charts';

/** Whether the list is shown, or charts of it. */
export function viewOf(query: string): View {
  return new URLSearchParams(query).get('view') === 'charts' ? 'charts' : 'list';
}

/** The filter with these changes; an empty value takes one away. */
export function changed(filter: Filter, change: Filter): Filter {
  const both: Filter = { ...filter, ...change };
  for (const name of NAMES) if (both[name] === undefined || both[name] === '') delete both[name];
  return both;
}

/** As the host takes it: days become the times at which they begin and end here. */
export function askOf({ since, until, ...rest }: Filter): HistoryFilter {
  return {
    ...rest,
    ...(rest.text === undefined ? {} : { text: rest.text.trim() }),
    ...(since === undefined ? {} : { since: edge(since, '00:00:00.000') }),
    ...(until === undefined ? {} : { until: edge(until, '23:59:59.999') }),
  };
}

function edge(value: string, time: string): string {
  return new Date(DAY.test(value) ? `${value}T${time}` : value).toISOString();
}

const two = (n: number): string => String(n).padStart(2, '0');

/** The day of a time, on the person's calendar: `2026-12-01`. */
export function dayOf(at: number): string {
  const time = new Date(at);
  return `${String(time.getFullYear()).padStart(4, '0')}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
}

/** The day so many days before. */
export function daysBefore(at: number, days: number): string {
  const time = new Date(at);
  // By the calendar: a day is not always 24 hours.
  return dayOf(new Date(time.getFullYear(), time.getMonth(), time.getDate() - days, 12).getTime());
}

/** Ranges that are offered by name: the days that they reach back, today included. */
export const RANGES = [
  { days: 1, name: 'Today' },
  { days: 7, name: 'Last 7 days' },
  { days: 30, name: 'Last 30 days' },
  { days: 365, name: 'Last 12 months' },
] as const;

/** The named range that a filter is today; null when it is none of them. */
export function rangeOf({ since, until }: Filter, now: number): number | null {
  if (since === undefined || until !== undefined) return null;
  return RANGES.find(({ days }) => daysBefore(now, days - 1) === since)?.days ?? null;
}

import type { HistoryDay } from '../bindings/HistoryDay';
import type { DayTimes } from '../bindings/DayTimes';
import { dayOf } from './filter';

/** Outcomes from the bottom of a bar to its top. */
export const OUTCOMES = ['approved', 'answered', 'declined', 'cancelled', 'expired'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** One bar: some days in a row. */
export interface Bar extends Record<Outcome, number> {
  /** The first of its days and the last. */
  since: string;
  until: string;
  total: number;
}

/** More bars than this are too thin to read or to click: days are then put together. */
export const MOST_BARS = 62;
const WIDTHS = [1, 7, 14, 28, 91, 182, 364];

function dateOf(day: string): Date {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number);
  return new Date(year, month - 1, date, 12);
}

function after(day: string, days: number): string {
  const date = dateOf(day);
  date.setDate(date.getDate() + days);
  return dayOf(date.getTime());
}

function between(first: string, last: string): number {
  return Math.round((dateOf(last).getTime() - dateOf(first).getTime()) / 86_400_000);
}

/** Bars without a gap from the first day to the last, of so many days each that all can be read. */
export function barsOf(days: readonly HistoryDay[], most = MOST_BARS): Bar[] {
  const first = days[0]?.day;
  const last = days.at(-1)?.day;
  if (first === undefined || last === undefined) return [];
  const length = between(first, last) + 1;
  const width = WIDTHS.find((one) => length / one <= most) ?? Math.ceil(length / most);
  const bars: Bar[] = [];
  for (let at = 0; at < length; at += width) {
    const until = after(first, Math.min(at + width, length) - 1);
    bars.push({ since: after(first, at), until, total: 0, approved: 0, answered: 0, declined: 0, cancelled: 0, expired: 0 });
  }
  for (const day of days) {
    const bar = bars[Math.floor(between(first, day.day) / width)];
    if (bar === undefined) continue;
    for (const outcome of OUTCOMES) {
      bar[outcome] += day[outcome];
      bar.total += day[outcome];
    }
  }
  return bars;
}

/** All of the days together. */
export function totalsOf(days: readonly HistoryDay[]): Record<Outcome, number> & { total: number } {
  const sums = { approved: 0, answered: 0, declined: 0, cancelled: 0, expired: 0, total: 0 };
  for (const day of days)
    for (const outcome of OUTCOMES) {
      sums[outcome] += day[outcome];
      sums.total += day[outcome];
    }
  return sums;
}

/** How many of the decisions were a yes: `91%`; never 100% while one was not, never 0% while one was. */
export function yesShare(days: readonly HistoryDay[]): string {
  const { approved, answered, total } = totalsOf(days);
  if (total === 0) return '–';
  const yes = approved + answered;
  const share = Math.round((yes / total) * 100);
  if (yes < total && share === 100) return '99%';
  return yes > 0 && share === 0 ? '1%' : `${share}%`;
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** How long: `0.4 s`, `38 s`, `6 min`, `1 h 20 min`, `3 days`; `–` for none. */
export function duration(ms: number | null): string {
  if (ms === null) return '–';
  const tenths = Math.round(ms / 100);
  if (ms > 0 && tenths === 0) return '< 0.1 s';
  if (tenths < 100) return `${tenths % 10 === 0 ? tenths / 10 : (tenths / 10).toFixed(1)} s`;
  const seconds = Math.round(ms / SECOND);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.round(ms / MINUTE);
  if (minutes < 60) return `${minutes} min`;
  if (ms < DAY) return minutes % 60 === 0 ? `${minutes / 60} h` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  const days = Math.round(ms / DAY);
  return `${days} ${days === 1 ? 'day' : 'days'}`;
}

/** The marks of an axis of times, which grows by steps that people know. */
const STEPS = [SECOND, 10 * SECOND, MINUTE, 10 * MINUTE, HOUR, 6 * HOUR, DAY, 7 * DAY, 28 * DAY];

/** From where to where such an axis reaches, and its marks. */
export function timeAxis(times: readonly DayTimes[]): { from: number; to: number; marks: number[] } {
  const all = times.flatMap((one) => [one.median_ms, one.p95_ms]).map((ms) => Math.max(ms, SECOND));
  const [low, high] = [Math.min(...all, 10 * SECOND), Math.max(...all, 10 * SECOND)];
  const from = STEPS.findLast((step) => step <= low) ?? SECOND;
  const to = STEPS.find((step) => step >= high && step > from) ?? high;
  return { from, to, marks: STEPS.filter((step) => step >= from && step <= to) };
}

/** Runs of days next to each other: a line is drawn through each and never over a day without a number. */
export function stretches(times: readonly DayTimes[]): DayTimes[][] {
  const found: DayTimes[][] = [];
  for (const one of times) {
    const last = found.at(-1);
    const before = last?.at(-1);
    if (last !== undefined && before !== undefined && between(before.day, one.day) === 1) last.push(one);
    else found.push([one]);
  }
  return found;
}

/** How far along the days from the first to the last a day is: 0 to 1. */
export function along(day: string, first: string, last: string): number {
  const length = between(first, last);
  return length === 0 ? 0.5 : between(first, day) / length;
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** A day as a person reads it: `3 Mar`, with the year where it is another than this. */
export function dayWord(day: string, now: number): string {
  const date = dateOf(day);
  const short = `${date.getDate()} ${MONTHS[date.getMonth()]}`;
  return date.getFullYear() === new Date(now).getFullYear() ? short : `${short} ${date.getFullYear()}`;
}

/** The days of a bar: `3 Mar`, `3 Mar – 9 Mar`. */
export function daysWord({ since, until }: Pick<Bar, 'since' | 'until'>, now: number): string {
  return since === until ? dayWord(since, now) : `${dayWord(since, now)} – ${dayWord(until, now)}`;
}

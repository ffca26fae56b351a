import { describe, expect, it } from 'vitest';
import type { HistoryDay } from '../bindings/HistoryDay';
import { MOST_BARS, along, barsOf, daysWord, duration, stretches, timeAxis, totalsOf, yesShare } from './chart-data';
import { daysBefore } from './filter';

const day = (at: string, over: Partial<HistoryDay> = {}): HistoryDay => ({ day: at, approved: 0, answered: 0, declined: 0, cancelled: 0, expired: 0, ...over });

describe('bars of decisions', () => {
  it('stand for every day between the first and the last, also for those without any', () => {
    const bars = barsOf([day('2026-02-27', { approved: 2 }), day('2026-03-02', { declined: 1, expired: 3 })]);
    expect(bars.map((bar) => [bar.since, bar.until, bar.total])).toEqual([
      ['2026-02-27', '2026-02-27', 2],
      ['2026-02-28', '2026-02-28', 0],
      ['2026-03-01', '2026-03-01', 0],
      ['2026-03-02', '2026-03-02', 4],
    ]);
    expect(bars[3]).toMatchObject({ declined: 1, expired: 3, approved: 0 });
  });

  it.each([1, 30, 62, 63, 365, 1000, 4000])('of %i days are never too many, lose no decision and overlap nowhere', (length) => {
    const now = new Date(2026, 11, 1, 12).getTime();
    const days = Array.from({ length }, (_, at) => day(daysBefore(now, length - 1 - at), { approved: 1, declined: at % 3 }));
    const bars = barsOf(days);
    expect(bars.length).toBeLessThanOrEqual(MOST_BARS);
    expect(bars.reduce((sum, bar) => sum + bar.total, 0)).toBe(totalsOf(days).total);
    expect(bars[0]?.since).toBe(days[0]?.day);
    expect(bars.at(-1)?.until).toBe(days.at(-1)?.day);
    for (const [at, bar] of bars.entries()) {
      expect(bar.since <= bar.until).toBe(true);
      const next = bars[at + 1];
      if (next !== undefined) expect(bar.until < next.since).toBe(true);
    }
  });

  it('are none for no decision', () => {
    expect(barsOf([])).toEqual([]);
  });
});

it('says how many were a yes, and never all or none when it is not so', () => {
  expect(yesShare([])).toBe('–');
  expect(yesShare([day('2026-01-01', { approved: 90, answered: 1, declined: 9 })])).toBe('91%');
  expect(yesShare([day('2026-01-01', { approved: 9999, declined: 1 })])).toBe('99%');
  expect(yesShare([day('2026-01-01', { approved: 1, declined: 9999 })])).toBe('1%');
  expect(yesShare([day('2026-01-01', { approved: 5 })])).toBe('100%');
});

it.each([
  [null, '–'],
  [0, '0 s'],
  [40, '< 0.1 s'],
  [400, '0.4 s'],
  [9_960, '10 s'],
  [38_000, '38 s'],
  [59_700, '1 min'],
  [360_000, '6 min'],
  [3_600_000, '1 h'],
  [4_800_000, '1 h 20 min'],
  [86_400_000, '1 day'],
  [260_000_000, '3 days'],
])('says %s ms as %s', (ms, words) => {
  expect(duration(ms)).toBe(words);
});

it('has an axis of times that holds all of them', () => {
  for (const times of [[], [{ day: '2026-01-01', median_ms: 0, p95_ms: 0 }], [{ day: '2026-01-01', median_ms: 400, p95_ms: 90_000_000 }]]) {
    const { from, to, marks } = timeAxis(times);
    expect(from).toBeGreaterThan(0);
    expect(to).toBeGreaterThan(from);
    expect(marks.length).toBeGreaterThan(1);
    for (const one of times) expect(Math.max(one.p95_ms, 1000)).toBeLessThanOrEqual(to);
  }
});

it('draws no line over a day without a number', () => {
  const at = (name: string) => ({ day: name, median_ms: 1, p95_ms: 2 });
  const found = stretches([at('2026-02-27'), at('2026-02-28'), at('2026-03-01'), at('2026-03-04')]);
  expect(found.map((one) => one.map((each) => each.day))).toEqual([['2026-02-27', '2026-02-28', '2026-03-01'], ['2026-03-04']]);
  expect(along('2026-03-01', '2026-02-27', '2026-03-03')).toBe(0.5);
  expect(along('2026-03-01', '2026-03-01', '2026-03-01')).toBe(0.5);
});

it('names the days of a bar', () => {
  const now = new Date(2026, 5, 1).getTime();
  expect(daysWord({ since: '2026-03-03', until: '2026-03-03' }, now)).toBe('3 Mar');
  expect(daysWord({ since: '2025-12-29', until: '2026-01-04' }, now)).toBe('29 Dec 2025 – 4 Jan');
});

import { describe, expect, it } from 'vitest';
import { type Filter, NAMES, askOf, changed, daysBefore, filterOf, queryOf, rangeOf, viewOf } from './filter';

const WHOLE: Filter = {
  text: 'git push "a&b=c" #1 ?é 承認',
  outcome: 'declined',
  source: 'release-bot',
  kind: 'approval',
  decided_by: 'person',
  surface: 'cli',
  tool: 'shell',
  risk: 'high',
  run: '0199-ab',
  since: '2026-11-01',
  until: '2026-12-01',
};

describe('a filter and its address', () => {
  it('are the same filter, for every filter there is', () => {
    expect(Object.keys(WHOLE)).toEqual([...NAMES]);
    expect(filterOf(queryOf(WHOLE))).toEqual(WHOLE);
    for (const name of NAMES) {
      const one: Filter = { [name]: WHOLE[name] };
      expect(filterOf(queryOf(one))).toEqual(one);
    }
  });

  it('have one address, in whatever order they were set', () => {
    expect(queryOf({ outcome: 'expired', text: 'rm' })).toBe(queryOf({ text: 'rm', outcome: 'expired' }));
    expect(queryOf({})).toBe('');
  });

  it.each([
    ['nothing', '', {}],
    ['an outcome that does not exist', 'outcome=maybe&text=a', { text: 'a' }],
    ['a name that does not exist', 'colour=red', {}],
    ['blank values', 'text=%20%20&source=', {}],
    ['a day that does not exist', 'since=2026-02-31', {}],
    ['no date', 'since=yesterday&until=2026-01-02', { until: '2026-01-02' }],
    ['an exact time', 'since=2026-01-02T03:04:05Z', { since: '2026-01-02T03:04:05Z' }],
    ['a broken encoding', 'text=%E0%A4%A', { text: '\uFFFD%A' }],
    ['the first of two', 'risk=low&risk=high', { risk: 'low' }],
  ])('take %s as it is meant', (_name, query, filter) => {
    expect(filterOf(query)).toEqual(filter);
  });

  it('keep the view beside them', () => {
    const query = queryOf({ text: 'a' }, 'charts');
    expect(viewOf(query)).toBe('charts');
    expect(filterOf(query)).toEqual({ text: 'a' });
    expect(viewOf('text=a')).toBe('list');
    expect(viewOf('view=nonsense')).toBe('list');
  });
});

it('takes a filter away with an empty value and leaves the others', () => {
  expect(changed({ text: 'a', outcome: 'expired' }, { outcome: '' })).toEqual({ text: 'a' });
  expect(changed({ text: 'a' }, { risk: 'high' })).toEqual({ text: 'a', risk: 'high' });
});

it('asks for whole days of the calendar here', () => {
  const ask = askOf({ text: ' rm ', since: '2026-11-01', until: '2026-11-02' });
  expect(ask.text).toBe('rm');
  expect(new Date(ask.since ?? '').getTime()).toBe(new Date(2026, 10, 1).getTime());
  expect(new Date(ask.until ?? '').getTime()).toBe(new Date(2026, 10, 3).getTime() - 1);
  expect(askOf({ since: '2026-01-02T03:04:05Z' }).since).toBe('2026-01-02T03:04:05.000Z');
});

it('knows its named ranges again', () => {
  const now = new Date(2026, 2, 1, 9).getTime();
  expect(daysBefore(now, 1)).toBe('2026-02-28');
  expect(rangeOf({ since: daysBefore(now, 6) }, now)).toBe(7);
  expect(rangeOf({ since: daysBefore(now, 0) }, now)).toBe(1);
  expect(rangeOf({ since: '2026-01-17' }, now)).toBeNull();
  expect(rangeOf({ since: daysBefore(now, 6), until: '2026-03-01' }, now)).toBeNull();
  expect(rangeOf({}, now)).toBeNull();
});

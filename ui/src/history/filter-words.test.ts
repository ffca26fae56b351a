import { describe, expect, it } from 'vitest';
import type { HistoryCounts } from '../bindings/HistoryCounts';
import { chipsOf, countWord, filterWords, optionsOf, totalWords } from './filter-words';

const NOW = new Date(2026, 11, 1, 12).getTime();
const COUNTS: HistoryCounts = {
  total: 1284,
  capped: false,
  outcome: [
    { value: 'approved', count: 1200 },
    { value: 'expired', count: 1 },
  ],
  source: [{ value: 'deploy-bot', count: 10 }],
  kind: [],
  decided_by: [],
  surface: [],
  tool: [{ value: '', count: 3 }],
  risk: [],
};

it('stops counting at ten thousand, and says so', () => {
  expect(totalWords({ total: 1284, capped: false })).toBe('1,284 decisions');
  expect(totalWords({ total: 1, capped: false })).toBe('1 decision');
  expect(totalWords({ total: 10_000, capped: true })).toBe('10,000+ decisions');
  expect(totalWords({ total: 10_000, capped: false })).toBe('10,000 decisions');
  expect(countWord(44, true)).toBe('44');
});

describe('what can be chosen', () => {
  it('comes with how many there are', () => {
    expect(optionsOf('outcome', COUNTS, undefined)).toEqual([
      { value: 'approved', text: 'Approved (1,200)' },
      { value: 'expired', text: 'Expired (1)' },
    ]);
  });
  it('holds what is chosen, also where there is none of it', () => {
    expect(optionsOf('source', COUNTS, 'gone-bot').at(-1)).toEqual({ value: 'gone-bot', text: 'gone-bot (0)' });
    expect(optionsOf('source', null, 'gone-bot')).toEqual([{ value: 'gone-bot', text: 'gone-bot' }]);
  });
  it('is nothing without a name', () => {
    expect(optionsOf('tool', COUNTS, undefined)).toEqual([]);
  });
});

it('has one chip for each filter, and one for both dates', () => {
  const chips = chipsOf({ text: ' rm -rf ', outcome: 'declined', source: 'bot', risk: 'high', since: '2026-11-01', until: '2026-11-30' }, NOW);
  expect(chips.map((chip) => chip.text)).toEqual(['“rm -rf”', 'Denied or declined', 'From: bot', 'High risk', '1 Nov – 30 Nov']);
  expect(chips.at(-1)?.names).toEqual(['since', 'until']);
  expect(filterWords({}, NOW)).toBe('Every decision');
  expect(filterWords({ outcome: 'expired', since: '2026-11-01' }, NOW)).toBe('Decisions that match Expired, Since 1 Nov');
});

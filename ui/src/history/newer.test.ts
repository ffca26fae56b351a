import { describe, expect, it } from 'vitest';
import type { HistoryItem } from '../bindings/HistoryItem';
import { newerOf } from './newer';

const rows = (...seconds: number[]): HistoryItem[] =>
  seconds.map((at) => ({ key: `k${at}`, decided_at: new Date(at * 1000).toISOString(), redacted: false }) as HistoryItem);
const keys = (items: HistoryItem[]): string[] => items.map((item) => item.key);

describe('the newest page beside what is shown', () => {
  it('holds nothing new', () => {
    expect(newerOf(rows(3, 2, 1), rows(3, 2))).toEqual({ newer: [], gap: false, changed: false });
  });
  it('holds what is newer, in order', () => {
    const { newer, gap, changed } = newerOf(rows(3, 2, 1), rows(5, 4, 3, 2));
    expect([keys(newer), gap, changed]).toEqual([['k5', 'k4'], false, false]);
  });
  it('reaches not down to what is shown', () => {
    const { newer, gap, changed } = newerOf(rows(3, 2, 1), rows(9, 8, 7));
    expect([keys(newer), gap, changed]).toEqual([['k9', 'k8', 'k7'], true, false]);
  });
  it('tells that one was erased', () => {
    const page = rows(3, 2);
    const last = page.at(-1);
    if (last !== undefined) last.redacted = true;
    expect(newerOf(rows(3, 2, 1), page).changed).toBe(true);
  });
  it('tells that one in between or all were removed', () => {
    expect(newerOf(rows(3, 2, 1), rows(3, 1)).changed).toBe(true);
    expect(newerOf(rows(3, 2, 1), []).changed).toBe(true);
    expect(newerOf(rows(3, 2, 1), rows(2, 1)).changed).toBe(true);
  });
  it('is all there is where nothing is shown', () => {
    expect(newerOf([], rows(2, 1))).toMatchObject({ gap: false, changed: false });
  });
});

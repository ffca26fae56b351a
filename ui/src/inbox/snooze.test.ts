import { describe, expect, it } from 'vitest';
import { latest, untilText, wakeTimes } from './snooze';

const NOW = new Date(2026, 4, 6, 22, 30);
const inMinutes = (minutes: number): string => new Date(NOW.getTime() + minutes * 60_000).toISOString();

describe('putting a request aside', () => {
  it('offers ten minutes, an hour and tomorrow morning', () => {
    expect(wakeTimes(NOW, null)).toEqual([
      { name: '10 minutes', at: inMinutes(10) },
      { name: '1 hour', at: inMinutes(60) },
      { name: 'Tomorrow morning', at: new Date(2026, 4, 7, 9).toISOString() },
    ]);
  });

  it('offers nothing past the deadline', () => {
    expect(wakeTimes(NOW, inMinutes(30)).map((one) => one.name)).toEqual(['10 minutes']);
    expect(wakeTimes(NOW, inMinutes(5))).toEqual([]);
  });

  it('takes a time of the person from now until the deadline, or for thirty days', () => {
    const month = 30 * 24 * 60;
    expect(untilText('2026-05-06T23:00', NOW.getTime(), null)).toBe(inMinutes(30));
    expect(untilText('2026-05-06T22:00', NOW.getTime(), null)).toBeNull();
    expect(untilText('2026-05-06T23:00', NOW.getTime(), inMinutes(30))).toBeNull();
    expect(untilText('2027-01-01T00:00', NOW.getTime(), null)).toBeNull();
    expect(untilText('soon', NOW.getTime(), null)).toBeNull();
    expect(latest(NOW.getTime(), null)).toBe(inMinutes(month));
  });
});

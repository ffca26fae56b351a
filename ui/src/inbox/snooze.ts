const MINUTE = 60_000;
/** The longest that a request can be put aside. */
const LONGEST = 30 * 24 * 60 * MINUTE;
/** When a morning begins. */
const MORNING = 9;

/** A time to be asked again, with what it is called. */
export interface WakeTime {
  name: string;
  /** As the host takes it. */
  at: string;
}

/** The latest time until which a request can be put aside: before its deadline. */
export function latest(now: number, expires: string | null): string {
  const most = now + LONGEST;
  return new Date(expires === null ? most : Math.min(most, Date.parse(expires))).toISOString();
}

/** What is offered, as far as it lies before the deadline. */
export function wakeTimes(now: Date, expires: string | null): WakeTime[] {
  const morning = new Date(now);
  morning.setDate(morning.getDate() + 1);
  morning.setHours(MORNING, 0, 0, 0);
  const most = latest(now.getTime(), expires);
  return [
    { name: '10 minutes', at: new Date(now.getTime() + 10 * MINUTE).toISOString() },
    { name: '1 hour', at: new Date(now.getTime() + 60 * MINUTE).toISOString() },
    { name: 'Tomorrow morning', at: morning.toISOString() },
  ].filter(({ at }) => at < most);
}

/** What a person chose in local time, as the host takes it; null where it is past, too late or no time. */
export function untilText(local: string, now: number, expires: string | null): string | null {
  const chosen = Date.parse(local);
  if (Number.isNaN(chosen) || chosen <= now) return null;
  const text = new Date(chosen).toISOString();
  return text < latest(now, expires) ? text : null;
}


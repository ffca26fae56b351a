const HOUR = 3_600_000;
/** When a day begins for people. */
const MORNING = 8;

/** Until when notifications are paused. */
export function pauseUntil(how: 'hour' | 'tomorrow', now: number): string {
  if (how === 'hour') return new Date(now + HOUR).toISOString();
  const time = new Date(now);
  return new Date(time.getFullYear(), time.getMonth(), time.getDate() + 1, MORNING).toISOString();
}

/** Whether a pause still lasts. */
export function isPaused(until: string | null, now: number): boolean {
  return until !== null && Date.parse(until) > now;
}

/** What is wrong with a time of day that was typed; null when it is one. */
export function wrongTime(typed: string): string | null {
  return /^([01]\d|2[0-3]):[0-5]\d$/.test(typed) ? null : 'Enter a time such as 22:00.';
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A request whose deadline is nearer than this stands under "Expires soon". */
export const SOON = 15 * MINUTE;

const two = (n: number): string => String(n).padStart(2, '0');

function count(n: number, one: string, many: string): string {
  return `${n} ${n === 1 ? one : many}`;
}

/** How long ago, in a few characters: `now`, `6 min`, `3 h`, then the date. */
export function ago(at: string, now: number): string {
  const age = now - Date.parse(at);
  if (age < MINUTE) return 'now';
  if (age < HOUR) return `${Math.floor(age / MINUTE)} min`;
  if (age < DAY) return `${Math.floor(age / HOUR)} h`;
  return date(at, now);
}

/** How much time is left: `3:41`, `2 h 5 min`, `4 days`. */
export function left(deadline: string, now: number): string {
  const rest = Date.parse(deadline) - now;
  if (rest <= 0) return '0:00';
  if (rest < HOUR) return `${Math.floor(rest / MINUTE)}:${two(Math.floor((rest % MINUTE) / SECOND))}`;
  if (rest < DAY) return `${Math.floor(rest / HOUR)} h ${Math.floor((rest % HOUR) / MINUTE)} min`;
  return count(Math.floor(rest / DAY), 'day', 'days');
}

/** Whether a deadline is near. */
export function isSoon(deadline: string | null, now: number): boolean {
  return deadline !== null && Date.parse(deadline) - now < SOON;
}

/** The time of day: `14:02:11`. */
export function clock(at: string): string {
  const time = new Date(at);
  return `${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}`;
}

/** The time of day on the day itself, else the date with it: `14:02`, `3 Mar 14:02`. */
export function moment(at: string, now: number): string {
  const time = new Date(at);
  const minutes = `${two(time.getHours())}:${two(time.getMinutes())}`;
  return new Date(now).toDateString() === time.toDateString() ? minutes : `${date(at, now)} ${minutes}`;
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** The day: `3 Mar`, with the year when it is another. */
export function date(at: string, now: number): string {
  const time = new Date(at);
  const day = `${time.getDate()} ${MONTHS[time.getMonth()]}`;
  return time.getFullYear() === new Date(now).getFullYear() ? day : `${day} ${time.getFullYear()}`;
}

/** Everything, for a tooltip. */
export function exact(at: string): string {
  const time = new Date(at);
  return `${time.getDate()} ${MONTHS[time.getMonth()]} ${time.getFullYear()} ${clock(at)}`;
}

/** How long something took: `14 s`, `6 min`, `3 h`, `2 days`. */
export function took(from: string, to: string): string {
  const length = Math.max(0, Date.parse(to) - Date.parse(from));
  if (length < MINUTE) return `${Math.floor(length / SECOND)} s`;
  if (length < HOUR) return `${Math.floor(length / MINUTE)} min`;
  if (length < DAY) return `${Math.floor(length / HOUR)} h`;
  return count(Math.floor(length / DAY), 'day', 'days');
}

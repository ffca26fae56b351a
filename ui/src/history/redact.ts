import type { Redacted } from '../bindings/Redacted';
import { plural } from '../text/words';

/** Where the text stands that would be erased, in words; null where it stands nowhere. */
export function foundWords({ entries, fields, requests, places }: Redacted): string | null {
  const where = [
    ...(entries + fields > 0 ? [`${plural(fields, 'content', 'contents')} of ${plural(entries, 'entry', 'entries')} of the record`] : []),
    ...(requests > 0 ? [plural(requests, 'decided request', 'decided requests')] : []),
    ...(places > 0 ? [plural(places, 'other text', 'other texts')] : []),
  ];
  const last = where.pop();
  if (last === undefined) return null;
  return where.length === 0 ? last : `${where.join(', ')} and ${last}`;
}

/** What is left alone as it goes on, in words; null for none. */
export function runningWords({ running }: Redacted): string | null {
  if (running === 0) return null;
  const [what, hold, end] = running === 1 ? ['request or run that goes on holds', 'is', 'it has'] : ['requests and runs that go on hold', 'are', 'they have'];
  return `${running.toLocaleString('en')} ${what} it and ${hold} left alone. Erase it again once ${end} ended.`;
}

/** Shorter ones would take pieces out of words that have nothing to do with them. */
const SHORTEST = 4;

/** What speaks against erasing a text; null when nothing does. */
export function wrongText(text: string): string | null {
  if (text.trim() === '') return 'Enter the text to erase.';
  return [...text.trim()].length < SHORTEST ? `Enter at least ${SHORTEST} characters, so that nothing else is erased with it.` : null;
}

import type { Redacted } from '../bindings/Redacted';
import { plural } from '../text/words';

/** What would be erased, in words; null where the text is nowhere. */
export function foundWords({ entries, fields, requests }: Redacted): string | null {
  if (entries + fields + requests === 0) return null;
  const where = [
    ...(fields > 0 || entries > 0 ? [`${plural(fields, 'place', 'places')} in ${plural(entries, 'entry', 'entries')} of the record`] : []),
    ...(requests > 0 ? [plural(requests, 'request', 'requests')] : []),
  ];
  return `It stands in ${where.join(' and in ')}.`;
}

/** What is left alone as its run goes on, in words; null for none. */
export function runningWords({ running }: Redacted): string | null {
  if (running === 0) return null;
  return `${plural(running, 'place', 'places')} in runs that have not ended ${running === 1 ? 'is' : 'are'} not touched. Erase it again once they have ended.`;
}

/** Shorter ones would take pieces out of words that have nothing to do with them. */
const SHORTEST = 4;

/** What speaks against erasing a text; null when nothing does. */
export function wrongText(text: string): string | null {
  if (text.trim() === '') return 'Enter the text to erase.';
  return [...text].length < SHORTEST ? `Enter at least ${SHORTEST} characters, so that nothing else is erased with it.` : null;
}

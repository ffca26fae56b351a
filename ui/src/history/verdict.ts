import type { Verification } from '../bindings/Verification';
import { plural } from '../text/words';

const PROBLEMS = {
  changed: 'its content differs from what was recorded',
  removed: 'an entry before it is missing',
  inserted: 'it does not follow the one before it',
  truncated: 'the record ends there, before its last entry',
};

/** What a verification found, in words. */
export function verdictWords({ ok, entries, entry, problem }: Verification, withHead = false): string {
  if (ok) {
    const intact = `The record is intact: ${plural(entries, 'entry', 'entries')}, each following from the one before.`;
    return withHead ? `${intact} The head that you noted is among them, so nothing up to it was cut off.` : intact;
  }
  const where = entry === null ? 'the record' : `entry ${entry.toLocaleString('en')}`;
  const what = problem === null ? 'it cannot be read' : PROBLEMS[problem];
  return `The record was changed outside of Sayso. First at ${where}: ${what}. Nothing was repaired; a backup may hold the original.`;
}

/** A head as it was pasted: without the blanks, quotes and line breaks that come with copying. */
export function headOf(pasted: string): string {
  return pasted.replaceAll(/[\s"'`]/g, '').toLowerCase();
}

/** What is wrong with a head that was pasted; null when it can be one. Nothing pasted is no head. */
export function wrongHead(pasted: string): string | null {
  const head = headOf(pasted);
  return head === '' || /^[0-9a-f]{64}$/.test(head) ? null : 'A head is 64 digits, from 0 to 9 and a to f. Copy all of it.';
}

import type { Verification } from '../bindings/Verification';
import { plural } from '../text/words';

const PROBLEMS = {
  changed: 'its content differs from what was recorded',
  removed: 'an entry before it is missing',
  inserted: 'it does not follow the one before it',
  truncated: 'the record ends there, before its last entry',
};

/** What a verification found, in words. */
export function verdictWords({ ok, entries, entry, problem }: Verification): string {
  if (ok) return `The record is intact: ${plural(entries, 'entry', 'entries')}, each following from the one before.`;
  const where = entry === null ? 'the record' : `entry ${entry.toLocaleString('en')}`;
  const what = problem === null ? 'it cannot be read' : PROBLEMS[problem];
  return `The record was changed outside of Sayso. First at ${where}: ${what}. Nothing was repaired; a backup may hold the original.`;
}

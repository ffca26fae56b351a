import type { Retention } from '../bindings/Retention';
import type { StorageInfo } from '../bindings/StorageInfo';
import { plural } from '../text/words';

/** A size as a person reads it: `512 bytes`, `3.4 MB`, `1.2 GB`. */
export function sizeWord(bytes: number): string {
  if (bytes < 1000) return plural(bytes, 'byte', 'bytes');
  const units = ['kB', 'MB', 'GB', 'TB'];
  let [value, unit] = [bytes / 1000, 0];
  while (value >= 999.5 && unit < units.length - 1) [value, unit] = [value / 1000, unit + 1];
  return `${value < 9.95 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}

/** What retention does, in words. */
export function retentionWords({ days, megabytes }: Retention): string {
  const age = days === null ? '' : `Days that are more than ${plural(days, 'day', 'days')} old are removed. `;
  const size = megabytes === null ? '' : `When there is more than ${sizeWord(megabytes * 1_000_000)}, the oldest days are removed. `;
  if (age === '' && size === '') return 'Every decision is kept.';
  return `${age}${size}What is left still verifies, and a summary of each removed day stays.`;
}

/** What is wrong with a bound that was typed; null when it can be one. Nothing typed means no bound. */
export function wrongBound(typed: string, unit: 'days' | 'megabytes'): string | null {
  if (typed.trim() === '') return null;
  const number = Number(typed);
  if (!Number.isInteger(number) || number < 1) return `Enter a whole number of ${unit}, 1 or more, or nothing to keep all.`;
  return number > 1_000_000 ? `Enter at most 1,000,000 ${unit}, or nothing to keep all.` : null;
}

/** The bound that was typed; null for none. */
export function boundOf(typed: string): number | null {
  return typed.trim() === '' ? null : Number(typed);
}

/** How much room compaction gives back, in words. */
export function freeWords({ bytes, free_bytes }: Pick<StorageInfo, 'bytes' | 'free_bytes'>): string {
  if (free_bytes <= 0 || bytes <= 0) return 'Nothing to give back.';
  return `${sizeWord(free_bytes)} of it can be given back.`;
}

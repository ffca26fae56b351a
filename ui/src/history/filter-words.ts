import type { Count } from '../bindings/Count';
import type { HistoryCounts } from '../bindings/HistoryCounts';
import { count } from '../text/words';
import { dayWord } from './chart-data';
import { type Filter, type FilterName, NAMES, dayOf } from './filter';

/** Filters that are chosen from what there is. */
export const FACETS = ['outcome', 'source', 'kind', 'decided_by', 'surface', 'tool', 'risk'] as const;
export type Facet = (typeof FACETS)[number];

/** What a filter is called, and what it says when it is off. */
export const FACET_WORDS: Record<Facet, { name: string; any: string }> = {
  outcome: { name: 'Outcome', any: 'Any outcome' },
  source: { name: 'Agent or sender', any: 'Everyone' },
  kind: { name: 'Kind', any: 'Any kind' },
  decided_by: { name: 'Decided by', any: 'Anyone' },
  surface: { name: 'Decided where', any: 'Anywhere' },
  tool: { name: 'Tool', any: 'Any tool' },
  risk: { name: 'Risk', any: 'Any risk' },
};

const VALUES: Partial<Record<FilterName, Record<string, string>>> = {
  outcome: { approved: 'Approved', answered: 'Answered', declined: 'Denied or declined', cancelled: 'Cancelled', expired: 'Expired' },
  decided_by: { person: 'You', rule: 'A rule', deadline: 'The deadline', source: 'Whoever asked', stop: 'Stopping the run' },
  surface: { window: 'Window', notification: 'Notification', tray: 'Tray', cli: 'Terminal', browser: 'Browser' },
  risk: { low: 'Low risk', medium: 'Medium risk', high: 'High risk' },
  kind: { approval: 'Approval', input: 'Details', question: 'Question', authorization: 'Sign-in' },
};

/** A filter's value as a person reads it. */
export function valueWord(name: FilterName, value: string): string {
  return VALUES[name]?.[value] ?? value;
}

export interface Option {
  value: string;
  /** With how many there are, where that is known. */
  text: string;
}

/** What can be chosen: what there is, most first, and what is chosen now even where there is none. */
export function optionsOf(facet: Facet, counts: HistoryCounts | null, chosen: string | undefined): Option[] {
  const there: readonly Count[] = counts?.[facet] ?? [];
  const options = there
    .filter((one) => one.value !== '')
    .map(({ value, count: many }) => ({ value, text: `${valueWord(facet, value)} (${countWord(many, counts?.capped === true)})` }));
  if (chosen !== undefined && !options.some((one) => one.value === chosen))
    options.push({ value: chosen, text: counts === null ? valueWord(facet, chosen) : `${valueWord(facet, chosen)} (0)` });
  return options;
}

const CAP = 10_000;

/** `1,284`, or `10,000+` where no more were counted. */
export function countWord(many: number, capped: boolean): string {
  return capped && many >= CAP ? `${count(CAP)}+` : count(many);
}

/** How many decisions match: `1 decision`, `10,000+ decisions`. */
export function totalWords({ total, capped }: Pick<HistoryCounts, 'total' | 'capped'>): string {
  const number = countWord(Math.max(total, capped ? CAP : 0), capped);
  return `${number} ${number === '1' ? 'decision' : 'decisions'}`;
}

export interface Chip {
  /** What it takes away. */
  names: FilterName[];
  text: string;
}

const LABELS: Partial<Record<FilterName, string>> = { source: 'From', tool: 'Tool', run: 'Run', decided_by: 'Decided by', surface: 'Decided in', kind: 'Kind' };

/** What is filtered by, one chip for each. */
export function chipsOf(filter: Filter, now: number): Chip[] {
  const chips: Chip[] = [];
  for (const name of NAMES) {
    const value = filter[name];
    if (value === undefined || name === 'since' || name === 'until') continue;
    const word = valueWord(name, value);
    if (name === 'text') chips.push({ names: [name], text: `“${value.trim()}”` });
    else if (name === 'run') chips.push({ names: [name], text: 'One run' });
    else chips.push({ names: [name], text: LABELS[name] === undefined ? word : `${LABELS[name]}: ${word}` });
  }
  const dates = datesWord(filter, now);
  if (dates !== null) chips.push({ names: ['since', 'until'], text: dates });
  return chips;
}

/** The dates that are filtered by: `1 Nov – 30 Nov`, `since 1 Nov`, `until 30 Nov`; null for none. */
function datesWord({ since, until }: Filter, now: number): string | null {
  const word = (value: string): string => dayWord(value.length === 10 ? value : dayOf(Date.parse(value)), now);
  if (since !== undefined && until !== undefined) {
    const [first, last] = [word(since), word(until)];
    return first === last ? first : `${first} – ${last}`;
  }
  if (since !== undefined) return `Since ${word(since)}`;
  return until === undefined ? null : `Until ${word(until)}`;
}

/** All that is filtered by, as words for a sentence: `decisions: Expired, From: deploy-bot`. */
export function filterWords(filter: Filter, now: number): string {
  const chips = chipsOf(filter, now);
  return chips.length === 0 ? 'Every decision' : `Decisions that match ${chips.map((chip) => chip.text).join(', ')}`;
}

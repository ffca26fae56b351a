import type { RequestDetail } from '../bindings/RequestDetail';
import type { Risk } from '../bindings/Risk';

/** A note as it is shown; one that is not about a risk that we found has no level. */
export interface Note {
  text: string;
  level: Risk | null;
}

/** What a note's level is called. */
export const RISK: Record<Risk, string> = { low: 'Low', medium: 'Medium', high: 'High' };

const ORDER: Record<Risk, number> = { high: 0, medium: 1, low: 2 };

/**
 * The notes that were stored with a request, and those that are found now and were not, such as for a sender's request.
 * The gravest come first; what others noted keeps its place before what is low.
 */
export function notesOf({ notes, marks }: Pick<RequestDetail, 'notes' | 'marks'>): Note[] {
  const stored = notes.map((text) => ({ text, level: marks.find((mark) => mark.text === text)?.level ?? null }));
  const found = marks.filter((mark) => !notes.includes(mark.text)).map(({ text, level }) => ({ text, level }));
  return [...stored, ...found].sort((a, b) => ORDER[a.level ?? 'medium'] - ORDER[b.level ?? 'medium']);
}

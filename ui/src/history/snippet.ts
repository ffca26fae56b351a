import type { HistorySnippet } from '../bindings/HistorySnippet';

/** A piece of a text, found or not. */
export interface Piece {
  text: string;
  found: boolean;
}

/**
 * The pieces of a text; together they are the whole of it. Marks may overlap, stand in any order or reach beyond the
 * text: what of them is in it counts. None begins or ends within a surrogate pair.
 */
export function pieces(text: string, marks: readonly (readonly [number, number])[]): Piece[] {
  const within = marks
    .map(([from, to]): [number, number] => [start(text, from), end(text, to)])
    .filter(([from, to]) => from < to)
    .sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const found: Piece[] = [];
  let at = 0;
  for (const [from, to] of within) {
    if (to <= at) continue;
    if (from > at) found.push({ text: text.slice(at, from), found: false });
    const last = found.at(-1);
    const piece = text.slice(Math.max(from, at), to);
    if (from <= at && last?.found === true) last.text += piece;
    else found.push({ text: piece, found: true });
    at = to;
  }
  if (at < text.length) found.push({ text: text.slice(at), found: false });
  return found;
}

const clamp = (text: string, at: number): number => (Number.isFinite(at) ? Math.min(Math.max(Math.trunc(at), 0), text.length) : 0);
const splits = (text: string, at: number): boolean => (text.codePointAt(at - 1) ?? 0) > 0xffff;

function start(text: string, from: number): number {
  const at = clamp(text, from);
  return splits(text, at) ? at - 1 : at;
}

function end(text: string, to: number): number {
  const at = clamp(text, to);
  return splits(text, at) ? at + 1 : at;
}

const FIELDS: Record<string, string> = {
  prompt: 'Prompt',
  arguments: 'Arguments',
  edited: 'Edited arguments',
  edited_arguments: 'Edited arguments',
  reason: 'Reason',
  output: 'Output',
  names: 'Names',
  folder: 'Folder',
  answer: 'Answer',
};

/** What the part of a decision is called in which the words were found. */
export function fieldWord(field: HistorySnippet['field']): string {
  return FIELDS[field] ?? field;
}

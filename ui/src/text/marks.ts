import type { Risk } from '../bindings/Risk';
import type { RiskMark } from '../bindings/RiskMark';

/** A piece of a text, and what is said about it where something is. */
export interface Piece {
  text: string;
  level: Risk | null;
  note: string;
}

const WEIGHT: Record<Risk, number> = { low: 1, medium: 2, high: 3 };

/**
 * The pieces of a text in order, together the whole of it, with its marked parts apart. Marks count bytes of UTF-8; where
 * several are about one part, the gravest colours it and all of them are said. A mark that fits no text marks nothing.
 */
export function piecesOf(text: string, marks: readonly RiskMark[]): Piece[] {
  const at = unitsOf(text, marks.flatMap(({ start, end }) => [start, end]).filter((one) => one !== null));
  const ranges = marks.flatMap((mark) => {
    const [start, end] = [at.get(mark.start ?? -1), at.get(mark.end ?? -1)];
    return start === undefined || end === undefined || start >= end ? [] : [{ ...mark, start, end }];
  });
  const edges = [...new Set([0, text.length, ...ranges.flatMap(({ start, end }) => [start, end])])].sort((a, b) => a - b);
  const pieces: Piece[] = [];
  for (const [index, start] of edges.entries()) {
    const end = edges[index + 1];
    if (end === undefined) break;
    const over = ranges.filter((one) => one.start <= start && one.end >= end);
    const gravest = over.toSorted((a, b) => WEIGHT[b.level] - WEIGHT[a.level])[0];
    pieces.push({ text: text.slice(start, end), level: gravest?.level ?? null, note: [...new Set(over.map((one) => one.text))].join(' ') });
  }
  return pieces;
}

/** Where bytes of UTF-8 stand in the text as JavaScript counts; one within a character stands nowhere. */
function unitsOf(text: string, bytes: readonly number[]): Map<number, number> {
  const wanted = new Set(bytes);
  const found = new Map<number, number>();
  let byte = 0;
  for (let unit = 0; unit <= text.length && wanted.size > 0; ) {
    if (wanted.delete(byte)) found.set(byte, unit);
    const code = text.codePointAt(unit);
    if (code === undefined) break;
    unit += code > 0xffff ? 2 : 1;
    byte += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  }
  return found;
}

/** Lines around a change that are shown with it. */
const CONTEXT = 3;
/** Above so many cells the lines are not matched: all that differs is replaced. */
const MOST_CELLS = 4_000_000;

interface Line {
  sign: ' ' | '-' | '+';
  text: string;
}

/** What makes one list of lines of another, as a unified diff; empty where they are the same. */
export function compare(before: readonly string[], after: readonly string[]): string {
  const lines = changes(before, after);
  return hunks(lines)
    .map(([from, to]) => hunk(lines, from, to))
    .join('');
}

function changes(before: readonly string[], after: readonly string[]): Line[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < before.length - start && end < after.length - start && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  const same = (lines: readonly string[]): Line[] => lines.map((text) => ({ sign: ' ', text }));
  return [
    ...same(before.slice(0, start)),
    ...between(before.slice(start, before.length - end), after.slice(start, after.length - end)),
    ...same(before.slice(before.length - end)),
  ];
}

/** By the longest common subsequence. */
function between(before: readonly string[], after: readonly string[]): Line[] {
  const [rows, columns] = [before.length, after.length];
  if (rows * columns > MOST_CELLS) return [...removed(before), ...added(after)];
  const width = columns + 1;
  const longest = new Uint32Array((rows + 1) * width);
  const at = (row: number, column: number): number => longest[row * width + column] ?? 0;
  for (let row = rows - 1; row >= 0; row -= 1)
    for (let column = columns - 1; column >= 0; column -= 1)
      longest[row * width + column] =
        before[row] === after[column] ? at(row + 1, column + 1) + 1 : Math.max(at(row + 1, column), at(row, column + 1));
  const lines: Line[] = [];
  let [row, column] = [0, 0];
  while (row < rows && column < columns) {
    if (before[row] === after[column]) {
      lines.push({ sign: ' ', text: before[row] ?? '' });
      row += 1;
      column += 1;
    } else if (at(row + 1, column) >= at(row, column + 1)) lines.push(...removed(before.slice(row, ++row)));
    else lines.push(...added(after.slice(column, ++column)));
  }
  return [...lines, ...removed(before.slice(row)), ...added(after.slice(column))];
}

const removed = (lines: readonly string[]): Line[] => lines.map((text) => ({ sign: '-', text }));
const added = (lines: readonly string[]): Line[] => lines.map((text) => ({ sign: '+', text }));

/** Where changes stand with what is around them: from, to. */
function hunks(lines: readonly Line[]): [number, number][] {
  const found: [number, number][] = [];
  lines.forEach((line, at) => {
    if (line.sign === ' ') return;
    const [from, to] = [Math.max(0, at - CONTEXT), Math.min(lines.length, at + CONTEXT + 1)];
    const last = found.at(-1);
    if (last !== undefined && from <= last[1]) last[1] = to;
    else found.push([from, to]);
  });
  return found;
}

function hunk(lines: readonly Line[], from: number, to: number): string {
  const count = (some: readonly Line[], without: string): number => some.filter((line) => line.sign !== without).length;
  const [ahead, inside] = [lines.slice(0, from), lines.slice(from, to)];
  const place = (without: '-' | '+'): string => `${count(ahead, without) + 1},${count(inside, without)}`;
  return `@@ -${place('+')} +${place('-')} @@\n${inside.map((line) => `${line.sign}${line.text}\n`).join('')}`;
}

/** A line of a unified diff. */
export interface DiffLine {
  kind: 'header' | 'hunk' | 'add' | 'remove' | 'same';
  text: string;
}

/** The lines of a unified diff with their kinds, and how many were added and removed. */
export function readDiff(diff: string): { lines: DiffLine[]; added: number; removed: number } {
  const lines: DiffLine[] = [];
  let added = 0;
  let removed = 0;
  let inHunk = false;
  for (const text of diff.replace(/\n$/, '').split('\n')) {
    if (text.startsWith('@@')) {
      inHunk = true;
      lines.push({ kind: 'hunk', text });
    } else if (!inHunk && (text.startsWith('--- ') || text.startsWith('+++ '))) {
      lines.push({ kind: 'header', text });
    } else if (text.startsWith('+')) {
      added += 1;
      lines.push({ kind: 'add', text });
    } else if (text.startsWith('-')) {
      removed += 1;
      lines.push({ kind: 'remove', text });
    } else {
      lines.push({ kind: 'same', text });
    }
  }
  return { lines, added, removed };
}

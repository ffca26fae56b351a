/** A text cut for showing: the head, and how much of it is left out. */
export interface Cut {
  head: string;
  /** Characters left out; 0 when the whole text is shown. */
  more: number;
}

export interface Limit {
  characters: number;
  lines: number;
}

/** Cuts after so many lines or characters, never within a surrogate pair. What is left out is always counted. */
export function cut(text: string, limit: Limit): Cut {
  let end = Math.min(text.length, limit.characters);
  let at = -1;
  for (let line = 0; line < limit.lines; line += 1) {
    at = text.indexOf('\n', at + 1);
    if (at === -1 || at >= end) break;
    if (line === limit.lines - 1) end = at;
  }
  const code = text.charCodeAt(end - 1);
  if (end > 0 && end < text.length && code >= 0xd800 && code <= 0xdbff) end -= 1;
  const tail = text.slice(end);
  return tail.length === 0 ? { head: text, more: 0 } : { head: text.slice(0, end), more: [...tail].length };
}

/** Which cut parts of what is shown were not opened yet: Approve waits for all of them. */
export class Tails {
  #closed = new Set<string>();

  /** A part is shown cut. */
  cut(part: string): void {
    this.#closed.add(part);
  }

  /** A part is shown whole, or no longer shown. */
  opened(part: string): void {
    this.#closed.delete(part);
  }

  /** How many parts still hide a tail. */
  get closed(): number {
    return this.#closed.size;
  }
}

import { HIDDEN_RANGES } from '../bindings/hidden';

/** A piece of text from outside. A hidden character carries its code point, as `U+202E`. */
export type Segment = { hidden: false; text: string } | { hidden: true; text: string; label: string };

/** Whether a character would hide, or change how others show. */
export function isHidden(code: number): boolean {
  let low = 0;
  let high = HIDDEN_RANGES.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const [first, last] = HIDDEN_RANGES[middle] ?? [0, 0];
    if (code < first) high = middle - 1;
    else if (code > last) low = middle + 1;
    else return true;
  }
  return false;
}

/** How a hidden character is shown. */
export function label(code: number): string {
  return `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
}

/** The pieces of a text in order; together they are the whole of it. Half a surrogate pair counts as hidden. */
export function segments(text: string): Segment[] {
  const found: Segment[] = [];
  let plain = 0;
  for (let at = 0; at < text.length; ) {
    const code = text.codePointAt(at) ?? 0;
    const size = code > 0xffff ? 2 : 1;
    if (isHidden(code) || (code >= 0xd800 && code <= 0xdfff)) {
      if (plain < at) found.push({ hidden: false, text: text.slice(plain, at) });
      found.push({ hidden: true, text: text.slice(at, at + size), label: label(code) });
      plain = at + size;
    }
    at += size;
  }
  if (plain < text.length) found.push({ hidden: false, text: text.slice(plain) });
  return found;
}

/** Whether any character of a text hides. */
export function hasHidden(text: string): boolean {
  return segments(text).some((segment) => segment.hidden);
}

/** The text with every hidden character as `‹U+XXXX›`, for names and titles that hold no markup. */
export function visible(text: string): string {
  return segments(text)
    .map((segment) => (segment.hidden ? `‹${segment.label}›` : segment.text))
    .join('');
}

/** Newlines and tabs shown, for a place with one line. */
export function oneLine(text: string): string {
  return text.replaceAll('\n', '⏎').replaceAll('\t', '⇥');
}

import { HIDDEN_RANGES, LOOKALIKES } from '../bindings/hidden';

/** A piece of text from outside. A hidden character, or one that is not what it seems, carries what it is, as `U+202E` or
 * `U+0430 like a`. */
export type Segment = { hidden: false; text: string } | { hidden: true; text: string; label: string };

/** Letters and digits in mathematical styles: no language is written in them. */
const STYLED = [0x1d400, 0x1d7ff] as const;
/** The alphabets whose letters the Latin ones are mistaken for: Greek, Cyrillic, Armenian. */
const ALPHABETS = [
  [0x370, 0x3ff],
  [0x400, 0x52f],
  [0x531, 0x587],
] as const;

const LIKE = new Map(LOOKALIKES.flatMap(([like, codes]) => codes.map((code) => [code, like] as const)));

/** For each of the alphabets, the Latin letters that one of its own passes for, with the first that does. */
const TWINS = ALPHABETS.map(([first, last]) => {
  const twins = new Map<string, string>();
  for (let code = first; code <= last; code += 1) {
    const like = LIKE.get(code);
    if (like && /^[A-Za-z]$/.test(like) && !twins.has(like)) twins.set(like, String.fromCodePoint(code));
  }
  return twins;
});

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

/** How a hidden character, or one that looks like another, is shown. */
export function label(code: number, like?: string): string {
  const name = `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
  return like === undefined ? name : `${name} like ${like}`;
}

/** The pieces of a text in order; together they are the whole of it. Half a surrogate pair counts as hidden. */
export function segments(text: string): Segment[] {
  return read(text, []);
}

/** The same for a text that a shell is to run: there each letter in a program's name is marked that is not plain. */
export function commandSegments(text: string): Segment[] {
  return read(text, programNames(text));
}

type Span = readonly [start: number, end: number];

function read(text: string, strict: Span[]): Segment[] {
  const odd = oddPlaces(text, strict);
  const found: Segment[] = [];
  let plain = 0;
  for (let at = 0; at < text.length; ) {
    const code = text.codePointAt(at) ?? 0;
    const size = code > 0xffff ? 2 : 1;
    const hides = isHidden(code) || (code >= 0xd800 && code <= 0xdfff);
    if (hides || odd.has(at)) {
      if (plain < at) found.push({ hidden: false, text: text.slice(plain, at) });
      const like = hides ? undefined : odd.get(at);
      found.push({ hidden: true, text: text.slice(at, at + size), label: label(code, like) });
      plain = at + size;
    }
    at += size;
  }
  if (plain < text.length) found.push({ hidden: false, text: text.slice(plain) });
  return found;
}

/** The letters that are not what they seem: where, and what each looks like, where that is known. */
function oddPlaces(text: string, strict: Span[]): Map<number, string | undefined> {
  const odd = new Map<number, string | undefined>();
  if (/^[\u0000-\u007f]*$/.test(text)) return odd;
  for (const word of text.matchAll(/[\p{L}\p{M}\p{N}]+/gu)) oddLetters(word[0], word.index, odd);
  for (const [start, end] of [...hosts(text), ...strict]) {
    let at = start;
    for (const letter of text.slice(start, end)) {
      const code = letter.codePointAt(0) ?? 0;
      if (code > 0x7f && /[\p{L}\p{M}\p{N}]/u.test(letter)) odd.set(at, LIKE.get(code));
      at += letter.length;
    }
  }
  return odd;
}

/** Marks the letters of a word that are not what they seem: where it mixes scripts, the fewer of those that pass for the
 * others. A word in one script has none. */
function oddLetters(word: string, start: number, odd: Map<number, string | undefined>): void {
  const letters = [...word];
  const latin = letters.filter((letter) => /^[A-Za-z]$/.test(letter)).length;
  const others = letters.map(alphabetOf).filter((alphabet) => alphabet >= 0);
  const mark = (like: (letter: string) => string | undefined): void => {
    let at = start;
    for (const letter of letters) {
      const what = like(letter);
      if (what !== undefined) odd.set(at, what);
      at += letter.length;
    }
  };
  const twins = TWINS[others[0] ?? -1];
  if (twins && latin > 0 && latin < others.length && letters.some((letter) => twins.has(letter))) {
    mark((letter) => twins.get(letter));
    return;
  }
  mark((letter) => {
    const code = letter.codePointAt(0) ?? 0;
    return latin > 0 || (code >= STYLED[0] && code <= STYLED[1]) ? LIKE.get(code) : undefined;
  });
}

function alphabetOf(letter: string): number {
  const code = letter.codePointAt(0) ?? 0;
  return ALPHABETS.findIndex(([first, last]) => code >= first && code <= last);
}

/** What stands between `://` and the path. */
function hosts(text: string): Span[] {
  return [...text.matchAll(/:\/\/([^\s/?#"'<>()[\]{}`|]*)/gu)].map((match) => {
    const start = match.index + 3;
    return [start, start + (match[1] ?? '').length];
  });
}

/** The first word of each command, as far as can be told without a shell; what only looks like one is marked too. */
function programNames(text: string): Span[] {
  const names: Span[] = [];
  let quote: string | null = null;
  let start: number | null = 0;
  for (let at = 0; at < text.length; at += 1) {
    const c = text[at] ?? '';
    const begins = quote === null && '\n;|&(){}`'.includes(c);
    const ends = begins || (quote === null && (/\s/u.test(c) || c === '<' || c === '>'));
    if (start !== null && ends) {
      const word = text.slice(start, at);
      // What is set for a command comes before its name.
      const goesOn = word === '' || word.includes('=');
      if (!goesOn) names.push([start, at]);
      start = goesOn ? at + 1 : null;
    }
    if (begins) start = at + 1;
    if (quote === null && (c === "'" || c === '"')) quote = c;
    else if (quote === c) quote = null;
  }
  if (start !== null) names.push([start, text.length]);
  return names;
}

/** Whether any character of a text hides, or is not what it seems. */
export function hasHidden(text: string): boolean {
  return segments(text).some((segment) => segment.hidden);
}

/** The text with every hidden character as `‹U+XXXX›`, and every letter that is not what it seems as `‹U+XXXX like a›`, for names
 * and titles that hold no markup. */
export function visible(text: string): string {
  return segments(text)
    .map((segment) => (segment.hidden ? `‹${segment.label}›` : segment.text))
    .join('');
}

/** Newlines and tabs shown, for a place with one line. */
export function oneLine(text: string): string {
  return text.replaceAll('\n', '⏎').replaceAll('\t', '⇥');
}

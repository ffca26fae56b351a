import { describe, expect, it } from 'vitest';
import cases from './hidden.cases.json';
import { commandSegments, hasHidden, oneLine, segments, visible } from './hidden';

describe('hidden characters', () => {
  it.each([
    ['plain text, ünïcödé, 漢字, 🙂', 'plain text, ünïcödé, 漢字, 🙂'],
    ['line\nbreak\tand tab', 'line\nbreak\tand tab'],
    ['a\u202eb', 'a‹U+202E›b'],
    ['zero\u200bwidth\u200d', 'zero‹U+200B›width‹U+200D›'],
    ['nul\u0000 esc\u001b[31m', 'nul‹U+0000› esc‹U+001B›[31m'],
    ['no-break\u00a0space', 'no-break‹U+00A0›space'],
    ['tag\u{e0041}', 'tag‹U+E0041›'],
    ['filler\u3164 braille\u2800', 'filler‹U+3164› braille‹U+2800›'],
    ['bom\ufeff', 'bom‹U+FEFF›'],
    ['half \ud800 pair', 'half ‹U+D800› pair'],
    ['carriage\r\nreturn', 'carriage‹U+000D›\nreturn'],
  ])('%j', (text, expected) => {
    expect(visible(text)).toBe(expected);
    expect(hasHidden(text)).toBe(text !== expected);
    expect(
      segments(text)
        .map((segment) => segment.text)
        .join(''),
    ).toBe(text);
  });

  it.each(cases as [string, string][])('%s', (text, expected) => {
    expect(visible(text)).toBe(expected);
    expect(segments(text).map((segment) => segment.text).join('')).toBe(text);
  });

  it.each([
    ['ls -l', 'ls -l'],
    ['l\u0455 -l', 'l‹U+0455 like s› -l'],
    ['\u0441\u0440 a b', '‹U+0441 like c›‹U+0440 like p› a b'],
    ['A=1 \u0441\u0440 a; echo привет мир', 'A=1 ‹U+0441 like c›‹U+0440 like p› a; echo привет мир'],
    ['true && \u0441url x | ёж', 'true && ‹U+0441 like c›url x | ‹U+0451›‹U+0436›'],
    ["echo 'мир; труд'", "echo 'мир; труд'"],
    ['git commit -m "Исправить ошибку"', 'git commit -m "Исправить ошибку"'],
  ])('reads the names of programs in %j strictly', (text, expected) => {
    const shown = commandSegments(text).map((segment) => (segment.hidden ? `‹${segment.label}›` : segment.text));
    expect(shown.join('')).toBe(expected);
  });

  it('shows newlines and tabs where there is one line', () => {
    expect(oneLine('a\nb\tc')).toBe('a⏎b⇥c');
  });
});

import { describe, expect, it } from 'vitest';
import { field, itemsOf, parse, textOf, tryParse, write } from './json';

describe('JSON as it was written', () => {
  it.each([
    '{"n":9007199254740993}',
    '{"a":1.10,"b":-0,"c":1e400,"d":123456789012345678901234567890.0000000000000000001}',
    '{"z":1,"a":2,"2":3,"1":4}',
    '{"__proto__":{"polluted":true},"constructor":1}',
    '{"same":1,"same":2}',
    '[]',
    '{}',
    '[null,true,false,"",[{}]]',
    '"quote \\" backslash \\\\ newline \\n"',
  ])('%s comes back as it was', (text) => {
    expect(write(parse(text))).toBe(text);
  });

  it('reads every escape and space that JSON allows', () => {
    expect(parse(' [ "\\u0041\\/\\ud83d\\ude42" , 1 ]\n')).toEqual({
      type: 'array',
      items: [
        { type: 'string', value: 'A/🙂' },
        { type: 'number', text: '1' },
      ],
    });
  });

  it.each(['', '{', '{"a":}', '[1,]', '01', '1.', 'nul', "{'a':1}", '"\n"', '{"a":1}x', '"\\x"', 'NaN', '+1', '.5', '{a:1}'])(
    'refuses %j, as JSON.parse does',
    (text) => {
      expect(tryParse(text)).toBeNull();
      expect(() => JSON.parse(text)).toThrow();
    },
  );

  it('refuses what nests without end', () => {
    expect(tryParse('['.repeat(100_000))).toBeNull();
  });

  it('finds a field: of a repeated name the last', () => {
    const json = parse('{"a":"first","list":[1,2],"a":"second"}');
    expect(textOf(json, 'a')).toBe('second');
    expect(textOf(json, 'list')).toBeUndefined();
    expect(itemsOf(json, 'list')).toHaveLength(2);
    expect(field(json, 'toString')).toBeUndefined();
    expect(field(null, 'a')).toBeUndefined();
  });
});

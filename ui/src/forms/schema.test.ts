import { describe, expect, it } from 'vitest';
import { parse, write } from '../text/json';
import { dataOf, fieldsOf, initialValues, wrong } from './schema';

const SCHEMA = parse(`{
  "type": "object",
  "properties": {
    "email": {"type": "string", "title": "Email", "format": "email"},
    "seat": {"type": "string", "enum": ["aisle", "window"], "enumNames": ["Aisle", "Window"], "default": "window"},
    "class": {"oneOf": [{"const": 1, "title": "First"}, {"const": 2, "title": "Second"}]},
    "bag": {"type": "boolean", "title": "Add a checked bag", "default": true},
    "pages": {"type": "integer", "minimum": 1, "maximum": 9},
    "price": {"type": "number"},
    "note": {"type": "string", "maxLength": 3},
    "extra": {"type": "array"}
  },
  "required": ["email", "class"]
}`);

const fields = fieldsOf(SCHEMA);
const named = (name: string) => {
  const found = fields.find((one) => one.name === name);
  if (found === undefined) throw new Error(name);
  return found;
};

describe('a form from a schema', () => {
  it('keeps the order and reads kinds, labels and defaults', () => {
    expect(fields.map((one) => `${one.label}:${one.kind}${one.required ? '*' : ''}`)).toEqual([
      'Email:text*',
      'seat:choice',
      'class:choice*',
      'Add a checked bag:boolean',
      'pages:integer',
      'price:number',
      'note:text',
      'extra:json',
    ]);
    expect(initialValues(fields)).toMatchObject({ email: '', seat: '1', class: '', bag: 'true', pages: '' });
  });

  it.each([
    ['email', '', 'Fill this in'],
    ['email', 'you@example', 'Enter a full address, like name@example.com'],
    ['email', 'you@example.com', null],
    ['class', '', 'Choose one'],
    ['class', '1', null],
    ['seat', '', null],
    ['pages', '0', 'Enter 1 or more'],
    ['pages', '10', 'Enter 9 or less'],
    ['pages', '1.5', 'Enter a whole number'],
    ['pages', '07', 'Enter a whole number'],
    ['price', 'twelve', 'Enter a number, like 12.5'],
    ['price', '-0.50', null],
    ['note', 'abcd', 'Enter at most 3 characters'],
    ['extra', '[1', 'Enter JSON, like ["a", "b"]'],
  ])('%s = %j is %j', (name, value, expected) => {
    expect(wrong(named(name), value)).toBe(expected);
  });

  it('sends what was typed, digit for digit, and leaves out what is empty', () => {
    const values = { ...initialValues(fields), email: 'a@b.example', class: '1', price: '9007199254740993.10', pages: '' };
    expect(write(dataOf(fields, values))).toBe(
      '{"email":"a@b.example","seat":"window","class":2,"bag":true,"price":9007199254740993.10}',
    );
  });

  it('is one text box without a schema', () => {
    for (const none of [null, undefined, parse('{}'), parse('{"type":"string"}')]) {
      const [only, ...more] = fieldsOf(none);
      expect(more).toEqual([]);
      expect(only?.name).toBe('text');
    }
    expect(write(dataOf(fieldsOf(null), { text: 'hello "you"' }))).toBe('{"text":"hello \\"you\\""}');
  });
});

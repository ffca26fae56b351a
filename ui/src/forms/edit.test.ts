import { describe, expect, it } from 'vitest';
import { parse, write } from '../text/json';
import { type Edit, type Editor, begin, editable, editorOf, linesOf, result, same, wrongField } from './edit';

const SHELL = '{"type":"object","properties":{"command":{"type":"string"},"timeout_seconds":{"type":"integer","minimum":1}},"required":["command"]}';

function editor(schema: string, args: string): Editor {
  const found = editorOf(schema, args);
  if (found === null) throw new Error('nothing to edit');
  return found;
}

/** The editor after these fields were typed over. */
function typed(one: Editor, values: Record<string, string>): string {
  const edit = begin(one);
  if (edit.as !== 'fields') throw new Error('no form');
  const made = result(one, { as: 'fields', values: { ...edit.values, ...values } });
  return 'args' in made ? write(made.args) : made.wrong;
}

describe('an edit of the arguments', () => {
  it('is there only where the source allows it', () => {
    expect(editorOf(null, '{}')).toBeNull();
    expect(editorOf(SHELL, 'broken')).toBeNull();
    expect(editorOf(SHELL, '')?.args).toEqual(parse('{}'));
  });

  it('leaves what was not touched as it was, digit for digit and in its place', () => {
    const one = editor(SHELL, '{"timeout_seconds":9007199254740993,"command":"ls"}');
    expect(typed(one, {})).toBe('{"timeout_seconds":9007199254740993,"command":"ls"}');
    expect(typed(one, { command: 'ls -l' })).toBe('{"timeout_seconds":9007199254740993,"command":"ls -l"}');
    expect(typed(one, { timeout_seconds: '9007199254740995' })).toBe('{"timeout_seconds":9007199254740995,"command":"ls"}');
    expect(typed(editor(SHELL, '{"command":"ls"}'), { timeout_seconds: '5' })).toBe('{"command":"ls","timeout_seconds":5}');
  });

  it('adds nothing by itself, and keeps an empty text', () => {
    const schema = '{"properties":{"path":{"type":"string"},"all":{"type":"boolean"},"new":{"type":"string"}},"required":["path","new"]}';
    const one = editor(schema, '{"path":"a","new":"x"}');
    expect(typed(one, {})).toBe('{"path":"a","new":"x"}');
    expect(typed(one, { new: '' })).toBe('{"path":"a","new":""}');
    expect(typed(one, { all: 'true' })).toBe('{"path":"a","new":"x","all":true}');
    expect(typed(editor(schema, '{"path":"a","new":"x","all":true}'), { all: 'false' })).toBe('{"path":"a","new":"x","all":false}');
  });

  it('says what is wrong as it is typed', () => {
    const one = editor(SHELL, '{"command":"ls"}');
    const field = one.fields?.[1];
    if (field === undefined) throw new Error('no field');
    expect(wrongField(one, field, 'soon')).toBe('Enter a whole number');
    expect(wrongField(one, field, '0')).toBe('Enter 1 or more');
    expect(wrongField(one, field, '')).toBeNull();
    expect(typed(one, { timeout_seconds: 'soon' })).toBe('Correct `timeout_seconds` first.');
  });

  it('is a form only where a form loses nothing', () => {
    for (const args of [
      '{"command":"a\\r\\nb"}',
      '{"command":"a\\u202eb"}',
      '{"command":"ls","other":1}',
      '{"command":null}',
      '{"command":["ls"]}',
      '{"command":"ls","command":"rm"}',
    ])
      expect(editor(SHELL, args).fields, args).toBeNull();
    expect(editor('{"type":"object"}', '{}').fields).toBeNull();
    expect(editor('{"properties":{"list":{"type":"array"}}}', '{}').fields).toBeNull();
    expect(editor(SHELL, '{"command":"a\\nb\\tc"}').fields).not.toBeNull();
  });

  it('shows what hides as its escape, and reads it back unchanged', () => {
    const args = parse('{"a":"x\\u202ey\\r\\n\\u200b","n":9007199254740993,"f":1.10,"l":[{"e":"\\ud83d\\ude00"}],"tag":"\\udb40\\udc41"}');
    const text = editable(args);
    expect(text).toContain('x\\u202ey\\r\\n\\u200b');
    expect(text).toContain('\\udb40\\udc41');
    expect(text).toContain('😀');
    expect(parse(text)).toEqual(args);
  });

  it('as JSON must be one object that names everything once', () => {
    const one = editor(SHELL, '{"command":"a\\rb"}');
    const of = (text: string): string => {
      const edit: Edit = { as: 'text', text };
      const made = result(one, edit);
      return 'args' in made ? write(made.args) : made.wrong;
    };
    expect(begin(one).as).toBe('text');
    expect(of('{"command": "b", "n": 1.10}')).toBe('{"command":"b","n":1.10}');
    expect(of('{"command"')).toBe('This is not JSON yet.');
    expect(of('["ls"]')).toBe('The arguments must be one object: {…}');
    expect(of('{"n":1}')).toBe('`command` is missing.');
    expect(of('{"command":"a","command":"b"}')).toBe('`command` is there twice.');
    expect(of('{"command":"a","x":[{"y":1,"\\u0079":2}]}')).toBe('`y` is there twice.');
  });

  it('knows what says the same', () => {
    const is = (one: string, other: string): boolean => same(parse(one), parse(other));
    expect(is('{"a":1,"b":[{"c":2,"d":3}]}', '{"b":[{"d":3,"c":2}],"a":1}')).toBe(true);
    expect(is('{"a":1.0}', '{"a":1}')).toBe(false);
    expect(is('{"a":[1,2]}', '{"a":[2,1]}')).toBe(false);
  });

  it('is compared line by line', () => {
    expect(linesOf(parse('{"path":"a","content":"x\\ny\\n","n":9007199254740993,"o":{"k":1}}'))).toEqual([
      'path: a',
      'content:',
      '  x',
      '  y',
      '  ',
      'n: 9007199254740993',
      'o: {',
      '  "k": 1',
      '}',
    ]);
  });
});

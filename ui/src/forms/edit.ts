import { hasHidden, isHidden } from '../text/hidden';
import { type Json, boolean, field, itemsOf, object, string, tryParse, write } from '../text/json';
import { type Field, type Values, fieldsOf, wrong } from './schema';

/** How the arguments of a call are edited: field by field, or as one JSON text. */
export interface Editor {
  /** A form, where every argument has a field that can hold it exactly. */
  fields: Field[] | null;
  schema: Json | null;
  args: Json;
}

/** What the person made of the arguments so far. */
export type Edit = { as: 'fields'; values: Values } | { as: 'text'; text: string };

/** The editor for a call; null where nothing may be edited. */
export function editorOf(schemaText: string | null, argumentsText: string | null): Editor | null {
  if (schemaText === null) return null;
  const schema = tryParse(schemaText);
  const args = (argumentsText ?? '').trim() === '' ? object([]) : tryParse(argumentsText);
  return args === null ? null : { fields: exactFields(schema, args), schema, args };
}

/** Where the edit begins: at what was shown. */
export function begin(editor: Editor): Edit {
  const { fields, args } = editor;
  if (fields === null) return { as: 'text', text: editable(args) };
  return { as: 'fields', values: Object.fromEntries(fields.map((one) => [one.name, shownIn(one, field(args, one.name))])) };
}

/** A form only where it loses nothing: a text box turns every line end into its own, and shows no hidden character. */
function exactFields(schema: Json | null, args: Json): Field[] | null {
  if (args.type !== 'object' || field(schema, 'properties')?.type !== 'object') return null;
  const fields = fieldsOf(schema).map((one): Field => ({ ...one, label: one.name }));
  const holds = ([name, value]: [string, Json]): boolean => {
    const one = fields.find((field) => field.name === name);
    return one !== undefined && canHold(one, value);
  };
  const isOnce = new Set(args.entries.map(([name]) => name)).size === args.entries.length;
  const simple = fields.every((one) => one.kind !== 'json');
  return fields.length > 0 && simple && isOnce && args.entries.every(holds) ? fields : null;
}

function canHold(one: Field, value: Json): boolean {
  switch (one.kind) {
    case 'text':
      return value.type === 'string' && !value.value.includes('\r') && !hasHidden(value.value);
    case 'integer':
    case 'number':
      return value.type === 'number';
    case 'boolean':
      return value.type === 'boolean';
    case 'choice':
      return optionOf(one, value) !== -1;
    case 'json':
      return false;
  }
}

const optionOf = (one: Field, value: Json): number => one.options.findIndex((option) => write(option.value) === write(value));

function shownIn(one: Field, value: Json | undefined): string {
  if (value === undefined) return one.kind === 'boolean' ? 'false' : '';
  switch (value.type) {
    case 'string':
      return one.kind === 'choice' ? String(optionOf(one, value)) : value.value;
    case 'number':
      return one.kind === 'choice' ? String(optionOf(one, value)) : value.text;
    default:
      return one.kind === 'choice' ? String(optionOf(one, value)) : write(value);
  }
}

/** What is wrong with one field, in words. A text may be emptied: an empty text is one. */
export function wrongField(editor: Editor, one: Field, value: string): string | null {
  if (value !== '' || one.kind !== 'text') return wrong(one, value);
  const stays = one.required || field(editor.args, one.name) !== undefined;
  return stays && (one.shortest ?? 0) > 0 ? wrong({ ...one, required: true }, value) : null;
}

/** The edited arguments, digit for digit, or why there are none yet. */
export function result(editor: Editor, edit: Edit): { args: Json } | { wrong: string } {
  if (edit.as === 'text') return ofText(editor, edit.text);
  const fields = editor.fields ?? [];
  const bad = fields.find((one) => wrongField(editor, one, edit.values[one.name] ?? '') !== null);
  if (bad !== undefined) return { wrong: `Correct \`${bad.name}\` first.` };
  // What has not been touched stays as it was, in its place; what is new follows.
  const known = editor.args.type === 'object' ? editor.args.entries.map(([name]) => name) : [];
  const inOrder = [...known.flatMap((name) => fields.filter((one) => one.name === name)), ...fields.filter((one) => !known.includes(one.name))];
  return { args: object(inOrder.flatMap((one) => ofField(editor, one, edit.values[one.name] ?? ''))) };
}

function ofField(editor: Editor, one: Field, value: string): [string, Json][] {
  const before = field(editor.args, one.name);
  if (value === shownIn(one, before)) {
    const empty = before === undefined && one.required && one.kind === 'text';
    return before !== undefined ? [[one.name, before]] : empty ? [[one.name, string('')]] : [];
  }
  switch (one.kind) {
    case 'boolean':
      return [[one.name, boolean(value === 'true')]];
    case 'choice': {
      const chosen = one.options[Number(value)];
      return value === '' || chosen === undefined ? [] : [[one.name, chosen.value]];
    }
    case 'integer':
    case 'number':
      return value === '' ? [] : [[one.name, { type: 'number', text: value.trim() }]];
    case 'json':
    case 'text':
      return [[one.name, string(value)]];
  }
}

function ofText(editor: Editor, text: string): { args: Json } | { wrong: string } {
  const args = tryParse(text);
  if (args === null) return { wrong: 'This is not JSON yet.' };
  if (args.type !== 'object') return { wrong: 'The arguments must be one object: {…}' };
  const twice = repeated(args);
  if (twice !== null) return { wrong: `\`${twice}\` is there twice.` };
  const missing = itemsOf(editor.schema, 'required').find((one) => one.type === 'string' && field(args, one.value) === undefined);
  return missing?.type === 'string' ? { wrong: `\`${missing.value}\` is missing.` } : { args };
}

/** A name that an object has twice, at any depth. */
function repeated(json: Json): string | null {
  const inside = json.type === 'object' ? json.entries.map(([, value]) => value) : json.type === 'array' ? json.items : [];
  if (json.type === 'object') {
    const names = json.entries.map(([name]) => name);
    const twice = names.find((name, at) => names.indexOf(name) !== at);
    if (twice !== undefined) return twice;
  }
  return inside.map(repeated).find((name) => name !== null) ?? null;
}

/** Whether arguments say the same: numbers digit for digit, names in any order. */
export function same(one: Json, other: Json): boolean {
  return canonical(one) === canonical(other);
}

function canonical(json: Json): string {
  if (json.type === 'array') return `[${json.items.map(canonical).join(',')}]`;
  if (json.type !== 'object') return write(json);
  const entries = json.entries.map(([name, value]) => `${JSON.stringify(name)}:${canonical(value)}`);
  return `{${entries.toSorted().join(',')}}`;
}

/** JSON text to edit: over several lines, and what would hide stands as its escape. */
export function editable(json: Json): string {
  let text = '';
  for (const character of pretty(json, '')) {
    const code = character.codePointAt(0) ?? 0;
    const hides = character !== '\n' && (isHidden(code) || (code >= 0xd800 && code <= 0xdfff));
    text += hides ? [...units(character)].map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('') : character;
  }
  return text;
}

function* units(character: string): Generator<number> {
  for (let at = 0; at < character.length; at += 1) yield character.charCodeAt(at);
}

function pretty(json: Json, indent: string): string {
  const inner = `${indent}  `;
  if (json.type === 'object' && json.entries.length > 0)
    return `{\n${json.entries.map(([name, value]) => `${inner}${JSON.stringify(name)}: ${pretty(value, inner)}`).join(',\n')}\n${indent}}`;
  if (json.type === 'array' && json.items.length > 0)
    return `[\n${json.items.map((item) => `${inner}${pretty(item, inner)}`).join(',\n')}\n${indent}]`;
  return write(json);
}

/** Arguments as lines to compare: each name with its value, a long text line by line. */
export function linesOf(json: Json): string[] {
  if (json.type !== 'object') return pretty(json, '').split('\n');
  return json.entries.flatMap(([name, value]) => {
    if (value.type !== 'string') return `${name}: ${pretty(value, '')}`.split('\n');
    const lines = value.value.split('\n');
    return lines.length === 1 ? [`${name}: ${value.value}`] : [`${name}:`, ...lines.map((line) => `  ${line}`)];
  });
}

import { type Json, boolean, field, itemsOf, object, string, textOf, tryParse } from '../text/json';

/** A field of a form, read from `data.schema` (contract 30). */
export interface Field {
  name: string;
  label: string;
  description: string | null;
  kind: 'text' | 'number' | 'integer' | 'boolean' | 'choice' | 'json';
  /** For a choice: what may be chosen. */
  options: { label: string; value: Json }[];
  required: boolean;
  format: string | null;
  least: number | null;
  most: number | null;
  shortest: number | null;
  longest: number | null;
  /** What stands in it at first: text, `true` or `false`, or the index of an option. */
  initial: string;
}

export type Values = Record<string, string>;

/** What a schema-less form sends: `{"text": …}`. */
export const TEXT_FIELD: Field = {
  name: 'text',
  label: 'Your answer',
  description: null,
  kind: 'text',
  options: [],
  required: true,
  format: null,
  least: null,
  most: null,
  shortest: null,
  longest: null,
  initial: '',
};

/** The fields of a flat object schema; one text field where there is no schema. */
export function fieldsOf(schema: Json | null | undefined): Field[] {
  const properties = field(schema, 'properties');
  if (properties?.type !== 'object') return [TEXT_FIELD];
  const required = itemsOf(schema, 'required').flatMap((item) => (item.type === 'string' ? [item.value] : []));
  return properties.entries.map(([name, one]) => readField(name, one, required.includes(name)));
}

function readField(name: string, schema: Json, required: boolean): Field {
  const options = optionsOf(schema);
  const type = textOf(schema, 'type');
  const kind =
    options.length > 0
      ? 'choice'
      : type === 'boolean' || type === 'number' || type === 'integer'
        ? type
        : type === undefined || type === 'string'
          ? 'text'
          : 'json';
  return {
    name,
    label: textOf(schema, 'title') ?? name,
    description: textOf(schema, 'description') ?? null,
    kind,
    options,
    required,
    format: textOf(schema, 'format') ?? null,
    least: numberOf(schema, 'minimum'),
    most: numberOf(schema, 'maximum'),
    shortest: numberOf(schema, 'minLength'),
    longest: numberOf(schema, 'maxLength'),
    initial: initialOf(kind, options, field(schema, 'default')),
  };
}

function optionsOf(schema: Json): Field['options'] {
  const names = itemsOf(schema, 'enumNames');
  const listed = itemsOf(schema, 'enum').map((value, at) => {
    const name = names[at];
    return { label: name?.type === 'string' ? name.value : plain(value), value };
  });
  if (listed.length > 0) return listed;
  const choices = itemsOf(schema, 'oneOf').length > 0 ? itemsOf(schema, 'oneOf') : itemsOf(schema, 'anyOf');
  return choices.flatMap((choice) => {
    const value = field(choice, 'const');
    return value === undefined ? [] : [{ label: textOf(choice, 'title') ?? plain(value), value }];
  });
}

function plain(value: Json): string {
  if (value.type === 'string') return value.value;
  if (value.type === 'number') return value.text;
  return value.type === 'boolean' ? String(value.value) : value.type;
}

function same(one: Json, other: Json): boolean {
  return one.type === other.type && plain(one) === plain(other);
}

function numberOf(schema: Json, name: string): number | null {
  const value = field(schema, name);
  return value?.type === 'number' ? Number(value.text) : null;
}

function initialOf(kind: Field['kind'], options: Field['options'], given: Json | undefined): string {
  if (kind === 'choice') {
    const at = given === undefined ? -1 : options.findIndex((option) => same(option.value, given));
    return at === -1 ? '' : String(at);
  }
  if (given !== undefined && given.type !== 'null') return plain(given);
  return kind === 'boolean' ? 'false' : '';
}

/** What stands in the fields at first. */
export function initialValues(fields: readonly Field[]): Values {
  return Object.fromEntries(fields.map((one) => [one.name, one.initial]));
}

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const INTEGER = /^-?(?:0|[1-9]\d*)$/;

const FORMATS: Record<string, [test: (text: string) => boolean, hint: string]> = {
  email: [(text) => /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(text), 'Enter a full address, like name@example.com'],
  uri: [(text) => URL.canParse(text), 'Enter a full link, like https://example.com'],
  date: [(text) => /^\d{4}-\d{2}-\d{2}$/.test(text), 'Enter a date, like 2026-03-31'],
  'date-time': [
    (text) => /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}.*(Z|[+-]\d{2}:\d{2})$/.test(text),
    'Enter a time, like 2026-03-31T14:00:00Z',
  ],
};

/** What is wrong with a value, in words; null when nothing is. */
export function wrong(one: Field, value: string): string | null {
  if (one.kind === 'boolean') return null;
  if (value === '') {
    if (!one.required) return null;
    return one.kind === 'choice' ? 'Choose one' : 'Fill this in';
  }
  switch (one.kind) {
    case 'choice':
      return one.options[Number(value)] === undefined ? 'Choose one' : null;
    case 'json':
      return tryParse(value) === null ? 'Enter JSON, like ["a", "b"]' : null;
    case 'integer':
      if (!INTEGER.test(value.trim())) return 'Enter a whole number';
      return outOfBounds(one, Number(value));
    case 'number':
      if (!NUMBER.test(value.trim())) return 'Enter a number, like 12.5';
      return outOfBounds(one, Number(value));
    case 'text':
      return wrongText(one, value);
  }
}

function outOfBounds({ least, most }: Field, value: number): string | null {
  if (least !== null && value < least) return `Enter ${least} or more`;
  if (most !== null && value > most) return `Enter ${most} or less`;
  return null;
}

function wrongText({ shortest, longest, format }: Field, value: string): string | null {
  const length = [...value].length;
  if (shortest !== null && length < shortest) return `Enter at least ${shortest} characters`;
  if (longest !== null && length > longest) return `Enter at most ${longest} characters`;
  const [test, hint] = FORMATS[format ?? ''] ?? [];
  return test === undefined || test(value) ? null : (hint ?? null);
}

/** The data that the form sends; numbers keep the digits that were typed. Empty fields are left out. */
export function dataOf(fields: readonly Field[], values: Values): Json {
  return object(
    fields.flatMap((one): [string, Json][] => {
      const value = values[one.name] ?? '';
      if (one.kind === 'boolean') return [[one.name, boolean(value === 'true')]];
      if (value === '') return [];
      return [[one.name, valueOf(one, value)]];
    }),
  );
}

function valueOf(one: Field, value: string): Json {
  switch (one.kind) {
    case 'choice':
      return one.options[Number(value)]?.value ?? string('');
    case 'integer':
    case 'number':
      return { type: 'number', text: value.trim() };
    case 'json':
      return tryParse(value) ?? string(value);
    case 'boolean':
    case 'text':
      return string(value);
  }
}

/**
 * JSON as it was written: numbers keep every digit, names keep their order and are shown even when they repeat or are
 * called `__proto__`. A JavaScript object would lose all three.
 */
export type Json =
  | { type: 'null' }
  | { type: 'boolean'; value: boolean }
  | { type: 'number'; text: string }
  | { type: 'string'; value: string }
  | { type: 'array'; items: Json[] }
  | { type: 'object'; entries: [name: string, value: Json][] };

const DEEPEST = 200;

class Reader {
  #at = 0;
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  whole(): Json {
    const value = this.#value(0);
    this.#space();
    if (this.#at < this.#text.length) this.#fail();
    return value;
  }

  #fail(): never {
    throw new SyntaxError(`not JSON at character ${this.#at + 1}`);
  }

  #match(pattern: RegExp): string | null {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0] ?? null;
    if (found !== null) this.#at += found.length;
    return found;
  }

  #space(): void {
    this.#match(/[ \t\n\r]*/y);
  }

  #sign(sign: string): boolean {
    this.#space();
    if (this.#text[this.#at] !== sign) return false;
    this.#at += 1;
    return true;
  }

  #value(depth: number): Json {
    if (depth > DEEPEST) this.#fail();
    this.#space();
    if (this.#sign('{')) return this.#object(depth);
    if (this.#sign('[')) return this.#array(depth);
    if (this.#text[this.#at] === '"') return { type: 'string', value: this.#string() };
    const number = this.#match(/-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y);
    if (number !== null) return { type: 'number', text: number };
    switch (this.#match(/true|false|null/y)) {
      case 'true':
        return { type: 'boolean', value: true };
      case 'false':
        return { type: 'boolean', value: false };
      case 'null':
        return { type: 'null' };
      default:
        return this.#fail();
    }
  }

  #string(): string {
    // The platform decodes the escapes of one string literal.
    const literal = this.#match(/"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"/y);
    return literal === null ? this.#fail() : (JSON.parse(literal) as string);
  }

  #object(depth: number): Json {
    const entries: [string, Json][] = [];
    if (this.#sign('}')) return { type: 'object', entries };
    do {
      this.#space();
      const name = this.#string();
      if (!this.#sign(':')) this.#fail();
      entries.push([name, this.#value(depth + 1)]);
    } while (this.#sign(','));
    return this.#sign('}') ? { type: 'object', entries } : this.#fail();
  }

  #array(depth: number): Json {
    const items: Json[] = [];
    if (this.#sign(']')) return { type: 'array', items };
    do items.push(this.#value(depth + 1));
    while (this.#sign(','));
    return this.#sign(']') ? { type: 'array', items } : this.#fail();
  }
}

/** Reads JSON text; throws a `SyntaxError`. */
export function parse(text: string): Json {
  return new Reader(text).whole();
}

/** Reads JSON text; null when it is none. */
export function tryParse(text: string | null): Json | null {
  if (text === null) return null;
  try {
    return parse(text);
  } catch {
    return null;
  }
}

/** Compact JSON text, digit for digit. */
export function write(json: Json): string {
  switch (json.type) {
    case 'null':
      return 'null';
    case 'boolean':
      return String(json.value);
    case 'number':
      return json.text;
    case 'string':
      return JSON.stringify(json.value);
    case 'array':
      return `[${json.items.map(write).join(',')}]`;
    case 'object':
      return `{${json.entries.map(([name, value]) => `${JSON.stringify(name)}:${write(value)}`).join(',')}}`;
  }
}

/** The same on several lines, for whoever edits it. */
export function writeLines(json: Json, indent = ''): string {
  const inner = `${indent}  `;
  const lines = (open: string, parts: string[], close: string): string =>
    parts.length === 0 ? open + close : `${open}\n${parts.map((part) => inner + part).join(',\n')}\n${indent}${close}`;
  if (json.type === 'array') return lines('[', json.items.map((item) => writeLines(item, inner)), ']');
  if (json.type !== 'object') return write(json);
  return lines('{', json.entries.map(([name, value]) => `${JSON.stringify(name)}: ${writeLines(value, inner)}`), '}');
}

/** The value of a name; of a repeated one the last, as everyone reads it. */
export function field(json: Json | null | undefined, name: string): Json | undefined {
  if (json?.type !== 'object') return undefined;
  return json.entries.findLast(([one]) => one === name)?.[1];
}

/** The text of a name, where it is a text. */
export function textOf(json: Json | null | undefined, name: string): string | undefined {
  const value = field(json, name);
  return value?.type === 'string' ? value.value : undefined;
}

/** The items of a name, where it is a list. */
export function itemsOf(json: Json | null | undefined, name: string): Json[] {
  const value = field(json, name);
  return value?.type === 'array' ? value.items : [];
}

export const string = (value: string): Json => ({ type: 'string', value });
export const boolean = (value: boolean): Json => ({ type: 'boolean', value });
export const object = (entries: [string, Json][]): Json => ({ type: 'object', entries });

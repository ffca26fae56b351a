import type { RequestDetail } from '../bindings/RequestDetail';
import { type Question, promptOf, questionsOf } from '../forms/questions';
import { type Field, fieldsOf } from '../forms/schema';
import { hasHidden } from '../text/hidden';
import { type Json, field, object, textOf, tryParse, write } from '../text/json';

/** What a request shows: every argument in exactly one of these. */
export interface Content {
  command: string | null;
  link: string | null;
  /** The rest of an HTTP call, where the request is one. */
  http: { method: string; headers: [string, string][]; body: string | null } | null;
  diff: { text: string; path: string } | null;
  /** Arguments and data that no other part shows. */
  rest: Json | null;
  /** Text that should have been JSON and is not. */
  broken: string | null;
  /** The arguments or the data as they came, to look at. */
  raw: string | null;
  fields: Field[];
  questions: Question[];
  /** Whether the prompt says more than the questions do. */
  promptStands: boolean;
  hidden: boolean;
}

const DIFF_SHOWS = ['path', 'content', 'old_text', 'new_text'];

/** Sorts what came with a request into what is shown. */
export function contentOf(detail: RequestDetail): Content {
  const { item, diff } = detail;
  const data = tryParse(detail.data);
  const args = tryParse(detail.arguments);
  const questions = item.kind === 'question' ? questionsOf(data) : [];
  const isForm = item.kind === 'input' || (item.kind === 'question' && questions.length === 0);
  const shownInData = [
    'arguments',
    ...(textOf(data, 'tool') === item.tool ? ['tool'] : []),
    ...(detail.editable === null ? [] : ['argumentsSchema']),
    ...(detail.choices.length === 0 ? [] : ['choices']),
    ...(isForm ? ['schema'] : []), ...(questions.length > 0 ? ['questions'] : []),
  ];
  const given = args ?? field(data, 'arguments') ?? null;
  const asks = item.kind === 'question' || item.kind === 'input';

  const command = item.tool === 'shell' ? (textOf(given, 'command') ?? null) : null;
  const http = item.kind === 'approval' && detail.url === null ? httpOf(given, item.tool) : null;
  const shown = [
    ...(command === null ? [] : ['command']),
    ...(diff === null ? [] : DIFF_SHOWS),
    ...(http === null ? [] : http.shows),
    ...(asks ? ['questions'] : []),
  ];
  return {
    command,
    link: detail.url ?? http?.url ?? null,
    http: http === null ? null : { method: http.method, headers: http.headers, body: http.body },
    diff: diff === null ? null : { text: diff, path: textOf(given, 'path') ?? 'File' },
    rest: merge(without(given, shown), without(data, shownInData)),
    broken: detail.arguments !== null && args === null ? detail.arguments : null,
    raw: detail.arguments ?? detail.data,
    fields: isForm ? fieldsOf(field(data, 'schema')) : [],
    questions,
    promptStands: questions.length === 0 || promptOf(questions) !== detail.prompt,
    hidden: [detail.prompt, detail.url ?? '', diff ?? '', detail.folder ?? ''].some(hasHidden) || [args, data].some(hides),
  };
}

/** What a call over HTTP sends: only what this shows wholly is taken from the arguments, the rest stays among them. */
function httpOf(args: Json | null, tool: string | null): { url: string; method: string; headers: [string, string][]; body: string | null; shows: string[] } | null {
  const url = textOf(args, 'url');
  const method = textOf(args, 'method');
  if (url === undefined || (tool !== 'web_fetch' && method === undefined)) return null;
  const headers = field(args, 'headers');
  const pairs = headers?.type === 'object' ? headers.entries.flatMap(([name, value]) => (value.type === 'string' ? [[name, value.value] as [string, string]] : [])) : [];
  const all = headers?.type === 'object' && pairs.length === headers.entries.length && pairs.length <= MOST_HEADERS;
  const body = textOf(args, 'body');
  return {
    url,
    method: method ?? 'GET',
    headers: all ? pairs : [],
    body: body ?? null,
    shows: ['url', ...(method === undefined ? [] : ['method']), ...(all ? ['headers'] : []), ...(body === undefined ? [] : ['body'])],
  };
}

/** More headers than this stay a tree, which is cut with a mark. */
const MOST_HEADERS = 40;

/** An object less some of its names; null when nothing is left of it. */
function without(json: Json | null, names: readonly string[]): Json | null {
  if (json?.type !== 'object') return json?.type === 'null' ? null : json;
  const seen = new Map(json.entries.map(([name], at) => [name, at]));
  // A repeated name stays visible, all but the last of it, which is the one that counts.
  const left = json.entries.filter(([name], at) => !names.includes(name) || seen.get(name) !== at);
  return left.length === 0 ? null : object(left);
}

/** Arguments and what else came in `data`. What says the same twice is shown once; what says something else, apart. */
function merge(args: Json | null, data: Json | null): Json | null {
  if (args === null || data === null) return args ?? data;
  if (args.type !== 'object' || data.type !== 'object') return object([['arguments', args], ['data', data]]);
  const more = data.entries.filter(([name, value]) => !args.entries.some((one) => one[0] === name && write(one[1]) === write(value)));
  const clash = more.some(([name]) => args.entries.some((one) => one[0] === name));
  return object([...args.entries, ...(clash ? [['data', object(more)] as [string, Json]] : more)]);
}

function hides(json: Json | null): boolean {
  switch (json?.type) {
    case 'string':
      return hasHidden(json.value);
    case 'array':
      return json.items.some(hides);
    case 'object':
      return json.entries.some(([name, value]) => hasHidden(name) || hides(value));
    default:
      return false;
  }
}

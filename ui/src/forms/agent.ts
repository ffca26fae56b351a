import { visible } from '../text/hidden';
import { type Json, boolean, field, object, parse, string, textOf, tryParse, write, writeLines } from '../text/json';

/** The tools that every agent has, with what they may do when its set-up says nothing. */
export const TOOLS: readonly { name: string; does: string; usually: 'allow' | 'ask' }[] = [
  { name: 'shell', does: 'Run commands', usually: 'ask' },
  { name: 'write_file', does: 'Write files', usually: 'ask' },
  { name: 'edit_file', does: 'Edit files', usually: 'ask' },
  { name: 'web_fetch', does: 'Fetch web pages', usually: 'ask' },
  { name: 'read_file', does: 'Read files in its folder', usually: 'allow' },
  { name: 'list_files', does: 'List files in its folder', usually: 'allow' },
  { name: 'search_files', does: 'Search files in its folder', usually: 'allow' },
  { name: 'question', does: 'Ask you questions', usually: 'allow' },
];

export type Policy = 'allow' | 'ask' | 'forbid';
const POLICIES: readonly string[] = ['allow', 'ask', 'forbid'];

/** An agent's set-up as the form holds it: all text, as typed. */
export interface AgentForm {
  name: string;
  style: 'openai' | 'anthropic';
  baseUrl: string;
  model: string;
  keySource: 'none' | 'env' | 'keyring';
  keyName: string;
  folder: string;
  systemPrompt: string;
  /** By tool; nothing where the tool's own habit holds. */
  tools: Record<string, Policy | ''>;
  maxTurns: string;
  maxTokens: string;
  contextTokens: string;
  askTimeout: string;
  privateAddresses: boolean;
  /** MCP servers by name, as JSON. */
  mcpServers: string;
  stream: boolean;
}

export function emptyAgent(): AgentForm {
  return {
    name: '',
    style: 'openai',
    baseUrl: 'http://localhost:11434/v1',
    model: '',
    keySource: 'none',
    keyName: '',
    folder: '',
    systemPrompt: '',
    tools: Object.fromEntries(TOOLS.map((tool) => [tool.name, ''])),
    maxTurns: '',
    maxTokens: '',
    contextTokens: '',
    askTimeout: '',
    privateAddresses: false,
    mcpServers: '',
    stream: true,
  };
}

/** Reads the JSON text of a set-up. */
export function readAgent(config: string): AgentForm {
  const json = parse(config);
  const key = textOf(json, 'api_key') ?? '';
  const [source, ...name] = key.split(':');
  const form = emptyAgent();
  const privateAddresses = field(json, 'allow_private_addresses');
  const stream = field(json, 'stream');
  const tools = field(json, 'tools');
  const servers = field(json, 'mcpServers');
  for (const [tool, policy] of tools?.type === 'object' ? tools.entries : [])
    if (policy.type === 'string' && POLICIES.includes(policy.value)) form.tools[tool] = policy.value as Policy;
  return {
    ...form,
    name: textOf(json, 'name') ?? '',
    style: textOf(json, 'style') === 'anthropic' ? 'anthropic' : 'openai',
    baseUrl: textOf(json, 'base_url') ?? '',
    model: textOf(json, 'model') ?? '',
    keySource: source === 'env' || source === 'keyring' ? source : 'none',
    keyName: name.join(':'),
    folder: textOf(json, 'folder') ?? '',
    systemPrompt: textOf(json, 'system_prompt') ?? '',
    maxTurns: numberOf(json, 'max_turns'),
    maxTokens: numberOf(json, 'max_tokens'),
    contextTokens: numberOf(json, 'context_tokens'),
    askTimeout: numberOf(json, 'ask_timeout_seconds'),
    privateAddresses: privateAddresses?.type === 'boolean' && privateAddresses.value,
    mcpServers: servers === undefined || servers.type === 'null' ? '' : writeLines(servers),
    stream: !(stream?.type === 'boolean' && !stream.value),
  };
}

function numberOf(json: Json, name: string): string {
  const value = field(json, name);
  return value?.type === 'number' ? value.text : '';
}

/** The JSON text of the set-up. What the form doesn't know of an earlier one is kept. */
export function writeAgent(form: AgentForm, earlier: string | null): string {
  const known = new Map<string, Json | null>([
    ['name', string(form.name.trim())],
    ['base_url', string(form.baseUrl.trim())],
    ['style', string(form.style)],
    ['model', string(form.model.trim())],
    ['api_key', form.keySource === 'none' ? null : string(`${form.keySource}:${form.keyName.trim()}`)],
    ['folder', optional(form.folder)],
    ['system_prompt', optional(form.systemPrompt)],
    ['tools', object(chosenTools(form.tools))],
    ['max_turns', number(form.maxTurns)],
    ['max_tokens', number(form.maxTokens)],
    ['context_tokens', number(form.contextTokens)],
    ['ask_timeout_seconds', number(form.askTimeout)],
    ['allow_private_addresses', form.privateAddresses ? boolean(true) : null],
    ['stream', form.stream ? null : boolean(false)],
    ['mcpServers', serversOf(form.mcpServers)],
  ]);
  const before = earlier === null ? [] : entriesOf(parse(earlier)).filter(([name]) => !known.has(name));
  const written = [...known].flatMap(([name, value]): [string, Json][] => (value === null ? [] : [[name, value]]));
  return write(object([...written, ...before]));
}

/** Servers as typed. Other programs' files have them beneath a name of their own, which may be pasted along. */
function serversOf(text: string): Json | null {
  if (text.trim() === '') return null;
  const json = tryParse(text);
  return field(json, 'mcpServers') ?? field(json, 'servers') ?? json;
}

/** What is wrong with servers as typed. The host says the rest. */
export function wrongServers(text: string): string | undefined {
  if (text.trim() === '') return undefined;
  try {
    parse(text);
  } catch (thrown) {
    return `This is ${thrown instanceof Error ? thrown.message : 'not JSON'}`;
  }
  const servers = serversOf(text);
  if (servers?.type !== 'object') return 'Enter an object of servers by name';
  for (const [name, entry] of servers.entries) {
    const [command, url] = [textOf(entry, 'command'), textOf(entry, 'url')];
    if ((command === undefined) === (url === undefined)) return `${visible(name)} needs either a command or a url`;
    if (url !== undefined && !url.includes('${') && !/^https?:\/\//.test(url)) return `${visible(name)} needs a full address`;
  }
  return undefined;
}

function chosenTools(tools: AgentForm['tools']): [string, Json][] {
  return Object.entries(tools).flatMap(([name, policy]) => (policy === '' ? [] : [[name, string(policy)]]));
}

function number(text: string): Json | null {
  return text.trim() === '' ? null : { type: 'number', text: text.trim() };
}

function entriesOf(json: Json): [string, Json][] {
  return json.type === 'object' ? json.entries : [];
}

function optional(text: string): Json | null {
  return text.trim() === '' ? null : string(text.trim());
}

/** What keeps the form from being saved, by field. */
export function wrongAgent(form: AgentForm): Partial<Record<keyof AgentForm, string>> {
  const found: Partial<Record<keyof AgentForm, string>> = {};
  if (form.name.trim() === '') found.name = 'Give it a name';
  if (!/^https?:\/\//.test(form.baseUrl.trim())) found.baseUrl = 'Enter a full address, like https://api.example.com/v1';
  if (form.model.trim() === '') found.model = 'Enter the name of a model';
  if (form.keySource !== 'none' && form.keyName.trim() === '')
    found.keyName = form.keySource === 'env' ? 'Enter the name of the variable' : 'Enter the name of the entry';
  if (form.maxTurns.trim() !== '' && !/^[1-9]\d{0,3}$/.test(form.maxTurns.trim()))
    found.maxTurns = 'Enter a whole number from 1 to 9999';
  if (form.maxTokens.trim() !== '' && !/^[1-9]\d{0,8}$/.test(form.maxTokens.trim())) found.maxTokens = 'Enter a whole number of tokens';
  if (form.contextTokens.trim() !== '' && !/^([2-9]\d{3}|[1-9]\d{4,8})$/.test(form.contextTokens.trim()))
    found.contextTokens = 'Enter a whole number from 2000';
  if (form.askTimeout.trim() !== '' && !/^[1-9]\d{0,8}$/.test(form.askTimeout.trim()))
    found.askTimeout = 'Enter a whole number of seconds';
  const servers = wrongServers(form.mcpServers);
  if (servers !== undefined) found.mcpServers = servers;
  return found;
}

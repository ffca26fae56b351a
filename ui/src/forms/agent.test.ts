import { describe, expect, it } from 'vitest';
import { emptyAgent, readAgent, writeAgent, wrongAgent, wrongServers } from './agent';

const CONFIG =
  '{"name":"release-bot","base_url":"https://api.example.com/v1","style":"openai","model":"m-1","api_key":"env:MODEL_KEY",' +
  '"folder":"~/code","system_prompt":"Be brief.","tools":{"shell":"forbid","mail":"ask"},"max_turns":20,"max_tokens":50000,"context_tokens":8000,"ask_timeout_seconds":600,"allow_private_addresses":true,"stream":false,"mcpServers":{"x":{"command":"serve","n":9007199254740993}}}';

describe('an agent’s set-up', () => {
  it('comes back as it was, with what the form does not know', () => {
    expect(writeAgent(readAgent(CONFIG), CONFIG)).toBe(CONFIG);
  });

  it('names a key and never holds one', () => {
    const form = readAgent(CONFIG);
    expect([form.keySource, form.keyName]).toEqual(['env', 'MODEL_KEY']);
    expect(writeAgent({ ...form, keySource: 'keyring', keyName: 'openrouter' }, CONFIG)).toContain('"api_key":"keyring:openrouter"');
    expect(writeAgent({ ...form, keySource: 'none' }, CONFIG)).not.toContain('api_key');
  });

  it('writes only what was chosen', () => {
    const form = { ...emptyAgent(), name: ' helper ', model: 'm' };
    expect(writeAgent(form, null)).toBe(
      '{"name":"helper","base_url":"http://localhost:11434/v1","style":"openai","model":"m","tools":{}}',
    );
    form.tools.read_file = 'ask';
    expect(writeAgent(form, null)).toContain('"tools":{"read_file":"ask"}');
  });

  it('says what is missing', () => {
    expect(wrongAgent({ ...emptyAgent(), baseUrl: 'localhost', keySource: 'env', maxTurns: '0', maxTokens: '1.5', contextTokens: '1999' })).toEqual({
      name: 'Give it a name',
      baseUrl: 'Enter a full address, like https://api.example.com/v1',
      model: 'Enter the name of a model',
      keyName: 'Enter the name of the variable',
      maxTurns: 'Enter a whole number from 1 to 9999',
      maxTokens: 'Enter a whole number of tokens',
      contextTokens: 'Enter a whole number from 2000',
    });
    expect(wrongAgent({ ...emptyAgent(), name: 'a', model: 'm' })).toEqual({});
  });

  it('takes MCP servers as other programs write them, and says what is wrong as one types', () => {
    const pasted = '{ "mcpServers": { "files": { "command": "serve", "args": [] } } }';
    const form = { ...emptyAgent(), name: 'a', model: 'm', mcpServers: pasted };
    expect(writeAgent(form, null)).toContain('"mcpServers":{"files":{"command":"serve","args":[]}}');
    expect(readAgent(writeAgent(form, null)).mcpServers).toBe('{\n  "files": {\n    "command": "serve",\n    "args": []\n  }\n}');
    expect(writeAgent({ ...form, mcpServers: ' ' }, CONFIG)).not.toContain('mcpServers');
    for (const [text, wrong] of [
      ['{', 'This is not JSON at character 2'],
      ['[]', 'Enter an object of servers by name'],
      ['{"a":{}}', 'a needs either a command or a url'],
      ['{"a":{"command":"x","url":"https://example.org"}}', 'a needs either a command or a url'],
      ['{"a":{"url":"example.org"}}', 'a needs a full address'],
      ['{"a":{"url":"${ADDRESS}"}}', undefined],
      ['', undefined],
    ] as const)
      expect(wrongServers(text)).toBe(wrong);
  });
});

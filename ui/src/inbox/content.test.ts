import { describe, expect, it } from 'vitest';
import type { RequestDetail } from '../bindings/RequestDetail';
import { tryParse, write } from '../text/json';
import { contentOf } from './content';

function detail(over: Partial<RequestDetail>, item: Partial<RequestDetail['item']> = {}): RequestDetail {
  return {
    item: {
      key: 'k',
      kind: 'approval',
      prompt: 'P',
      summary: '',
      source: 's',
      run: null,
      tool: null,
      state: 'pending',
      received_at: '',
      expires_at: null,
      digest: 'd',
      risk: 'low',
      snoozed_until: null,
      group: 'g',
      plain: true,
      ...item,
    },
    prompt: item.prompt ?? 'P',
    request: '{}',
    editable: null,
    choices: [],
    arguments: null,
    data: null,
    url: null,
    folder: null,
    diff: null,
    notes: [],
    marks: [],
    trail: [],
    decision: null,
    ...over,
  };
}

describe('what a request shows', () => {
  it('says which tool where nothing else does, and leaves out what has a place of its own', () => {
    const said = '{"tool":"Bash","choices":[],"argumentsSchema":{}}';
    expect(contentOf(detail({ data: said })).rest).toEqual(tryParse(said));
    const choices = [{ id: 'no', label: 'No', effect: 'deny' }];
    expect(contentOf(detail({ data: said, editable: '{}', choices }, { tool: 'Bash' })).rest).toBeNull();
  });

  it('is a command, with every other argument beside it', () => {
    const content = contentOf(detail({ arguments: '{"command":"ls","timeout_seconds":30}' }, { tool: 'shell' }));
    expect(content.command).toBe('ls');
    expect(content.rest && write(content.rest)).toBe('{"timeout_seconds":30}');
  });

  it('shows a repeated argument twice, so that none is hidden', () => {
    const content = contentOf(detail({ arguments: '{"command":"ls","command":"rm"}' }, { tool: 'shell' }));
    expect(content.command).toBe('rm');
    expect(content.rest && write(content.rest)).toBe('{"command":"ls"}');
  });

  it('is a diff, with what the diff does not say beside it', () => {
    const args = '{"path":"a.md","old_text":"a","new_text":"b","replace_all":true}';
    const content = contentOf(detail({ arguments: args, diff: '@@ -1 +1 @@\n-a\n+b\n' }, { tool: 'edit_file' }));
    expect(content.diff?.path).toBe('a.md');
    expect(content.rest && write(content.rest)).toBe('{"replace_all":true}');
  });

  it('is a tree of arguments with every digit', () => {
    const content = contentOf(detail({ arguments: '{"n":9007199254740993}' }, { tool: 'pay' }));
    expect(content.rest && write(content.rest)).toBe('{"n":9007199254740993}');
  });

  it('takes arguments from the data where the source put them there', () => {
    const content = contentOf(detail({ data: '{"tool":"pay","arguments":{"sum":1.10},"why":"refund"}' }, { tool: 'pay' }));
    expect(content.rest && write(content.rest)).toBe('{"sum":1.10,"why":"refund"}');
  });

  it('shows once what arguments and data both say, and apart what they say differently', () => {
    const rest = (args: string, data: string) => {
      const { rest } = contentOf(detail({ arguments: args, data }, { tool: 'pay' }));
      return rest && write(rest);
    };
    expect(rest('{"sum":1,"to":"a"}', '{"sum":1}')).toBe('{"sum":1,"to":"a"}');
    expect(rest('{"sum":1}', '{"sum":2,"why":"x"}')).toBe('{"sum":1,"data":{"sum":2,"why":"x"}}');
    expect(rest('{"sum":1}', '["x"]')).toBe('{"arguments":{"sum":1},"data":["x"]}');
  });

  it('is questions, and the prompt only where it says more', () => {
    const data = '{"questions":[{"question":"Which?","options":["a","b"]}]}';
    const same = contentOf(detail({ data, arguments: data }, { kind: 'question', prompt: 'Which? (options: a, b)' }));
    expect([same.questions.length, same.promptStands, same.rest]).toEqual([1, false, null]);
    const more = contentOf(detail({ data }, { kind: 'question', prompt: 'Careful: which?' }));
    expect(more.promptStands).toBe(true);
  });

  it('is a form from the schema, or one text box', () => {
    const schema = '{"schema":{"type":"object","properties":{"n":{"type":"integer"}}},"why":"x"}';
    const form = contentOf(detail({ data: schema }, { kind: 'input' }));
    expect(form.fields.map((one) => one.name)).toEqual(['n']);
    expect(form.rest && write(form.rest)).toBe('{"why":"x"}');
    expect(contentOf(detail({}, { kind: 'input' })).fields.map((one) => one.name)).toEqual(['text']);
    expect(contentOf(detail({}, { kind: 'question' })).fields.map((one) => one.name)).toEqual(['text']);
  });

  it('shows arguments that are no JSON as they are', () => {
    expect(contentOf(detail({ arguments: '{"command":' }, { tool: 'shell' })).broken).toBe('{"command":');
  });

  it('is an HTTP call, of which everything is shown once', () => {
    const content = contentOf(
      detail({ arguments: '{"method":"POST","url":"https://api.example.com/x","headers":{"X-A":"1"},"body":"{}","retries":2}' }, { tool: 'http' }),
    );
    expect(content.link).toBe('https://api.example.com/x');
    expect(content.http).toEqual({ method: 'POST', headers: [['X-A', '1']], body: '{}' });
    expect(content.rest && write(content.rest)).toBe('{"retries":2}');
  });

  it('leaves headers and a body that are no text among the arguments', () => {
    const content = contentOf(detail({ arguments: '{"method":"POST","url":"https://a.example","headers":{"X":[1]},"body":{"a":1.0}}' }, { tool: 'http' }));
    expect(content.http).toEqual({ method: 'POST', headers: [], body: null });
    expect(content.rest && write(content.rest)).toBe('{"headers":{"X":[1]},"body":{"a":1.0}}');
  });

  it('notices hidden characters anywhere, also behind escapes', () => {
    expect(contentOf(detail({ arguments: '{"command":"a\\u202eb"}' }, { tool: 'shell' })).hidden).toBe(true);
    expect(contentOf(detail({ arguments: '{"a\\u200b":[{"x":"y"}]}' })).hidden).toBe(true);
    expect(contentOf(detail({ arguments: '{"command":"ls"}' }, { tool: 'shell' })).hidden).toBe(false);
  });
});

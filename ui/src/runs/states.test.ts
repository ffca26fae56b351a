import { describe, expect, it } from 'vitest';
import type { CallItem } from '../bindings/CallItem';
import type { RunDetail } from '../bindings/RunDetail';
import { callState, endWords, runState } from './states';

const call = (over: Partial<CallItem>): CallItem => ({
  turn: 1,
  index: 0,
  tool: 'shell',
  arguments: '{}',
  edited: null,
  summary: '',
  state: 'finished',
  output: null,
  is_error: false,
  request: null,
  outcome: null,
  decided_by: null,
  ...over,
});

describe('the state of a call', () => {
  it.each([
    [{ state: 'waiting' }, 'not started'],
    [{ state: 'running' }, 'running'],
    [{ state: 'suspended' }, 'waits for you'],
    [{ state: 'unknown' }, 'may have happened'],
    [{}, 'done'],
    [{ is_error: true }, 'failed'],
    [{ outcome: 'approved', decided_by: 'person' }, 'approved by you'],
    [{ outcome: 'approved', decided_by: 'rule' }, 'approved by a rule'],
    [{ outcome: 'approved', decided_by: 'person', is_error: true }, 'approved by you, failed'],
    [{ outcome: 'declined', decided_by: 'person', is_error: true }, 'denied by you'],
    [{ outcome: 'expired', decided_by: 'deadline', is_error: true }, 'expired'],
    [{ outcome: 'cancelled', decided_by: 'stop', is_error: true }, 'cancelled'],
  ])('%j reads %s', (over, words) => {
    expect(callState(call(over), null, 0).words).toBe(words);
  });

  it('says how much time is left to decide', () => {
    expect(callState(call({ state: 'suspended' }), '1970-01-01T00:03:41.000Z', 0).words).toBe('waits for you, 3:41 left');
  });
});

describe('the end of a run', () => {
  const ended = (status: string, detail: string | null, max_tokens: number | null = null): RunDetail =>
    ({ item: { status, detail, waiting: 0 }, max_turns: 10, max_tokens }) as RunDetail;

  it('says which limit was reached and what to do', () => {
    const turns = ended('incomplete', 'maxTurns');
    expect(endWords(turns)?.words).toBe('It reached its limit of 10 turns without a word from you. Send a message to let it go on.');
    expect(runState(turns.item).words).toBe('out of turns');
    const tokens = ended('incomplete', 'maxTokens', 50_000);
    expect(endWords(tokens)?.words).toContain('It used the 50,000 tokens that a run of this agent may use');
    expect(runState(tokens.item).words).toBe('out of tokens');
  });

  it('says why it failed, and nothing of one that is done', () => {
    expect(endWords(ended('error', 'The model is gone.'))).toEqual({ tone: 'bad', words: 'The model is gone.' });
    expect(endWords(ended('interrupted', null))?.words).toContain('was stopped');
    expect(endWords(ended('done', null))).toBeNull();
  });
});

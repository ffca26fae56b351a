import type { CallItem } from '../bindings/CallItem';
import type { RunDetail } from '../bindings/RunDetail';
import type { RunItem } from '../bindings/RunItem';
import { left } from '../text/time';
import { count, plural } from '../text/words';

export type Tone = 'wait' | 'live' | 'bad' | '';

/** Where a run stands, in words, with the colour of its dot. */
export function runState(run: RunItem): { words: string; tone: Tone } {
  switch (run.status) {
    case 'running':
      return { words: 'working', tone: 'live' };
    case 'pending':
      return run.waiting > 0 ? { words: 'waits for you', tone: 'wait' } : { words: 'waiting', tone: 'wait' };
    case 'done':
      return { words: 'done', tone: '' };
    case 'incomplete':
      return { words: run.detail === 'maxTokens' ? 'out of tokens' : 'out of turns', tone: 'wait' };
    case 'interrupted':
      return { words: 'stopped', tone: '' };
    case 'error':
      return { words: 'failed', tone: 'bad' };
    default:
      return { words: run.status, tone: '' };
  }
}

/** Why a run ended before its model was done, and what the person can do. */
export function endWords({ item, max_turns, max_tokens }: RunDetail): { words: string; tone: 'bad' | '' } | null {
  switch (item.status) {
    case 'error':
      return { tone: 'bad', words: item.detail ?? 'The run failed. What was done before is kept.' };
    case 'incomplete': {
      if (item.detail !== 'maxTokens')
        return { tone: '', words: `It reached its limit of ${plural(max_turns, 'turn', 'turns')} without a word from you. Send a message to let it go on.` };
      const limit = max_tokens === null ? 'all tokens' : `the ${count(max_tokens)} tokens`;
      const words = `It used ${limit} that a run of this agent may use, so its model was not asked again. What was done is kept. To go on, raise the limit in the agent’s set-up and start a new run.`;
      return { tone: '', words };
    }
    case 'interrupted':
      return { tone: '', words: 'The run was stopped. Send a message to let it go on.' };
    default:
      return null;
  }
}

/** Whether it may still do something by itself. */
export function isActive(run: RunItem): boolean {
  return run.status === 'running' || run.status === 'pending';
}

/** Where a call stands, in words, with their colour. `deadline` is that of the request it waits for. */
export function callState(call: CallItem, deadline: string | null, now: number): { words: string; tone: 'ok' | 'no' | 'ex' | 'wt' } {
  switch (call.state) {
    case 'waiting':
      return { words: 'not started', tone: 'ex' };
    case 'running':
      return { words: 'running', tone: 'ok' };
    case 'suspended':
      return { words: deadline === null ? 'waits for you' : `waits for you, ${left(deadline, now)} left`, tone: 'wt' };
    case 'unknown':
      return { words: 'may have happened', tone: 'wt' };
    default:
      return finished(call);
  }
}

function finished(call: CallItem): { words: string; tone: 'ok' | 'no' | 'ex' } {
  const who = call.decided_by === 'rule' ? 'a rule' : 'you';
  switch (call.outcome) {
    case 'approved':
      return call.is_error ? { words: `approved by ${who}, failed`, tone: 'no' } : { words: `approved by ${who}`, tone: 'ok' };
    case 'answered':
      return { words: `answered by ${who}`, tone: 'ok' };
    case 'declined':
      return { words: `denied by ${who}`, tone: 'no' };
    case 'expired':
      return { words: 'expired', tone: 'ex' };
    case 'cancelled':
      return { words: 'cancelled', tone: 'ex' };
    default:
      return call.is_error ? { words: 'failed', tone: 'no' } : { words: 'done', tone: 'ok' };
  }
}

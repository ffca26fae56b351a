import type { CallItem } from '../bindings/CallItem';
import type { RunItem } from '../bindings/RunItem';
import { left } from '../text/time';

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
      return { words: 'stopped at its limit', tone: 'wait' };
    case 'interrupted':
      return { words: 'stopped', tone: '' };
    case 'error':
      return { words: 'failed', tone: 'bad' };
    default:
      return { words: run.status, tone: '' };
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

import { describe, expect, it } from 'vitest';
import { AGENTS, REQUESTS, RUNS } from '../transport/fake-data';
import { ACTIONS } from './actions';
import { find } from './find';

const world = { possible: () => true, requests: REQUESTS.map((one) => one.item), runs: RUNS.map((one) => one.item), agents: AGENTS };
const ids = (text: string, over: Partial<typeof world> = {}): string[] => find(text, { ...world, ...over }).map((one) => one.id);

describe('the palette', () => {
  it('finds requests, runs, agents and pages by any of their words', () => {
    expect(ids('tag origin')).toContain('request push');
    expect(ids('mailbox')).toEqual(['run mailbox']);
    expect(ids('llama')).toEqual(['agent mail-agent']);
    expect(ids('go to history')).toEqual(['action history']);
    expect(ids('no such thing')).toEqual([]);
  });

  it('offers what can be done now, and nothing else', () => {
    expect(find('', { ...world, possible: (id) => id === 'help' }).map((one) => one.id)).toEqual(['action help']);
  });

  it('never decides', () => {
    const deciding = ACTIONS.filter((one) => one.decides).map((one) => `action ${one.id}`);
    expect(deciding).toHaveLength(2);
    for (const text of ['', 'a', 'approve', 'deny', 'answer'])
      for (const id of deciding) expect(ids(text), text).not.toContain(id);
  });

  it('shows at most eight of a sort', () => {
    const many = Array.from({ length: 500 }, (_, n) => ({ ...world.requests[0]!, key: `k${n}` }));
    expect(ids('push', { requests: many }).filter((id) => id.startsWith('request'))).toHaveLength(8);
  });
});

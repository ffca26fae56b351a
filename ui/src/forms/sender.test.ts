import { describe, expect, it } from 'vitest';
import type { SenderItem } from '../bindings/SenderItem';
import { emptySender, lettersOf, readSender, writeSender, wrongSender } from './sender';

const ITEM: SenderItem = {
  name: 'invoice-bot',
  initials: 'IB',
  colour: 'teal',
  open: 2,
  total: 40,
  max_open: 50,
  per_minute: 30,
  may_edit: true,
  own_choices: false,
  callback_url: null,
  callback_key: null,
  failing: 0,
  given_up: 0,
  last_failure: null,
  created_at: '2026-01-01T00:00:00.000Z',
  token_at: '2026-01-01T00:00:00.000Z',
  last_seen_at: null,
  revoked_at: null,
};

describe('a sender’s set-up', () => {
  it('comes back as it was', () => {
    expect(writeSender(readSender(ITEM))).toEqual({
      name: 'invoice-bot',
      initials: 'IB',
      colour: 'teal',
      max_open: 50,
      per_minute: 30,
      may_edit: true,
      own_choices: false,
    });
  });

  it('leaves out what was not said', () => {
    expect(writeSender({ ...emptySender(), name: ' deploy ' })).toEqual({ name: 'deploy', may_edit: false, own_choices: false });
  });

  it('says what is wrong', () => {
    const limit = 'Enter a whole number from 1 to 100,000';
    const form = { ...emptySender(), initials: 'abc', maxOpen: '0', perMinute: '1.5' };
    expect(wrongSender(form)).toEqual({ name: 'Give it a name', initials: 'One or two letters', maxOpen: limit, perMinute: limit });
    expect(wrongSender({ ...emptySender(), name: 'x'.repeat(65) }).name).toBe('Keep the name under 65 characters');
    expect(wrongSender({ ...emptySender(), name: 'a', maxOpen: '100000', perMinute: '1' })).toEqual({});
    expect(wrongSender({ ...emptySender(), name: 'a', maxOpen: '100001' })).toEqual({ maxOpen: limit });
  });

  it('shows letters before they are chosen', () => {
    expect(lettersOf({ ...emptySender(), name: 'release-bot' })).toBe('RB');
    expect(lettersOf({ ...emptySender(), name: 'release-bot', initials: 'x' })).toBe('x');
  });
});

import { describe, expect, it } from 'vitest';
import { asks, decidedBy, decidedShort, initials, noteParts, outcomeWord, plural, settledWords } from './words';

describe('words', () => {
  it.each([
    ['release-bot', 'RB'],
    ['invoice', 'IN'],
    ['a', 'A'],
    ['über bot', 'ÜB'],
    ['…', '?'],
    ['\u202eevil', 'EV'],
  ])('%j → %s', (name, expected) => {
    expect(initials(name)).toBe(expected);
  });

  it('get plurals right', () => {
    expect(plural(0, 'turn', 'turns')).toBe('0 turns');
    expect(plural(1, 'turn', 'turns')).toBe('1 turn');
    expect(plural(18402, 'token', 'tokens')).toBe('18,402 tokens');
  });

  it('say who decided and where', () => {
    expect(decidedBy('person', 'notification')).toBe('you, from the notification');
    expect(decidedBy('person', null)).toBe('you');
    expect(decidedShort('person', 'cli')).toBe('you · terminal');
    expect(settledWords('declined', 'approval', 'person', 'window')).toBe('Denied by you, in the window');
    expect(settledWords('declined', 'question', 'person', 'cli')).toBe('Declined by you, in the terminal');
    expect(settledWords('expired', 'approval', 'deadline', null)).toBe('Expired: nobody answered in time');
    expect(settledWords('cancelled', 'approval', 'stop', 'window')).toBe('Cancelled: its run was stopped');
    expect(outcomeWord('approved', 'authorization')).toBe('Signed in');
  });

  it('split a note after its first sentence', () => {
    expect(noteParts('Cannot be undone here. Publishes a tag.')).toEqual(['Cannot be undone here.', 'Publishes a tag.']);
    expect(noteParts('Runs a command')).toEqual(['Runs a command', '']);
  });

  it('say what an unknown kind does', () => {
    expect(asks('approval', 'edit_file')).toBe('wants to edit a file');
    expect(asks('handshake', null)).toBe('asks');
  });
});

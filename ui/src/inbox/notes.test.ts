import { describe, expect, it } from 'vitest';
import type { RiskMark } from '../bindings/RiskMark';
import { notesOf } from './notes';

function mark(text: string, level: RiskMark['level']): RiskMark {
  return { code: 'deletes', level, text, start: null, end: null };
}

describe('the notes of a request', () => {
  it('carry the level of the risk that they are about, the gravest first', () => {
    const notes = ['A hook says so.', 'Writes files.', 'Deletes folders.'];
    const marks = [mark('Deletes folders.', 'high'), mark('Writes files.', 'low')];
    expect(notesOf({ notes, marks })).toEqual([
      { text: 'Deletes folders.', level: 'high' },
      { text: 'A hook says so.', level: null },
      { text: 'Writes files.', level: 'low' },
    ]);
  });

  it('are also those that were not stored with it', () => {
    expect(notesOf({ notes: [], marks: [mark('Moves money.', 'high')] })).toEqual([{ text: 'Moves money.', level: 'high' }]);
  });
});

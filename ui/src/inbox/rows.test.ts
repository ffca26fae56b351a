import { describe, expect, it } from 'vitest';
import type { RequestItem } from '../bindings/RequestItem';
import { at, request } from '../transport/fake-data';
import { type View, refusal, rowsOf, step } from './rows';

const VIEW: View = { text: '', kinds: [], risks: [], sort: 'deadline', open: new Set() };
const item = (key: string, over: Partial<RequestItem> & { age?: number } = {}): RequestItem => {
  const { age = 100, ...rest } = over;
  return { ...request({ key, kind: 'approval', prompt: `Do ${key}?`, source: 'bot', age }).item, ...rest };
};

/** The rows as text: `[Waiting] a b×3 >c`. */
function shown(items: readonly RequestItem[], view: Partial<View> = {}, kept: string | null = null): string {
  return rowsOf(items, { ...VIEW, ...view }, Date.now(), kept)
    .rows.map((row) => (row.type === 'head' ? `[${row.name}]` : `${row.within ? '>' : ''}${row.id}${row.group === null ? '' : `×${row.group.count}`}`))
    .join(' ');
}

describe('the lines of the list', () => {
  it('puts what expires soon first and what is snoozed last', () => {
    const items = [item('a', { expires_at: at(60) }), item('b'), item('c', { snoozed_until: at(9000) }), item('d', { expires_at: at(90_000) })];
    expect(shown(items)).toBe('[Expires soon] a [Waiting] b d [Snoozed] c');
  });

  it('brings back what was snoozed once its time has come', () => {
    expect(shown([item('a', { snoozed_until: at(-1) })])).toBe('[Waiting] a');
  });

  it('sorts by age or by source', () => {
    const items = [item('a', { age: 300, source: 'zed' }), item('b', { age: 200, source: 'Amy' }), item('c', { age: 100, source: 'zed' })];
    expect(shown(items, { sort: 'newest' })).toBe('[Waiting] c b a');
    expect(shown(items, { sort: 'source' })).toBe('[Amy] b [zed] a c');
  });

  it('makes one row of identical requests, which opens', () => {
    const items = [item('a', { group: 'g' }), item('b'), item('c', { group: 'g' }), item('d', { group: 'g' })];
    expect(shown(items)).toBe('[Waiting] a×3 b');
    expect(shown(items, { open: new Set(['waiting g']) })).toBe('[Waiting] a×3 >c >d b');
    const { rows, at: places } = rowsOf(items, VIEW, 0, null);
    expect(places.get('d')).toBe(1);
    expect(rows[1]).toMatchObject({ keys: ['a', 'c', 'd'] });
  });

  it('leaves what was decided out of its group', () => {
    expect(shown([item('a', { group: 'g' }), item('b', { group: 'g', state: 'approved' })])).toBe('[Waiting] a b');
  });

  it('filters by every word, kind and risk, and keeps what is being read', () => {
    const items = [item('a', { prompt: 'Push the tag', summary: 'git push' }), item('b', { kind: 'question' }), item('c', { risk: 'high' })];
    expect(shown(items, { text: 'PUSH git' })).toBe('[Waiting] a');
    expect(shown(items, { text: 'push' }, 'c')).toBe('[Waiting] a c');
    expect(shown(items, { kinds: ['question'] })).toBe('[Waiting] b');
    expect(shown(items, { risks: ['high', 'medium'] })).toBe('[Waiting] c');
    expect(shown(items, { text: 'nothing like it' })).toBe('');
  });

  it('steps over the names of sections', () => {
    const { rows } = rowsOf([item('a', { expires_at: at(60) }), item('b')], VIEW, Date.now(), null);
    expect([step(rows, -1, 1), step(rows, 1, 1), step(rows, 3, 1), step(rows, 3, -1), step(rows, 1, -1)]).toEqual([1, 3, -1, 1, -1]);
  });
});

describe('one answer for several', () => {
  const form = { kind: 'input', plain: false };
  it.each([
    ['alike or not, low and plain', [item('a'), item('b')], null],
    ['identical with some risk', [item('a', { group: 'g', risk: 'medium' }), item('b', { group: 'g', risk: 'medium' })], null],
    ['of two kinds', [item('a'), item('b', { kind: 'question' })], 'different kinds'],
    ['different with some risk', [item('a', { group: 'g' }), item('b', { group: 'h', risk: 'medium' })], 'has a risk'],
    ['identical with a high risk', [item('a', { group: 'g', risk: 'high' }), item('b', { group: 'g', risk: 'high' })], 'high risk'],
    ['forms', [item('a', form), item('b', form)], 'more than a yes'],
    ['none', [], 'decided'],
    ['too many', Array.from({ length: 201 }, (_, n) => item(`n${n}`)), 'At most 200'],
  ] as const)('%s', (_, items, why) => {
    const said = refusal(items, true);
    // A no needs one kind alone.
    expect(refusal(items, false) === null).toBe(why === null || !['different kinds', 'At most 200', 'decided'].includes(why));
    if (why === null) expect(said).toBeNull();
    else expect(said).toContain(why);
  });
});

import { beforeEach, expect, it } from 'vitest';
import type { RequestItem } from '../bindings/RequestItem';
import { type Transport, use } from '../transport';
import { at, request } from '../transport/fake-data';
import { FakeInbox } from '../transport/fake-inbox';
import { many } from '../transport/fake-requests';
import { Pending } from './pending.svelte';

let inbox: FakeInbox;
let asked: string[];
let pending: Pending;
/** Runs once a page was taken from the host, before it arrives. */
let meanwhile: () => Promise<void> | void;

const one = (key: string, over: Partial<RequestItem> = {}) => {
  const made = request({ key, kind: 'approval', prompt: key, source: `of ${key}`, age: 100 });
  return { ...made, item: { ...made.item, ...over } };
};
const keys = (): string[] => pending.list?.map((item) => item.key) ?? [];

beforeEach(() => {
  inbox = new FakeInbox([]);
  asked = [];
  meanwhile = () => undefined;
  pending = new Pending();
  use({
    call: async (command: string, params: never) => {
      asked.push(`${command} ${(params as { limit?: number }).limit ?? (params as { keys?: string[] }).keys?.length}`);
      const answer = structuredClone(command === 'inbox.list' ? inbox.list(params) : inbox.items(params));
      const now = meanwhile;
      meanwhile = () => undefined;
      await now();
      return answer;
    },
  } as unknown as Transport);
});

it('shows the first page at once and loads the rest behind it', async () => {
  inbox.add(many(2500));
  const seen: number[] = [];
  const loading = pending.load();
  while (!pending.complete) {
    await Promise.resolve();
    const length = pending.list?.length ?? 0;
    if (seen.at(-1) !== length) seen.push(length);
    // How many wait is known from the first page on.
    if (length > 0) expect(pending.waiting).toBe(2500);
  }
  await loading;
  expect(seen).toEqual([0, 200, 1200, 2200, 2500]);
  expect(asked).toEqual(['inbox.list 200', 'inbox.list 1000', 'inbox.list 1000', 'inbox.list 1000']);
});

it('asks only about what changed, and drops what waits no more', async () => {
  inbox.add([one('a'), one('b')]);
  await pending.load();
  asked = [];
  inbox.decide({ key: 'a', ok: true });
  inbox.add([one('c', { expires_at: at(60) })]);
  pending.changed('a');
  pending.changed('c');
  await pending.refresh();
  expect(asked).toEqual(['inbox.items 2']);
  expect(keys()).toEqual(['c', 'b']);
  expect(pending.arrival).toEqual({ count: 1, sources: ['of c'] });
});

it('asks about at most a thousand at once', async () => {
  await pending.load();
  inbox.add(many(1500));
  for (let n = 0; n < 1500; n += 1) pending.changed(`n${n}`);
  asked = [];
  await pending.refresh();
  expect(asked).toEqual(['inbox.items 1000', 'inbox.items 500']);
  expect(keys()).toHaveLength(1500);
});

it('brings nothing back that was decided while pages came in', async () => {
  inbox.add([one('a'), one('b')]);
  meanwhile = async () => {
    inbox.decide({ key: 'a', ok: true });
    inbox.add([one('c')]);
    pending.changed('a');
    pending.changed('c');
    await pending.refresh();
  };
  await pending.load();
  expect(keys()).toEqual(['b', 'c']);
});

it('asks again about what it could not learn', async () => {
  inbox.add([one('a')]);
  await pending.load();
  inbox.decide({ key: 'a', ok: true });
  pending.changed('a');
  meanwhile = () => {
    throw new Error('gone');
  };
  await expect(pending.refresh()).rejects.toThrow('gone');
  expect(keys()).toEqual(['a']);
  await pending.refresh();
  expect(keys()).toEqual([]);
});

it('counts what is snoozed apart', async () => {
  inbox.add([one('a'), one('b', { snoozed_until: at(600) })]);
  await pending.load();
  expect(pending.waiting).toBe(1);
});

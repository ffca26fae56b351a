import type { Decision } from '../bindings/Decision';
import type { RequestItem } from '../bindings/RequestItem';
import { host } from '../state/host.svelte';
import { undo } from '../state/undo.svelte';
import { visible } from '../text/hidden';
import { outcomeWord, plural } from '../text/words';
import { CallError, call } from '../transport';

/** What is sent for a decision, beside which request it is for. */
export interface Answer {
  ok: boolean;
  data?: string;
  reason?: string;
}

/** Decides one request and offers to take it back. */
export async function decideOne(item: RequestItem, answer: Answer): Promise<Decision> {
  const decision = await call('inbox.decide', { key: item.key, digest: item.digest, ...answer });
  offer([decision], item);
  return decision;
}

/** Gives a request and its identical ones the same answer; throws what kept the first from being decided. */
export async function decideAlike(item: RequestItem, alike: readonly RequestItem[], answer: Answer): Promise<Decision> {
  const { decided, failed } = await decideMany([item, ...alike], answer);
  const own = decided.find((one) => one.key === item.key);
  if (own !== undefined) return own;
  const [why] = failed;
  throw new CallError(why?.code ?? 'internal', why?.message ?? 'Nothing was decided.');
}

/** What came of one answer for several. */
export interface Several {
  decided: Decision[];
  failed: { key: string; code: string; message: string }[];
}

/** Gives several requests one answer, each in its own right. */
export async function decideMany(items: readonly RequestItem[], answer: Answer): Promise<Several> {
  const decisions = items.map(({ key, digest }) => ({ key, digest }));
  const { results } = await call('inbox.decide_many', { decisions, ...answer });
  const decided = results.flatMap((one) => one.decision ?? []);
  const failed = results.flatMap(({ key, error }) => (error === null ? [] : [{ key, ...error }]));
  const [first] = items;
  if (first !== undefined) offer(decided, first);
  return { decided, failed };
}

function offer(decided: readonly Decision[], item: RequestItem): void {
  for (const { key } of decided) host.changed(key);
  const [first] = decided;
  if (first === undefined || first.undo_until === null) return;
  const what = decided.length === 1 ? `“${short(visible(item.prompt))}”` : plural(decided.length, 'request', 'requests');
  undo.give({ keys: decided.map((one) => one.key), words: `${outcomeWord(first.outcome, item.kind)} ${what}`, until: first.undo_until });
}

function short(text: string): string {
  const [line = ''] = text.split('\n');
  return line.length > 60 ? `${line.slice(0, 60)}…` : line;
}

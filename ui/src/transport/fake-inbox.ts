/** What waits in the made-up host: it pages, settles, snoozes and takes back as the real one does. */
import type { DecideMany } from '../bindings/DecideMany';
import type { DecidedMany } from '../bindings/DecidedMany';
import type { Decide } from '../bindings/Decide';
import type { Decision } from '../bindings/Decision';
import type { InboxList } from '../bindings/InboxList';
import type { InboxPage } from '../bindings/InboxPage';
import type { RequestDetail } from '../bindings/RequestDetail';
import type { RequestItem } from '../bindings/RequestItem';
import type { Snooze } from '../bindings/Snooze';
import { byDeadline } from '../state/pending.svelte';
import { CallError, problemOf } from './problem';

export class FakeInbox {
  readonly #waiting = new Map<string, RequestDetail>();
  readonly #settled = new Map<string, RequestDetail>();
  /** Told of every request that changed. */
  changed: (key: string) => void = () => undefined;
  /** How long a decision can be taken back. */
  undoMs = 3000;
  /** Why nothing can be decided, where that is so. */
  broken: CallError | null = null;

  constructor(requests: readonly RequestDetail[]) {
    this.add(requests);
  }

  get count(): number {
    return this.#waiting.size;
  }

  get snoozed(): number {
    return [...this.#waiting.values()].filter((one) => one.item.snoozed_until !== null).length;
  }

  add(requests: readonly RequestDetail[]): void {
    for (const one of requests) this.#waiting.set(one.item.key, one);
  }

  /** One more comes in, and is announced. */
  arrive(request: RequestDetail): void {
    this.add([request]);
    this.changed(request.item.key);
  }

  clear(): void {
    this.#waiting.clear();
  }

  list({ after, limit = 200 }: InboxList): InboxPage {
    const all = [...this.#waiting.values()].map((one) => one.item).sort(byDeadline);
    const from = after === undefined ? 0 : all.findIndex((item) => item.key === after) + 1;
    const items = all.slice(from, from + limit);
    const next = from + limit < all.length ? (items.at(-1)?.key ?? null) : null;
    return { items, next, total: all.length, snoozed: this.snoozed };
  }

  items({ keys }: { keys: string[] }): RequestItem[] {
    return keys.flatMap((key) => this.#waiting.get(key)?.item ?? []);
  }

  show({ key }: { key: string }): RequestDetail {
    const found = this.#waiting.get(key) ?? this.#settled.get(key);
    if (found === undefined) throw new CallError('not_found', 'This request is not known. It may belong to another data folder.');
    return found;
  }

  decide({ key, ok, data, reason, digest }: Decide): Decision {
    if (this.broken !== null) throw this.broken;
    const detail = this.#waiting.get(key);
    if (detail === undefined) throw new CallError('already_decided', 'You denied this at 14:02, from the notification. Nothing was changed.');
    if (digest !== undefined && digest !== detail.item.digest) throw new CallError('changed', 'This is not what waits any more. Nothing was decided.');
    const outcome = !ok ? 'declined' : data === undefined ? 'approved' : 'answered';
    const answer = JSON.stringify({ id: key, ok, ...(reason === undefined ? {} : { reason }) });
    const now = Date.now();
    const undo_until = this.undoMs === 0 ? null : new Date(now + this.undoMs).toISOString();
    const decision: Decision = { key, outcome, answer, class: ok ? null : 'declined', decided_by: 'person', surface: 'window', decided_at: new Date(now).toISOString(), undo_until };
    this.#waiting.delete(key);
    this.#settled.set(key, { ...detail, decision });
    this.#announce(key);
    return decision;
  }

  decideMany({ decisions, ...answer }: DecideMany): DecidedMany {
    return {
      results: decisions.map((one) => {
        try {
          return { key: one.key, decision: this.decide({ ...one, ...answer }), error: null };
        } catch (thrown) {
          return { key: one.key, decision: null, error: problemOf(thrown) };
        }
      }),
    };
  }

  snooze({ key, until }: Snooze): RequestItem {
    const found = this.show({ key });
    const changed = { ...found, item: { ...found.item, snoozed_until: until } };
    this.#waiting.set(key, changed);
    this.#announce(key);
    return changed.item;
  }

  undo({ key }: { key: string }): RequestItem {
    const found = this.#settled.get(key);
    if (found?.decision?.undo_until == null || Date.parse(found.decision.undo_until) < Date.now())
      throw new CallError('too_late', 'Too late: the answer is on its way already. It stands in History.');
    this.#settled.delete(key);
    this.#waiting.set(key, { ...found, decision: null });
    this.#announce(key);
    return found.item;
  }

  #announce(key: string): void {
    setTimeout(() => this.changed(key), 20);
  }
}

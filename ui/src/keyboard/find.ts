import type { AgentItem } from '../bindings/AgentItem';
import type { RequestItem } from '../bindings/RequestItem';
import type { RunItem } from '../bindings/RunItem';
import type { Place } from '../state/route.svelte';
import { ACTIONS, type ActionId, type Where } from './actions';

/** Something that the palette found, and where it leads. */
export interface Found {
  id: string;
  /** What it is: `Request`. */
  what: string;
  name: string;
  below: string;
  goes: { action: ActionId } | { action?: undefined; place: Place; id: string | null };
}

/** All that can be found. */
export interface World {
  /** Whether an action does something now. */
  possible: (action: ActionId) => boolean;
  requests: readonly RequestItem[];
  runs: readonly RunItem[];
  agents: readonly AgentItem[];
}

/** What can be done anywhere comes first. */
const ORDER: Where[] = ['Everywhere', 'Inbox', 'Lists'];

/** The most of one sort that are shown. */
const MOST = 8;

/** What matches every word. Nothing that decides is ever among it. */
export function find(text: string, world: World): Found[] {
  const words = text.toLowerCase().split(/\s+/).filter((word) => word !== '');
  const fits = (...parts: string[]): boolean => {
    const all = parts.join('\n').toLowerCase();
    return words.every((word) => all.includes(word));
  };
  const some = <T>(items: readonly T[], parts: (item: T) => string[], found: (item: T) => Found): Found[] => {
    const out: Found[] = [];
    for (const item of items) {
      if (out.length === MOST) break;
      if (fits(...parts(item))) out.push(found(item));
    }
    return out;
  };
  const actions = ORDER.flatMap((place) => ACTIONS.filter((one) => one.place === place)).filter((one) => !one.decides && one.id !== 'palette' && world.possible(one.id) && fits(one.label, one.place)).map(
    (one): Found => ({ id: `action ${one.id}`, what: 'Action', name: one.label, below: one.when ?? '', goes: { action: one.id } }),
  );
  const things = [
    ...some(
      world.requests,
      (one) => [one.prompt, one.summary, one.source, one.tool ?? '', 'request'],
      (one) => ({ id: `request ${one.key}`, what: 'Request', name: one.prompt, below: one.source, goes: { place: 'inbox', id: one.key } }),
    ),
    ...some(
      world.runs,
      (one) => [one.title, one.agent, one.status, 'run'],
      (one) => ({ id: `run ${one.run}`, what: 'Run', name: one.title, below: one.agent, goes: { place: 'runs', id: one.run } }),
    ),
    ...some(
      world.agents,
      (one) => [one.name, one.model, 'agent'],
      (one) => ({ id: `agent ${one.name}`, what: 'Agent', name: one.name, below: one.model, goes: { place: 'agents', id: one.name } }),
    ),
  ];
  // Before anything is typed it says what can be done here; then what was meant comes first.
  return words.length === 0 ? actions : [...things, ...actions];
}

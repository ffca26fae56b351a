import { SvelteSet } from 'svelte/reactivity';
import type { Risk } from '../bindings/Risk';
import type { Row, Sort } from './rows';

/** How the person looks at the list; it stays while they are elsewhere. */
class Looking {
  text = $state('');
  kinds = $state.raw<readonly string[]>([]);
  risks = $state.raw<readonly Risk[]>([]);
  sort = $state<Sort>('deadline');
  readonly open = new SvelteSet<string>();
  /** What is marked, to be answered at once. Only ever by hand. */
  readonly marked = new SvelteSet<string>();

  toggleKind(kind: string): void {
    this.kinds = toggled(this.kinds, kind);
  }

  toggleRisk(risk: Risk): void {
    this.risks = toggled(this.risks, risk);
  }

  showAll(): void {
    this.text = '';
    this.kinds = [];
    this.risks = [];
  }

  /** Marks all that these rows stand for. */
  mark(rows: readonly Row[]): void {
    for (const row of rows) if (row.type === 'item' && row.item.state === 'pending') for (const key of row.keys) this.marked.add(key);
  }

  /** Marks all that a row stands for, or takes the mark away where all have it. */
  toggle(row: Row): void {
    if (row.type !== 'item') return;
    if (row.keys.every((key) => this.marked.has(key))) for (const key of row.keys) this.marked.delete(key);
    else this.mark([row]);
  }
}

function toggled<T>(all: readonly T[], one: T): readonly T[] {
  return all.includes(one) ? all.filter((other) => other !== one) : [...all, one];
}

export const looking = new Looking();

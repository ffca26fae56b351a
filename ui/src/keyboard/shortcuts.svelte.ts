import { type ActionId, type Binding, type Overrides, bindings, conflicts, keyName } from './actions';

/** The keys as they are now: the table with the person's own. */
class Shortcuts {
  overrides = $state.raw<Overrides>({});
  readonly bindings = $derived<readonly Binding[]>(bindings(this.overrides));
  /** Keys that stand for several actions, and so for none. */
  readonly clashing = $derived<ReadonlySet<string>>(new Set(conflicts(this.overrides).map((one) => one.keys)));

  keysOf(action: ActionId): readonly string[] {
    return this.bindings.find((one) => one.id === action)?.keys ?? [];
  }
}

export const shortcuts = new Shortcuts();

/** The hint for a button: the first key of its action; empty where it has none. */
export function hint(action: ActionId): string {
  return keyName(shortcuts.keysOf(action)[0] ?? '');
}

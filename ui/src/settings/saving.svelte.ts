import type { Settings } from '../bindings/Settings';
import { host } from '../state/host.svelte';
import { type Problem, call, problemOf } from '../transport';

/** Saves settings as they are changed, one after the other; each keeps its own error. */
class Saving {
  #problems = $state.raw<Partial<Record<keyof Settings, Problem>>>({});
  #turn: Promise<unknown> = Promise.resolve();

  problem(name: keyof Settings): Problem | null {
    return this.#problems[name] ?? null;
  }

  /** Saves one setting; false when it was refused. What holds stays as it is then. */
  set<N extends keyof Settings>(name: N, value: Settings[N]): Promise<boolean> {
    const saved = this.#turn.then(() => this.#save(name, value));
    this.#turn = saved;
    return saved;
  }

  /** Forgets what was refused, for when what was typed is taken back. */
  forget(name: keyof Settings): void {
    const { [name]: _, ...others } = this.#problems;
    this.#problems = others;
  }

  async #save<N extends keyof Settings>(name: N, value: Settings[N]): Promise<boolean> {
    try {
      host.settings = await call('settings.set', { [name]: value });
      this.forget(name);
      return true;
    } catch (thrown) {
      this.#problems = { ...this.#problems, [name]: problemOf(thrown) };
      return false;
    }
  }
}

export const saving = new Saving();

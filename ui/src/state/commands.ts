import type { Action } from '../decide/keys';

type Handler = () => void;

/** What the keys do on the screen that is shown: the last one to say so wins. */
class Commands {
  #handlers: Partial<Record<Action, Handler>>[] = [];

  /** Takes these actions over until the returned function is called. */
  take(handlers: Partial<Record<Action, Handler>>): () => void {
    this.#handlers.push(handlers);
    return () => {
      this.#handlers = this.#handlers.filter((one) => one !== handlers);
    };
  }

  /** Runs the action; false when nobody takes it now. */
  run(action: Action): boolean {
    const handler = this.#handlers.findLast((one) => one[action] !== undefined)?.[action];
    handler?.();
    return handler !== undefined;
  }
}

export const commands = new Commands();

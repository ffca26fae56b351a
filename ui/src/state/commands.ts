import type { ActionId } from '../keyboard/actions';

type Handler = () => void;
type Handlers = Partial<Record<ActionId, Handler>>;

/** What the keys do on the screen that is shown: the last one to say so wins. */
class Commands {
  #handlers: Handlers[] = [];

  /** Takes these actions over until the returned function is called. */
  take(handlers: Handlers): () => void {
    this.#handlers.push(handlers);
    return () => {
      this.#handlers = this.#handlers.filter((one) => one !== handlers);
    };
  }

  /** Whether the action does something now. */
  has(action: ActionId): boolean {
    return this.#find(action) !== undefined;
  }

  /** Runs the action; false when nobody takes it now. */
  run(action: ActionId): boolean {
    const handler = this.#find(action);
    handler?.();
    return handler !== undefined;
  }

  #find(action: ActionId): Handler | undefined {
    return this.#handlers.findLast((one) => one[action] !== undefined)?.[action];
  }
}

export const commands = new Commands();

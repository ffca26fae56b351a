export type Place = 'inbox' | 'runs' | 'agents' | 'senders' | 'history' | 'settings';

const PLACES: readonly string[] = ['inbox', 'runs', 'agents', 'senders', 'history', 'settings'];

/** What somebody asked for in the tray: `#/quit`, `#/new-run/AGENT`. */
export type Wish = { what: 'quit' } | { what: 'run'; agent: string };

function readWish(hash: string): Wish | null {
  const [what = '', agent = ''] = hash.replace(/^#\/?/, '').split('/');
  if (what === 'quit') return { what };
  if (what === 'new-run') return { what: 'run', agent: decodeURIComponent(agent) };
  return null;
}

function read(hash: string): { place: Place; id: string | null } {
  const [place = '', id = ''] = hash.replace(/^#\/?/, '').split('/');
  if (!PLACES.includes(place)) return { place: 'inbox', id: null };
  return { place: place as Place, id: id === '' ? null : decodeURIComponent(id) };
}

/** Where the app is: `#/inbox/KEY`, `#/runs/RUN`, `#/history/KEY`, `#/agents/NAME`, `#/senders/NAME`, `#/settings`. The address is the selection. */
class Route {
  place = $state<Place>('inbox');
  id = $state<string | null>(null);
  /** The id that the person selected by hand, as opposed to a link, a notification or the app itself. */
  byHand = $state<string | null>(null);

  /** Counts what led here from outside, such as a notification, so that even a link to what is on show is noticed. */
  arrivals = $state(0);

  /** A wish from outside that waits to be looked at. It changes nothing of what is on show. */
  wish = $state.raw<Wish | null>(null);

  constructor() {
    this.#arrive();
    window.addEventListener('hashchange', () => {
      this.#arrive();
      this.arrivals += 1;
    });
  }

  #arrive(): void {
    const wish = readWish(location.hash);
    if (wish === null) return this.#take(null);
    this.wish = wish;
    history.replaceState(null, '', href(this.place, this.id));
  }

  /** Goes there because the person chose it. */
  pick(place: Place, id: string | null = null): void {
    this.#go(place, id, id, false);
  }

  /** Goes there because the app or something outside chose it; `quietly` leaves no step to go back to. */
  show(place: Place, id: string | null = null, quietly = false): void {
    this.#go(place, id, null, quietly);
  }

  #go(place: Place, id: string | null, byHand: string | null, quietly: boolean): void {
    const hash = href(place, id);
    if (hash !== location.hash) {
      if (quietly) history.replaceState(null, '', hash);
      else history.pushState(null, '', hash);
    }
    this.#take(byHand);
  }

  #take(byHand: string | null): void {
    const { place, id } = read(location.hash);
    this.place = place;
    this.id = id;
    this.byHand = byHand;
  }
}

export function href(place: Place, id: string | null = null): string {
  return id === null ? `#/${place}` : `#/${place}/${encodeURIComponent(id)}`;
}

export const route = new Route();

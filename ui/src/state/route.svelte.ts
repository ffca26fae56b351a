export type Place = 'inbox' | 'runs' | 'agents' | 'senders' | 'history' | 'settings';

const PLACES: readonly string[] = ['inbox', 'runs', 'agents', 'senders', 'history', 'settings'];

/** What somebody asked for in the tray: `#/quit`, `#/new-run/AGENT`. */
export type Wish = { what: 'quit' } | { what: 'run'; agent: string };

function readWish(hash: string): Wish | null {
  const [what = '', agent = ''] = hash.replace(/^#\/?/, '').split('/');
  if (what === 'quit') return { what };
  if (what === 'new-run') return { what: 'run', agent: plain(agent) };
  return null;
}

function read(hash: string): { place: Place; id: string | null; query: string } {
  const [path = '', ...query] = hash.replace(/^#\/?/, '').split('?');
  const [place = '', id = ''] = path.split('/');
  if (!PLACES.includes(place)) return { place: 'inbox', id: null, query: '' };
  return { place: place as Place, id: id === '' ? null : plain(id), query: query.join('?') };
}

/** What stands in an address by hand may be no encoding of anything. */
function plain(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Where the app is: `#/inbox/KEY`, `#/runs/RUN`, `#/history/KEY`, `#/agents/NAME`, `#/senders/NAME`, `#/settings/PART`; after a `?` what a list is filtered by. The address is the selection. */
class Route {
  place = $state<Place>('inbox');
  id = $state<string | null>(null);
  /** What follows the `?`. */
  query = $state('');
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
  pick(place: Place, id: string | null = null, query = ''): void {
    this.#go(href(place, id, query), id, false);
  }

  /** Goes there because the app or something outside chose it; `quietly` leaves no step to go back to. */
  show(place: Place, id: string | null = null, quietly = false, query = ''): void {
    this.#go(href(place, id, query), null, quietly);
  }

  #go(hash: string, byHand: string | null, quietly: boolean): void {
    if (hash !== location.hash) {
      if (quietly) history.replaceState(null, '', hash);
      else history.pushState(null, '', hash);
    }
    this.#take(byHand);
  }

  #take(byHand: string | null): void {
    const { place, id, query } = read(location.hash);
    this.place = place;
    this.id = id;
    this.query = query;
    this.byHand = byHand;
  }
}

export function href(place: Place, id: string | null = null, query = ''): string {
  const path = id === null ? `#/${place}` : `#/${place}/${encodeURIComponent(id)}`;
  return query === '' ? path : `${path}?${query}`;
}

export const route = new Route();

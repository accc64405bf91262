// The address of the page as the state that lasts: each run writes its query, view and snapshot there, so that reloading, a
// bookmark and the browser's Back lead to the same answer.

import { store, stored } from '../history';
import { write, type Link } from '../link';

/** Longer addresses are refused by proxies and mail programs. */
const LONGEST = 16_000;
/** Milliseconds between two writes while the map moves; browsers limit how often pages write. */
const BETWEEN = 1000;
const KEY = 'address';

export class Address {
  private waiting = 0;

  /** `current` returns what the page shows; null while it shows something else than a query. */
  constructor(private readonly current: () => Link | null) {}

  /** Writes a run. A query that differs from that of the address becomes a new entry of the browser's history. */
  ran(): void {
    const link = this.current();
    if (!link) return;
    const hash = this.hash({ ...link, run: true });
    if (hash === null) return;
    const differs = queryOf(location.hash) !== queryOf(hash) && location.hash !== '';
    this.put(hash, differs);
  }

  /** The map was moved: the address of a run follows. */
  moved(): void {
    clearTimeout(this.waiting);
    this.waiting = window.setTimeout(() => {
      const link = this.current();
      if (!link?.view || !this.isOwn()) return;
      const fields = new URLSearchParams(location.hash.slice(1));
      // The query of the address is that of the answer, whatever is being written.
      const hash = this.hash({ query: fields.get('Q') ?? undefined, language: fields.get('lang') === 'sparql' ? 'sparql' : 'overpassql', view: link.view, run: true, snapshot: fields.get('S') ?? undefined });
      if (hash !== null && hash !== location.hash) this.put(hash, false);
    }, BETWEEN);
  }

  /** Whether the address is one that this tab wrote, and not a link that was opened. */
  isOwn(): boolean {
    return location.hash.length > 1 && stored(KEY, '', 'sessionStorage') === location.hash;
  }

  private hash(link: Link): string | null {
    const hash = write(link).replace(/^[^#]*/, '');
    return hash.length > LONGEST ? null : hash;
  }

  private put(hash: string, isNew: boolean): void {
    store(KEY, hash, 'sessionStorage');
    try {
      if (isNew) history.pushState(history.state, '', `${location.pathname}${hash}`);
      else history.replaceState(history.state, '', `${location.pathname}${hash}`);
    } catch {
      // Written too often, or not allowed: the address stays.
    }
  }
}

const queryOf = (hash: string): string => {
  const fields = new URLSearchParams(hash.slice(1));
  return `${fields.get('lang') ?? ''} ${fields.get('Q') ?? ''}`;
};

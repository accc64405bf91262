// Queries that a user saved under names, kept by the browser; files carry them to another one.

import type { Language } from '../link';
import { t } from '../text/lookup';

export interface SavedQuery {
  name: string;
  language: Language;
  query: string;
  /** When it was saved, in milliseconds since 1970. */
  at: number;
}

const KEY = 'saved';
/** What a file says that it is. */
const FORMAT = 'terrapin-queries';
/** Letters of a name. */
const LONGEST = 120;
/** Maximum number of queries that are kept, and letters of one. */
const MOST = 2000;
const LETTERS = 1 << 20;

/** Returns the saved queries by name. */
export function saved(): SavedQuery[] {
  try {
    return queriesIn(JSON.parse(localStorage.getItem(KEY) ?? '[]'));
  } catch {
    return [];
  }
}

/** Saves a query; one of the same name is replaced. */
export function save(entry: SavedQuery): void {
  store(merged(saved(), [entry]));
}

export function remove(name: string): void {
  store(saved().filter((entry) => entry.name !== name));
}

/** Returns the content of a file with all saved queries. */
export function exported(): string {
  return `${JSON.stringify({ format: FORMAT, queries: saved() }, null, 2)}\n`;
}

/** Adds the queries of a file and returns their number. Queries of the same name are replaced. */
export function imported(text: string): number {
  let file: unknown;
  try {
    file = JSON.parse(text);
  } catch {
    throw new Error(t('theFileIsNoJSONChoose'));
  }
  const { format, queries } = (file ?? {}) as { format?: unknown; queries?: unknown };
  if (format !== FORMAT) throw new Error(t('theFileIsNotOfThe', { format: FORMAT }));
  const found = queriesIn(queries);
  store(merged(saved(), found));
  return found.length;
}

function store(entries: SavedQuery[]): void {
  if (entries.length > MOST) throw new Error(t('atMostQueriesCanBeSaved', { n: MOST }));
  try {
    localStorage.setItem(KEY, JSON.stringify(entries));
  } catch (cause) {
    throw new Error(t('theBrowserHasNoRoomFor'), { cause });
  }
}

function merged(old: SavedQuery[], more: SavedQuery[]): SavedQuery[] {
  const all = new Map([...old, ...more].map((entry) => [entry.name, entry]));
  return [...all.values()].sort((a, b) => a.name.localeCompare(b.name));
}

/** Returns what of a list is a query; files may have anything. */
function queriesIn(list: unknown): SavedQuery[] {
  if (!Array.isArray(list)) return [];
  return list.flatMap((one: unknown): SavedQuery[] => {
    const { name, language, query, at } = (one ?? {}) as Record<string, unknown>;
    if (typeof name !== 'string' || !name.trim() || typeof query !== 'string' || query.length > LETTERS) return [];
    return [{ name: name.trim().slice(0, LONGEST), language: language === 'sparql' ? 'sparql' : 'overpassql', query, at: typeof at === 'number' ? at : 0 }];
  });
}

// Queries that were run, and the one that is being written; kept by the browser, nowhere else.

import type { Language } from './link';

export interface Past {
  query: string;
  language: Language;
  /** When, in milliseconds since 1970. */
  at: number;
  rows: number;
  ms: number;
}

const MOST = 60;

type Where = 'localStorage' | 'sessionStorage';

/** Returns what the browser keeps under a name, for the browser or for the tab; `otherwise` if it keeps nothing or allows nothing. */
export function stored<T>(name: string, otherwise: T, where: Where = 'localStorage'): T {
  try {
    return (JSON.parse(globalThis[where].getItem(name) ?? 'null') as T | null) ?? otherwise;
  } catch {
    return otherwise;
  }
}

/** Keeps a value under a name; a browser that is full or does not allow it forgets the value. */
export function store(name: string, value: unknown, where: Where = 'localStorage'): void {
  try {
    globalThis[where].setItem(name, JSON.stringify(value));
  } catch {
    // A frame of another site may have no storage.
  }
}

export const past = (): Past[] => stored<Past[]>('history', []);

export function remember(entry: Past): void {
  store('history', [entry, ...past().filter((old) => old.query !== entry.query || old.language !== entry.language)].slice(0, MOST));
}

export const forget = (): void => store('history', []);

export interface Drafts {
  language: Language;
  overpassql: string;
  sparql: string;
}

/** The drafts of this tab; in a new tab those that were written last in any. */
export const drafts = (): Partial<Drafts> => stored<Partial<Drafts> | null>('drafts', null, 'sessionStorage') ?? stored<Partial<Drafts>>('drafts', {});

export function keepDrafts(drafts: Drafts): void {
  store('drafts', drafts, 'sessionStorage');
  store('drafts', drafts);
}

export const setting = (name: string): string | null => stored<string | null>(`setting-${name}`, null);

export const setSetting = (name: string, value: string): void => store(`setting-${name}`, value);

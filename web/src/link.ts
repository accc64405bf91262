// Permalinks: the query, the map and the snapshot in the part of the address that no server sees. Links of overpass-turbo
// (`?Q=...&C=lat;lon;zoom&R`, `?q=` packed, `?w=` and `?template=`), `?lat=&lon=&zoom=` and links of the Wikidata Query Service (`#SELECT...`) are read, too.

import { fromTemplate } from './template';
import { t } from './text/lookup';

export type Language = 'overpassql' | 'sparql';

/** What languages are called. */
export const LANGUAGES: Record<Language, string> = { overpassql: 'OverpassQL', sparql: 'SPARQL' };

export interface Link {
  query?: string;
  language?: Language;
  /** Latitude, longitude, zoom. */
  view?: [number, number, number];
  /** To be run when the page opens. */
  run: boolean;
  /** The digest of the snapshot that it was made over. */
  snapshot?: string;
  /** Words that stand for a query: the wizard's in links of overpass-turbo. */
  words?: string;
  /** What of the link was not understood. */
  problem?: string;
}

export function read(location: Location): Link {
  const given = new URLSearchParams(location.hash.length > 1 ? location.hash.slice(1) : location.search);
  const bare = ofWikidata(location.hash.slice(1));
  if (bare) return { query: bare, language: 'sparql', run: false };
  const packed = given.get('q');
  const written = given.get('Q') ?? (packed === null ? undefined : unpack(packed));
  const { query = written, problem } = written === undefined ? short(given) : {};
  const view = (given.get('C') ?? ['lat', 'lon', 'zoom'].map((name) => given.get(name) || 'none').join(';')).split(';').map(Number);
  const [lat = NaN, lon = NaN, zoom = NaN] = view;
  const zoomed: Link['view'] = view.length === 3 && isPlace(lat, lon) && zoom >= 0 ? [lat, lon, Math.min(24, zoom)] : undefined;
  const packedView = unpackView(given.get('c') ?? '');
  // In the address of the page `lang` may also be the language of its texts.
  const named = given.get('lang') ?? '';
  const isNamed = named === 'sparql' || named === 'overpassql';
  const language = named === 'sparql' ? 'sparql' : query === undefined ? undefined : looksLikeSparql(query) && !isNamed ? 'sparql' : 'overpassql';
  return { query, language, view: zoomed ?? packedView, run: given.has('R'), snapshot: given.get('S') ?? undefined, words: written === undefined ? (given.get('w') ?? undefined) : undefined, problem };
}

/** The query of a link that has it in a short form. */
function short(given: URLSearchParams): { query?: string; problem?: string } {
  const template = given.get('template');
  if (template === null) return {};
  const query = fromTemplate(template, given);
  return query === undefined ? { problem: t('thisLinkNamesTheTemplate', { template }) } : { query };
}

export function write(link: Link): string {
  const part = new URLSearchParams();
  if (link.query !== undefined) part.set('Q', link.query);
  if (link.language === 'sparql') part.set('lang', 'sparql');
  if (link.view) part.set('C', link.view.map((value, i) => value.toFixed(i === 2 ? 2 : 5)).join(';'));
  if (link.snapshot) part.set('S', link.snapshot);
  const text = part.toString() + (link.run ? '&R' : '');
  return `${location.origin}/#${text}`;
}

/** What a query looks like of which nothing is said. */
export function looksLikeSparql(query: string): boolean {
  const text = query.replace(/#.*$/gm, '').trimStart();
  return /^(prefix|base|select|construct|describe|ask|with)\b/i.test(text);
}

const isPlace = (lat: number, lon: number): boolean => Math.abs(lat) <= 90 && Math.abs(lon) <= 180;

/** The query of a link of the Wikidata Query Service, which is all that stands after `#`. */
function ofWikidata(hash: string): string | undefined {
  try {
    const text = decodeURIComponent(hash);
    return looksLikeSparql(text) ? text : undefined;
  } catch {
    return undefined;
  }
}

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

const number = (text: string): number => [...text].reduce((value, digit) => value * 64 + DIGITS.indexOf(digit), 0);

/** overpass-turbo's `c`: both degrees as one number, and a digit for the zoom. */
function unpackView(packed: string): [number, number, number] | undefined {
  if (!/^[\w-]{2,}$/.test(packed)) return undefined;
  const both = number(packed.slice(0, -1));
  const range = 180 * 100_000;
  const lat = (both % range) / 100_000 - 90;
  const lon = Math.floor(both / range) / 100_000 - 180;
  return isPlace(lat, lon) ? [lat, lon, number(packed.slice(-1))] : undefined;
}

/** overpass-turbo's `q`: LZW over the bytes of the text, its codes as characters in UTF-8, and that in base64. */
function unpack(packed: string): string | undefined {
  try {
    const bytes = Uint8Array.from(atob(packed.replace(/[- ]/g, '+').replace(/_/g, '/')), (letter) => letter.charCodeAt(0));
    const codes = [...new TextDecoder('utf-8', { fatal: true }).decode(bytes)].map((letter) => letter.codePointAt(0) ?? 0);
    const phrases: number[][] = [];
    const out: number[] = [];
    let last: number[] = [];
    for (const code of codes) {
      const phrase = code < 256 ? [code] : (phrases[code - 256] ?? [...last, last[0] ?? 0]);
      if (last.length) phrases.push([...last, phrase[0] ?? 0]);
      out.push(...phrase);
      last = phrase;
    }
    return new TextDecoder('utf-8', { fatal: true }).decode(Uint8Array.from(out));
  } catch {
    return undefined;
  }
}

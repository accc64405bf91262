// The services of the server that the page came from: the page is a client of them, as others are.

import { store, stored } from './history';
import type { Identity } from './identity/identity';
import { wording } from './wording';

/** What `/api/snapshot` tells. */
export interface Snapshot {
  digest: string;
  content: string | null;
  version: string;
  data_time: string;
  bounding_box: [number, number, number, number] | null;
  counts: { nodes: number; ways: number; relations: number; areas: number; keys: number; tags: number };
  /** Whether older versions of elements are there. */
  history: boolean;
  triples: number | null;
  /** Whether questions in plain language are answered. */
  ask: boolean;
  /** How annotators are named; null without a queue to annotate. */
  annotate: 'token' | 'name' | null;
  /** The operator's identity; null or missing without one. */
  page?: Identity | null;
  sources: { name: string; sha256: string; licence: string }[];
}

/** Returns the name of a source without its folder and the endings of its formats. */
export const sourceName = (name: string): string => name.replace(/^.*[\\/]/, '').replace(/(?<=.)(\.(osm|osh|osc|pbf|o5m|xml|nt|nq|ttl|rdf|json|jsonl|gz|bz2|xz|zst))+$/i, '');

/** A service that refused, with what it said. */
export class Refused extends Error {
  constructor(readonly status: number, message: string) {
    super(message);
  }
}

let token = stored('token', '', 'sessionStorage');

/** The headers that every request has. */
export function headers(): Record<string, string> {
  return token ? { Authorization: `Bearer ${token}` } : {};
}

export const hasToken = (): boolean => token !== '';

/** From now on requests have this token; it is forgotten with the tab. */
export function setToken(value: string): void {
  token = value;
  store('token', value, 'sessionStorage');
}

/** Asks for JSON. */
export async function json<T>(path: string, init: RequestInit = {}): Promise<T> {
  const answer = await fetch(path, { ...init, headers: { Accept: 'application/json', ...headers(), ...init.headers } });
  if (!answer.ok) throw new Refused(answer.status, await message(answer));
  return (await answer.json()) as T;
}

/** What a query cost on the server. */
export interface Cost {
  milliseconds: number;
  /** Elements or triples looked at. */
  work: number;
  /** Bytes held at most. */
  memory: number;
}

/** What the query of a request cost; nothing where that is forgotten. */
export const costOf = (request: string): Promise<Cost | null> => json<Cost>(`/api/cost?request=${encodeURIComponent(request)}`).catch(() => null);

/** Runs OverpassQL whose output is JSON. */
export function overpass<T>(query: string, signal?: AbortSignal): Promise<{ elements: T[] }> {
  return json('/api/interpreter', { method: 'POST', body: new URLSearchParams({ data: query }), signal });
}

/** One value of a row. */
export interface Term {
  type: string;
  value: string;
  'xml:lang'?: string;
  datatype?: string;
}

/** Runs a SELECT, for so many seconds at most. */
export async function sparql(query: string, { signal, seconds }: { signal?: AbortSignal; seconds?: number } = {}): Promise<Record<string, Term>[]> {
  const answer = await json<{ results: { bindings: Record<string, Term>[] } }>('/sparql', {
    method: 'POST',
    body: new URLSearchParams({ query, ...(seconds && { timeout: String(seconds) }) }),
    headers: { Accept: 'application/sparql-results+json' },
    signal,
  });
  return answer.results.bindings;
}

/** What a refusal says, out of the shapes that services give it. */
export async function message(answer: Response): Promise<string> {
  return wording(await answer.text(), answer.headers.get('content-type') ?? '', answer.status);
}

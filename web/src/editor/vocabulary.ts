// What the snapshot's vocabulary is: keys and values with how often they are used, items and properties by label. Asked of
// the services as somebody types, and kept for a while.

import { json, sparql } from '../service';
import { labelLanguage, labelLanguages } from '../text/languages';

export interface Counted {
  text: string;
  count: number;
}

export interface Entity {
  id: string;
  label: string;
  description: string;
}

const kept = new Map<string, Promise<unknown>>();
const MOST = 500;

/** The answer of last time, where there was one. */
function once<T>(name: string, ask: () => Promise<T>): Promise<T> {
  let answer = kept.get(name) as Promise<T> | undefined;
  if (!answer) {
    if (kept.size >= MOST) kept.clear();
    answer = ask();
    kept.set(name, answer);
    answer.catch(() => kept.delete(name));
  }
  return answer;
}

/** Keys that have this in them: the same, those that begin so, the commonest. */
export function keys(part: string): Promise<Counted[]> {
  return once(`k ${part}`, async () => {
    const path = `/api/4/keys/all?page=1&rp=40&query=${encodeURIComponent(part)}`;
    const { data } = await json<{ data: { key: string; count_all: number }[] }>(path);
    return data.map(({ key, count_all }) => ({ text: key, count: count_all }));
  });
}

/** Values of a key that have this in them, in the same order. */
export function values(key: string, part: string): Promise<Counted[]> {
  return once(`v ${key}=${part}`, async () => {
    const path = `/api/4/key/values?page=1&rp=40&key=${encodeURIComponent(key)}&query=${encodeURIComponent(part)}`;
    const { data } = await json<{ data: { value: string; count: number }[] }>(path);
    return data.map(({ value, count }) => ({ text: value, count }));
  });
}

/** The tags that come most often with a tag, or with a key. */
export function combinations(key: string, value: string | undefined): Promise<string[]> {
  return once(`c ${key}=${value ?? ''}`, async () => {
    const of = value === undefined ? `key/combinations?key=${encodeURIComponent(key)}` : `tag/combinations?key=${encodeURIComponent(key)}&value=${encodeURIComponent(value)}`;
    const { data } = await json<{ data: { other_key: string; other_value?: string }[] }>(`/api/4/${of}&page=1&rp=6&sortname=together_count&sortorder=desc`);
    return data.map(({ other_key, other_value }) => (other_value ? `${other_key}=${other_value}` : other_key));
  });
}

/** Items or properties whose label or alias this is, or begins so. */
export function entities(kind: 'item' | 'property', part: string): Promise<Entity[]> {
  return once(`${kind} ${part}`, async () => {
    const rows = await sparql(
      `SELECT ?e ?eLabel ?eDescription ?n WHERE {
        SERVICE wikibase:mwapi { bd:serviceParam wikibase:api "EntitySearch"; wikibase:endpoint "www.wikidata.org"; wikibase:limit 20.
          bd:serviceParam mwapi:search ${quoted(part)}; mwapi:language "${labelLanguage() === 'mul' ? 'en' : labelLanguage()}"; mwapi:type "${kind}".
          ?e wikibase:apiOutputItem mwapi:item. ?n wikibase:apiOrdinal true. }
        SERVICE wikibase:label { bd:serviceParam wikibase:language "${labelLanguages().join()}". } } ORDER BY ?n LIMIT 20`,
    );
    return rows.map(entity);
  });
}

/** What an identifier stands for. */
export function entity_of(id: string): Promise<Entity | undefined> {
  return once(`e ${id}`, async () => {
    const rows = await sparql(
      `SELECT ?e ?eLabel ?eDescription WHERE { VALUES ?e { wd:${id} } SERVICE wikibase:label { bd:serviceParam wikibase:language "${labelLanguages().join()}". } }`,
    );
    return rows.map(entity)[0];
  });
}

function entity(row: Record<string, { value: string }>): Entity {
  const id = (row.e?.value ?? '').replace(/^.*\//, '');
  return { id, label: row.eLabel?.value ?? id, description: row.eDescription?.value ?? '' };
}

/** A string of SPARQL. */
export function quoted(text: string): string {
  return `"${text.replace(/[\\"]/g, '\\$&').replace(/\n/g, '\\n').replace(/\r/g, '\\r')}"`;
}

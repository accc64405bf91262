// What the snapshot knows of things that an answer names: where they are, and how they are called. It is more than was asked
// for: where a service refuses, the answer stays as it came.

import type { Geometry } from 'geojson';
import { sound } from './geometry';
import type { Graph } from './model';
import type { Read } from './table';
import { wkt } from './wkt';

/** Things that are looked up at most, and at once. */
const PLACED = 5000;
const AT_ONCE = 1000;
/** What `wbgetentities` takes. */
const LABELLED = 50;

const ITEM = /^\/entity\/(Q\d+)$/;
const ELEMENT = /^\/(node|way|relation)\/(\d+)$/;

/** Asks on behalf of an answer. */
export interface Asking {
  headers: Record<string, string>;
  /** Whether there are triples: without them there are no items. */
  triples: boolean;
  /** Languages of labels, the wanted one first. */
  languages: string[];
  signal?: AbortSignal;
}

type Row = Record<string, { value: string }>;

async function ask<T>(path: string, fields: Record<string, string>, { headers, signal }: Asking): Promise<T | null> {
  const answer = await fetch(path, { method: 'POST', body: new URLSearchParams(fields), headers: { ...headers, Accept: 'application/sparql-results+json, application/json' }, signal });
  return answer.ok ? ((await answer.json()) as T) : null;
}

const rowsOf = async (query: string, asking: Asking): Promise<Row[]> => (await ask<{ results: { bindings: Row[] } }>('/sparql', { query }, asking))?.results.bindings ?? [];

/**
 * Rows without a place are where what they name is, by the first column that names something that has a place: items by their
 * coordinates, elements by their geometry. How many rows were left out, as there are too many things.
 */
export async function place(found: Read, asking: Asking): Promise<number> {
  if (found.kind !== 'solutions' || found.rows.some((entry) => entry.geometry)) return 0;
  for (const [column] of found.columns.entries()) {
    const links = found.rows.map((entry) => entry.cell(column, found.columns).href ?? '');
    const things = [...new Set(links.filter((href) => ITEM.test(href) || ELEMENT.test(href)))];
    if (!things.length) continue;
    const places = await geometries(things.slice(0, PLACED), asking);
    if (!places.size) continue;
    const left = new Set(things.slice(PLACED));
    const labels = found.columns.indexOf(`${found.columns[column]}Label`);
    found.rows.forEach((entry, i) => {
      entry.geometry = places.get(links[i] ?? '') ?? null;
      // What is there is what the row is about.
      const label = entry.cell(labels, found.columns).text;
      entry.href = links[i] || entry.href;
      if (entry.geometry && label) entry.title = entry.name = label;
    });
    return links.filter((href) => left.has(href)).length;
  }
  return 0;
}

async function geometries(things: string[], asking: Asking): Promise<Map<string, Geometry>> {
  const places = new Map<string, Geometry>();
  for (const [pattern, term, says] of [
    [ITEM, (href: string) => href.replace('/entity/', 'wd:'), 'wdt:P625 ?g'],
    [ELEMENT, (href: string) => `<https://www.openstreetmap.org${href}>`, 'geo:hasGeometry/geo:asWKT ?g'],
  ] as const) {
    const wanted = things.filter((href) => pattern.test(href) && (asking.triples || pattern !== ITEM));
    for (let from = 0; from < wanted.length; from += AT_ONCE) {
      const values = wanted.slice(from, from + AT_ONCE).map(term).join(' ');
      for (const { e, g } of await rowsOf(`SELECT ?e ?g WHERE { VALUES ?e { ${values} } ?e ${says} }`, asking)) {
        const href = (e?.value ?? '').replace(/^https?:\/\/www\.(wikidata|openstreetmap)\.org/, '');
        const geometry = sound(wkt(g?.value ?? ''));
        if (geometry && !places.has(href)) places.set(href, geometry);
      }
    }
  }
  return places;
}

/** Gives nodes and links the names that the snapshot has for them. */
export async function label({ nodes, links }: Graph, asking: Asking): Promise<void> {
  const bare = nodes.filter((node) => node.label === node.name);
  const predicates = links.map((link) => link.label).filter((text) => /^P\d+$/.test(text));
  const entities = new Set([...bare.flatMap((node) => /^\/entity\/([QPL]\d+)$/.exec(node.id)?.[1] ?? []), ...predicates]);
  const labels = await labelsOf([...entities], asking);
  const names = await namesOf(bare.map((node) => node.id).filter((id) => ELEMENT.test(id)), asking);
  for (const node of bare) node.label = labels.get(node.name) ?? names.get(node.id) ?? node.name;
  for (const link of links) link.label = labels.get(link.label) ?? link.label;
}

/** Returns the labels of items and properties, in the first of some languages that has one. */
export async function labelsOf(ids: string[], asking: Asking, languages = asking.languages): Promise<Map<string, string>> {
  const labels = new Map<string, string>();
  if (!asking.triples) return labels;
  for (let from = 0; from < ids.length; from += LABELLED) {
    const fields = { action: 'wbgetentities', format: 'json', props: 'labels', languages: languages.join('|'), languagefallback: '1', ids: ids.slice(from, from + LABELLED).join('|') };
    const told = await ask<{ entities?: Record<string, { labels?: Record<string, { value: string }> }> }>('/w/api.php', fields, asking);
    for (const [id, { labels: own }] of Object.entries(told?.entities ?? {})) {
      const label = languages.map((language) => own?.[language]?.value).find(Boolean);
      if (label) labels.set(id, label);
    }
  }
  return labels;
}

/** Elements' names. */
async function namesOf(ids: string[], asking: Asking): Promise<Map<string, string>> {
  if (!ids.length) return new Map();
  const of = (type: string) => {
    const numbers = ids.flatMap((id) => (id.startsWith(`/${type}/`) ? id.slice(type.length + 2) : []));
    return numbers.length ? `${type}(id:${numbers.join(',')});` : '';
  };
  const data = `[out:json];(${of('node')}${of('way')}${of('relation')});out tags;`;
  const told = await ask<{ elements: { type: string; id: number; tags?: Record<string, string> }[] }>('/api/interpreter', { data }, asking);
  return new Map((told?.elements ?? []).flatMap(({ type, id, tags }) => (tags?.name ? [[`/${type}/${id}`, tags.name] as const] : [])));
}

/** What is told of a thing beside the row that names it. */
export interface About {
  label: string;
  description: string;
  /** Where its picture is. */
  image: string;
}

/** Of an item its label, description and image, of an element its name and what is said of the item that it names. */
export async function about(href: string, asking: Asking): Promise<About> {
  const item = ITEM.exec(href)?.[1];
  if (item) return ofItem(item, asking);
  const [, type = '', id = ''] = ELEMENT.exec(href) ?? [];
  if (!type) return { label: '', description: '', image: '' };
  const told = await ask<{ elements: { tags?: Record<string, string> }[] }>('/api/interpreter', { data: `[out:json];${type}(${id});out tags;` }, asking);
  const tags = told?.elements[0]?.tags ?? {};
  const named = /^Q\d+$/.exec(tags.wikidata ?? '')?.[0];
  const more = named ? await ofItem(named, asking) : { description: '', image: '' };
  return { description: more.description, image: more.image, label: tags.name ?? '' };
}

async function ofItem(item: string, asking: Asking): Promise<About> {
  if (!asking.triples) return { label: '', description: '', image: '' };
  const query = `SELECT ?i ?iLabel ?iDescription ?image WHERE { VALUES ?i { wd:${item} } OPTIONAL { ?i wdt:P18 ?image } SERVICE wikibase:label { bd:serviceParam wikibase:language "${asking.languages.join()}". } } ORDER BY ?image LIMIT 1`;
  const [row] = await rowsOf(query, asking);
  const text = row?.iLabel?.value ?? '';
  const image = row?.image?.value ?? '';
  return { label: text === item ? '' : text, description: row?.iDescription?.value ?? '', image: /^https?:\/\//.test(image) ? image : '' };
}


// An element's or an entity's page: what is known of it, what it is part of, and where it is.

import type { Geometry } from 'geojson';
import type { Box, Cell } from '../answer/model';
import { boxOf } from '../answer/geometry';
import { assemble, type Element } from '../answer/osm';
import { cellOfTag, cellOfTerm } from '../answer/table';
import { wkt } from '../answer/wkt';
import { count, h } from '../dom';
import { write } from '../link';
import { overpass, sparql, type Snapshot, type Term } from '../service';
import { labelLanguages } from '../text/languages';
import { t } from '../text/lookup';
import { editLinks } from './edit';
import { content } from './table';

export interface Shown {
  title: string;
  element: HTMLElement;
  geometry: Geometry | null;
  box: Box | null;
  /** The zoom at which a single point is shown. */
  pointZoom?: number;
}

const MOST = 400;

/** What an address leads to; nothing where it is no address of an element or entity. */
export function address(path: string): { kind: 'node' | 'way' | 'relation' | 'entity'; id: string } | null {
  const match = /^\/(?:(node|way|relation)\/(-?\d+)|(entity)\/([QPL]\d+))\/?$/.exec(path);
  if (!match) return null;
  return { kind: (match[1] ?? match[3]) as 'node', id: match[2] ?? match[4] ?? '' };
}

export async function look(path: string, snapshot: Snapshot): Promise<Shown> {
  const wanted = address(path);
  if (!wanted) throw new Error(t('noSuchPage'));
  return wanted.kind === 'entity' ? entity(wanted.id, snapshot) : osm(wanted.kind, wanted.id, snapshot);
}

async function osm(type: 'node' | 'way' | 'relation', id: string, snapshot: Snapshot): Promise<Shown> {
  const own = `${type}(${id})`;
  const [whole, parents, versions] = await Promise.all([
    overpass<Element>(`[out:json];${own};out meta geom;`),
    overpass<Element>(`[out:json];${own}->.e;(${type === 'node' ? 'way(bn.e);rel(bn.e);' : type === 'way' ? 'rel(bw.e);' : 'rel(br.e);'});out tags ${MOST + 1};`),
    snapshot.history ? overpass<{ tags: Record<string, string> }>(`[out:json];timeline(${type},${id});out;`) : null,
  ]);
  const found = whole.elements[0];
  if (!found) throw new Error(t('thereIsNoInThisSnapshot', { element: `${type} ${id}` }));
  const geometry = assemble([found])[0]?.geometry ?? null;
  const tags = found.tags ?? {};
  const title = tags.name ?? `${type} ${id}`;
  const linked = snapshot.triples && /^Q\d+$/.test(tags.wikidata ?? '') ? await label(tags.wikidata ?? '').catch(() => null) : null;
  const members = found.members ?? (found.nodes ?? []).map((ref) => ({ type: 'node', ref, role: '' }));
  const element = h(
    'article',
    { class: 'entity' },
    h('header', {}, h('p', { class: 'kind' }, `${type} ${id}`), h('h2', { tabindex: '-1', class: 'title' }, title), linked && h('p', { class: 'muted' }, linked)),
    section(t('tags'), Object.keys(tags).length, pairs(Object.keys(tags).sort().map((key) => [key, cellOfTag(key, tags[key])]))),
    section(type === 'way' ? t('nodes') : t('members'), members.length, list(members.map((member) => [`${member.type}/${member.ref}`, member.role]))),
    section(t('partOf'), some(parents.elements.length), list(parents.elements.map((parent) => [`${parent.type}/${parent.id}`, parent.tags?.name ?? parent.tags?.ref ?? '']), t('andMore'))),
    section(t('version'), undefined, pairs(([[t('elementVersion'), found.version], [t('changed'), found.timestamp], [t('changeset'), found.changeset], [t('user'), found.user]] as [string, unknown][]).filter(([, value]) => value).map(([key, value]) => [key, { text: String(value) }]))),
    versions && section(t('history'), versions.elements.length, past(type, id, versions.elements)),
    editLinks(`/${type}/${id}`),
  );
  return { title, element, geometry, box: boxOf(geometry) };
}

/** The versions of an element, the newest first; each leads to a query that shows it as it was. */
function past(type: string, id: string, versions: { tags: Record<string, string> }[]): HTMLElement {
  const items = versions.map(({ tags }) => {
    const query = `[out:json][date:"${tags.created}"];\n${type}(${id});\nout meta geom;\n`;
    return h('li', {}, h('a', { href: `/${write({ query, language: 'overpassql', run: true }).replace(/^.*#/, '#')}` }, t('versionN', { number: tags.refversion ?? '' })), ` ${(tags.created ?? '').slice(0, 10)}`);
  });
  return h('ul', { class: 'list' }, ...items.reverse());
}

async function label(id: string): Promise<string | null> {
  const [row] = await sparql(`SELECT ?eLabel ?eDescription WHERE { VALUES ?e { wd:${id} } SERVICE wikibase:label { bd:serviceParam wikibase:language "${labelLanguages().join()}". } }`);
  const text = row?.eLabel?.value;
  return !text || text === id ? null : row?.eDescription ? `${text}: ${row.eDescription.value}` : text;
}

async function entity(id: string, snapshot: Snapshot): Promise<Shown> {
  const elements = overpass<Element>(`[out:json];nwr[wikidata=${id}];out center ${MOST + 1};`);
  if (!snapshot.triples) {
    const found = (await elements).elements;
    if (!found.length) throw new Error(t('thisSnapshotHasNoTriples'));
  }
  const rows = snapshot.triples
    ? await sparql(
        `SELECT ?p ?pLabel ?v ?vLabel WHERE { wd:${id} ?d ?v. FILTER(STRSTARTS(STR(?d), "http://www.wikidata.org/prop/direct/P"))
          BIND(IRI(CONCAT("http://www.wikidata.org/entity/", STRAFTER(STR(?d), "prop/direct/"))) AS ?p)
          SERVICE wikibase:label { bd:serviceParam wikibase:language "${labelLanguages().join()}". } } LIMIT ${MOST + 1}`,
      )
    : [];
  const about = snapshot.triples
    ? await sparql(`SELECT ?eLabel ?eDescription ?eAltLabel WHERE { VALUES ?e { wd:${id} } SERVICE wikibase:label { bd:serviceParam wikibase:language "${labelLanguages().join()}". } }`)
    : [];
  const linked = (await elements).elements;
  const title = about[0]?.eLabel?.value ?? id;
  if (!rows.length && !linked.length && title === id) throw new Error(t('thereIsNothingAboutInThis', { id }));
  const statements = new Map<string, { label: string; id: string; values: Node[] }>();
  let geometry: Geometry | null = null;
  let area = 0;
  for (const row of rows) {
    const property = cellOfTerm(row.p as Term);
    const value = cellOfTerm(row.v as Term);
    const known = row.vLabel && row.v?.type === 'uri' && row.vLabel.value !== row.v.value ? row.vLabel.value : '';
    const entry = statements.get(property.text) ?? { label: row.pLabel?.value ?? property.text, id: property.text, values: [] };
    if (property.text === 'P2046') area = Math.max(area, Number(row.v?.value) || 0);
    if (row.v?.datatype?.endsWith('#wktLiteral') && !geometry) geometry = wkt(row.v.value);
    entry.values.push(h('div', {}, content(known && value.href ? { ...value, text: known } : value), value.note && !known ? h('span', { class: 'note' }, value.note) : null));
    statements.set(property.text, entry);
  }
  const places = assemble(linked);
  geometry ??= places[0]?.geometry ?? null;
  const sorted = [...statements.values()].sort((a, b) => Number(a.id.slice(1)) - Number(b.id.slice(1)));
  const element = h(
    'article',
    { class: 'entity' },
    h('header', {}, h('p', { class: 'kind' }, id), h('h2', { tabindex: '-1', class: 'title' }, title), about[0]?.eDescription && h('p', {}, about[0].eDescription.value), about[0]?.eAltLabel && h('p', { class: 'muted' }, about[0].eAltLabel.value)),
    section(t('inOpenStreetMap'), some(linked.length), list(linked.map((found) => [`${found.type}/${found.id}`, found.tags?.name ?? '']), t('andMore'))),
    section(t('statements'), sorted.length, h('dl', { class: 'pairs' }, ...sorted.flatMap((entry) => [h('dt', {}, h('a', { href: `/entity/${entry.id}`, 'data-view': '', title: entry.id }, entry.label)), h('dd', {}, ...entry.values)])), ...(rows.length > MOST ? [h('p', { class: 'muted' }, t('valuesOfTheFirst', { n: MOST }))] : [])),
    h('p', { class: 'muted' }, `${t('elsewhereNow')} `, h('a', { href: `https://www.wikidata.org/wiki/${id.startsWith('P') ? 'Property:' : ''}${id}`, target: '_blank', rel: 'noopener noreferrer' }, 'wikidata.org')),
  );
  return { title, element, geometry, box: boxOf(geometry), pointZoom: zoomOf(area) };
}

/**
 * The zoom at which an entity of an area (P2046, taken for square kilometres, as nearly all are) fills half of a map of 800
 * pixels: a country is seen whole around its point. 12 if the area is unknown.
 */
function zoomOf(area: number): number {
  if (area <= 0) return 12;
  const kilometresAround = 40_075;
  return Math.max(2, Math.min(15, Math.log2((400 * kilometresAround) / (512 * Math.sqrt(area)))));
}

/** As many as were asked for, or more. */
const some = (number: number): number | string => (number > MOST ? t('moreThan', { n: MOST }) : number);

/** A part of the page; nothing where it would be empty. */
function section(title: string, number: number | string | undefined, ...body: HTMLElement[]): HTMLElement | null {
  if (number === 0) return null;
  return h('section', {}, h('h3', {}, title, number !== undefined ? h('span', { class: 'muted' }, ` ${typeof number === 'number' ? count(number) : number}`) : null), ...body);
}

/** Keys and values. */
export function pairs(all: [string, Cell][]): HTMLElement {
  return h('dl', { class: 'pairs' }, ...all.flatMap(([key, cell]) => [h('dt', {}, key), h('dd', {}, reachable(content(cell)))]));
}

/** Unlike those of a table, links here are reached by Tab. */
function reachable(node: Node | string): Node | string {
  if (node instanceof HTMLAnchorElement) node.removeAttribute('tabindex');
  return node;
}

/** Elements, the first some of them, and what is said of the others. */
function list(all: [string, string][], others = t('andNMore', { n: all.length - MOST })): HTMLElement {
  const items = all.slice(0, MOST).map(([name, text]) => h('li', {}, h('a', { href: `/${name}`, 'data-view': '' }, name.replace('/', ' ')), text && ` ${text}`));
  if (all.length > MOST) items.push(h('li', { class: 'muted' }, others));
  return h('ul', { class: 'list' }, ...items);
}

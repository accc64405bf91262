// An answer read: rows with their cells, and the geometry of each. From the bytes of any format that a query can ask for.

import type { Geometry } from 'geojson';
import type { Asked, Cell } from './model';
import { sound } from './geometry';
import { assemble, readXml, type Element, type Placed } from './osm';
import { wkt } from './wkt';

export interface Read {
  kind: 'elements' | 'solutions' | 'table' | 'text';
  columns: string[];
  /** Keys beyond those that have columns, the most used first. */
  others: string[];
  rows: Entry[];
  types: Record<string, number>;
  remark: string;
}

/** A row before it is shown. */
export interface Entry {
  /** Its cell in a column. */
  cell(column: number, columns: string[]): Cell;
  title: string;
  href?: string;
  /** Everything that is known of it. */
  pairs(): [string, Cell][];
  /** For styles and files. */
  type: string;
  tags: Record<string, string>;
  id?: string;
  geometry: Geometry | null;
  /** What it is called on the map. */
  name?: string;
  /** Of a solution: what its columns are bound to. */
  terms?: (Term | undefined)[];
}

/** Most columns of tags; what else there is stands beside a selected row. */
const COLUMNS = 40;

export function read(text: string, contentType: string, asked: Asked): Read {
  const found = parsed(text, contentType, asked);
  for (const row of found.rows) row.geometry = sound(row.geometry);
  return found;
}

function parsed(text: string, contentType: string, asked: Asked): Read {
  if (asked.language === 'sparql') return contentType.includes('json') ? solutions(text) : textAlone();
  if (contentType.includes('json')) return elementsOf(JSON.parse(text));
  if (contentType.includes('xml')) {
    const { elements, remark } = readXml(text);
    return table(elements, remark);
  }
  if (contentType.includes('csv')) return lines(text, asked.query);
  return textAlone();
}

/** An answer that is shown as it came, and why it is no more than that. */
export const textAlone = (remark = ''): Read => ({ kind: 'text', columns: [], others: [], rows: [], types: {}, remark });

function elementsOf(answer: { elements?: Element[]; remark?: string; features?: GeoFeature[] }): Read {
  if (answer.features) return features(answer.features);
  return table(answer.elements ?? [], answer.remark ?? '');
}

interface GeoFeature {
  id?: string | number;
  properties: Record<string, unknown> | null;
  geometry: Geometry | null;
}

function features(all: GeoFeature[]): Read {
  const placed = all.map(({ id, properties, geometry }): Placed => {
    const name = String(id ?? properties?.['@id'] ?? '');
    const [, type = 'feature', number = '0'] = /^(node|way|relation)\/(-?\d+)/.exec(name) ?? [];
    const pairs = Object.entries(properties ?? {}).filter(([key]) => !key.startsWith('@'));
    return { element: { type, id: Number(number), tags: Object.fromEntries(pairs.map(([key, value]) => [key, String(value)])) }, geometry };
  });
  return fromPlaced(placed, '');
}

function table(elements: Element[], remark: string): Read {
  // `out count` gives an element of its own.
  return fromPlaced(assemble(elements), remark);
}

function fromPlaced(placed: Placed[], remark: string): Read {
  const uses = new Map<string, number>();
  const types = Object.create(null) as Record<string, number>;
  for (const { element } of placed) {
    // A key may be called as something that every object has.
    if (element.tags) Object.setPrototypeOf(element.tags, null);
    types[element.type] = (types[element.type] ?? 0) + 1;
    for (const key in element.tags) uses.set(key, (uses.get(key) ?? 0) + 1);
  }
  const first = (key: string) => (key === 'name' ? 1 : 0);
  const keys = [...uses].sort(([a, n], [b, m]) => first(b) - first(a) || m - n || (a < b ? -1 : 1)).map(([key]) => key);
  const columns = ['id', ...keys.slice(0, COLUMNS)];
  return { kind: 'elements', columns, others: keys.slice(COLUMNS), rows: placed.map(entryOf), types, remark };
}

const LINKED = new Set(['node', 'way', 'relation']);

function entryOf({ element, geometry }: Placed): Entry {
  const tags = element.tags ?? (Object.create(null) as Record<string, string>);
  const linked = LINKED.has(element.type) && element.id !== undefined;
  const name = element.id === undefined ? element.type : `${element.type}/${element.id}`;
  const href = linked ? `/${name}` : undefined;
  const meta: [string, string | number | undefined][] = [
    ['version', element.version],
    ['changed', element.timestamp],
    ['changeset', element.changeset],
    ['user', element.user],
  ];
  return {
    title: tags.name ?? name,
    name: tags.name,
    href,
    type: element.type,
    tags,
    id: linked ? name : undefined,
    geometry,
    cell: (i, columns) => (i === 0 ? { text: name, href } : cellOfTag(columns[i] ?? '', tags[columns[i] ?? ''])),
    pairs: () => [
      ['id', { text: name, href }],
      ...Object.keys(tags).sort().map((key): [string, Cell] => [key, cellOfTag(key, tags[key])]),
      ...meta.filter(([, value]) => value).map(([key, value]): [string, Cell] => [key, { text: String(value), note: 'metadata' }]),
    ],
  };
}

/** A tag's value, with where it leads. */
export function cellOfTag(key: string, value: string | undefined): Cell {
  if (value === undefined) return { text: '' };
  if (/^([\w:]+:)?wikidata$/.test(key) && /^Q\d+$/.test(value)) return { text: value, href: `/entity/${value}` };
  if (/^https?:\/\//.test(value)) return { text: value, href: value };
  return { text: value, numeric: value !== '' && Number.isFinite(Number(value)) };
}

/** A value of a solution. */
export interface Term {
  type: string;
  value: string | Record<string, Term>;
  'xml:lang'?: string;
  datatype?: string;
}

function solutions(text: string): Read {
  const answer = JSON.parse(text) as { head: { vars?: string[] }; results?: { bindings: Record<string, Term>[] }; boolean?: boolean };
  if (answer.boolean !== undefined) {
    const cell: Cell = { text: String(answer.boolean) };
    const entry: Entry = { cell: () => cell, title: cell.text, pairs: () => [['answer', cell]], type: 'answer', tags: {}, geometry: null };
    return { kind: 'solutions', columns: ['answer'], others: [], rows: [entry], types: { answer: 1 }, remark: '' };
  }
  const columns = answer.head.vars ?? [];
  const rows = (answer.results?.bindings ?? []).map((row): Entry => {
    // A variable may be called as something that every object has.
    Object.setPrototypeOf(row, null);
    const label = columns.find((name) => /(Label|name)$/i.test(name) && row[name]) ?? columns.find((name) => isText(row[name]));
    const titled = label ?? columns.find((name) => row[name] && !isGeometry(row[name]));
    const item = columns.map((name) => cellOfTerm(row[name]).href).find((href) => href?.startsWith('/'));
    return {
      title: titled ? cellOfTerm(row[titled]).text : 'solution',
      name: label && cellOfTerm(row[label]).text,
      href: item,
      terms: columns.map((name) => row[name]),
      cell: (i) => cellOfTerm(row[columns[i] ?? '']),
      pairs: () => columns.filter((name) => row[name]).map((name): [string, Cell] => [name, cellOfTerm(row[name])]),
      type: 'solution',
      tags: Object.fromEntries(columns.filter((name) => row[name]).map((name) => [name, cellOfTerm(row[name]).text])),
      geometry: geometryOf(columns, row),
    };
  });
  return { kind: 'solutions', columns, others: [], rows, types: { solution: rows.length }, remark: '' };
}

/** Text in words: neither a number nor a date nor a geometry. */
const isText = (term: Term | undefined): boolean => term?.type === 'literal' && (!term.datatype || term.datatype.endsWith('#string'));

const isGeometry = (term: Term | undefined): boolean => /geosparql#(wkt|geoJSON)Literal$/.test(term?.datatype ?? '');

/** Of WKT, GeoJSON, or a column of latitudes beside one of longitudes. */
function geometryOf(columns: string[], row: Record<string, Term>): Geometry | null {
  const all = columns.flatMap((name) => (isGeometry(row[name]) ? (geometryIn(row[name]) ?? []) : []));
  if (all.length > 1) return { type: 'GeometryCollection', geometries: all };
  return all[0] ?? pointOf(columns, row);
}

function geometryIn(term: Term | undefined): Geometry | null {
  const text = String(term?.value);
  if (!term?.datatype?.endsWith('#geoJSONLiteral')) return wkt(text);
  try {
    return JSON.parse(text) as Geometry;
  } catch {
    return null;
  }
}

function pointOf(columns: string[], row: Record<string, Term>): Geometry | null {
  const number = (pattern: RegExp) => {
    const term = row[columns.find((name) => pattern.test(name)) ?? ''];
    return term?.type === 'literal' && term.value !== '' ? Number(term.value) : NaN;
  };
  const [lat, lon] = [number(/^lat(itude)?$/i), number(/^(lon|lng|long|longitude)$/i)];
  return Math.abs(lat) <= 90 && Math.abs(lon) <= 180 ? { type: 'Point', coordinates: [lon, lat] } : null;
}

const NUMERIC = /#(integer|decimal|double|float|int|long|short|byte|nonNegativeInteger|positiveInteger)$/;

/** Where a term leads, and how it is called there. */
export function cellOfTerm(term: Term | undefined): Cell {
  if (!term) return { text: '' };
  if (typeof term.value !== 'string') return { text: `<<${Object.values(term.value).map((part) => cellOfTerm(part).text).join(' ')}>>` };
  if (term.type === 'uri') {
    const entity = /^https?:\/\/www\.wikidata\.org\/(?:entity|prop(?:\/[\w-]+)?)\/([QPL]\d+)$/.exec(term.value);
    if (entity) return { text: entity[1] ?? '', href: `/entity/${entity[1]}` };
    const element = /^https:\/\/www\.openstreetmap\.org\/(node|way|relation)\/(\d+)$/.exec(term.value);
    if (element) return { text: `${element[1]}/${element[2]}`, href: `/${element[1]}/${element[2]}` };
    const shape = /^https:\/\/osm2rdf\.cs\.uni-freiburg\.de\/rdf\/geom#(osm_(node|way|rel)_(\d+)\w*)$/.exec(term.value);
    if (shape) return { text: shape[1] ?? '', href: `/${shape[2] === 'rel' ? 'relation' : shape[2]}/${shape[3]}` };
    return { text: term.value, href: /^https?:\/\//.test(term.value) ? term.value : undefined };
  }
  if (term.type === 'bnode') return { text: `_:${term.value}` };
  const datatype = term.datatype?.replace(/^.*[#/]/, '');
  return { text: term.value, note: term['xml:lang'] ?? datatype, numeric: NUMERIC.test(term.datatype ?? '') };
}

/** A table by `[out:csv(...; header; separator)]`. */
function lines(text: string, query: string): Read {
  const settings = /\[\s*out\s*:\s*csv\s*\(([^;)]*)(?:;\s*(\w+)\s*(?:;\s*"((?:[^"\\]|\\.)*)")?)?/.exec(query);
  const separator = settings?.[3] === undefined || settings[3] === '\\t' ? '\t' : settings[3];
  const asked = (settings?.[1] ?? '').split(',').map((column) => column.trim().replace(/^"(.*)"$/, '$1').replace(/^::/, '@'));
  const all = text.split('\n').filter((line, i, whole) => line !== '' || i < whole.length - 1);
  if (settings?.[2] !== 'false') all.shift();
  const lat = asked.indexOf('@lat');
  const lon = asked.indexOf('@lon');
  const type = asked.indexOf('@type');
  const id = asked.indexOf('@id');
  const rows = all.map((line): Entry => {
    const values = line.split(separator);
    const cells = asked.map((key, i): Cell => {
      const cell = cellOfTag(key, values[i]);
      return key === '@id' && LINKED.has(values[type] ?? '') ? { ...cell, href: `/${values[type]}/${values[id]}` } : cell;
    });
    const position = [values[lon], values[lat]].map((value) => (value ? Number(value) : NaN));
    return {
      title: values[asked.indexOf('name')] || values.find(Boolean) || 'row',
      name: values[asked.indexOf('name')],
      cell: (i) => cells[i] ?? { text: '' },
      pairs: () => asked.map((key, i): [string, Cell] => [key, cells[i] ?? { text: '' }]),
      type: 'row',
      tags: Object.fromEntries(asked.map((key, i) => [key, values[i] ?? ''])),
      geometry: position.every(Number.isFinite) ? { type: 'Point', coordinates: position } : null,
    };
  });
  return { kind: 'table', columns: asked, others: [], rows, types: { row: rows.length }, remark: '' };
}

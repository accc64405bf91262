// Elements of an OverpassQL answer, in JSON or XML, and their geometry as far as the answer tells it: positions of nodes,
// `out geom`, `out center`, `out bb`, or the nodes and ways that came along.

import type { Geometry, Position } from 'geojson';
import { isArea } from './areas';

export type Tags = Record<string, string>;

interface Point {
  lat: number;
  lon: number;
}

interface Member {
  type: string;
  ref: number;
  role: string;
  lat?: number;
  lon?: number;
  geometry?: (Point | null)[];
}

/** As Overpass API's JSON has it. */
export interface Element {
  type: string;
  id: number;
  lat?: number;
  lon?: number;
  tags?: Tags;
  nodes?: number[];
  geometry?: (Point | null)[] | Geometry;
  members?: Member[];
  center?: Point;
  bounds?: { minlat: number; minlon: number; maxlat: number; maxlon: number };
  version?: number;
  timestamp?: string;
  changeset?: number;
  user?: string;
  uid?: number;
  count?: unknown;
}

export interface Placed {
  element: Element;
  geometry: Geometry | null;
}

/** All elements once, each with its geometry; nodes that only carry a way of the answer are left out. */
export function assemble(elements: Element[]): Placed[] {
  const all = merged(elements);
  const nodes = new Map<number, Element>();
  const ways = new Map<number, Element>();
  for (const element of all) {
    if (element.type === 'node' && element.lat !== undefined) nodes.set(element.id, element);
    if (element.type === 'way') ways.set(element.id, element);
  }
  const carried = new Set<number>();
  for (const way of ways.values()) if (!way.geometry) for (const node of way.nodes ?? []) carried.add(node);
  const shown = all.filter((e) => e.type !== 'node' || !carried.has(e.id) || (e.tags && Object.keys(e.tags).length > 0));
  return shown.map((element) => ({ element, geometry: geometryOf(element, nodes, ways) }));
}

/** An element that is printed twice, once with tags and once as part of another, is one. */
function merged(elements: Element[]): Element[] {
  const seen = new Map<string, Element>();
  const out: Element[] = [];
  for (const element of elements) {
    const before = element.id === undefined ? undefined : seen.get(`${element.type}${element.id}`);
    if (before) {
      for (const [key, value] of Object.entries(element)) if (value !== undefined && !(key in before)) Object.assign(before, { [key]: value });
      continue;
    }
    if (element.id !== undefined) seen.set(`${element.type}${element.id}`, element);
    out.push(element);
  }
  return out;
}

function geometryOf(element: Element, nodes: Map<number, Element>, ways: Map<number, Element>): Geometry | null {
  const own = element.geometry;
  if (own && !Array.isArray(own)) return own;
  if (element.type === 'node') return element.lat !== undefined && element.lon !== undefined ? { type: 'Point', coordinates: [element.lon, element.lat] } : null;
  if (element.type === 'way') {
    const line = lineOf(element, nodes);
    if (line.length > 1) {
      const first = line[0];
      const last = line[line.length - 1];
      const closed = line.length > 3 && first?.[0] === last?.[0] && first?.[1] === last?.[1];
      return closed && isArea(element.tags ?? {}) ? { type: 'Polygon', coordinates: [line] } : { type: 'LineString', coordinates: line };
    }
  }
  if (element.type === 'relation') {
    const geometry = relationOf(element, nodes, ways);
    if (geometry) return geometry;
  }
  if (element.center) return { type: 'Point', coordinates: [element.center.lon, element.center.lat] };
  if (element.bounds) {
    const { minlat, minlon, maxlat, maxlon } = element.bounds;
    return { type: 'Polygon', coordinates: [[[minlon, minlat], [maxlon, minlat], [maxlon, maxlat], [minlon, maxlat], [minlon, minlat]]] };
  }
  return null;
}

function lineOf(way: { geometry?: (Point | null)[] | Geometry; nodes?: number[] }, nodes: Map<number, Element>): Position[] {
  if (Array.isArray(way.geometry)) return way.geometry.filter((point): point is Point => point !== null).map(({ lat, lon }) => [lon, lat]);
  const line: Position[] = [];
  for (const id of way.nodes ?? []) {
    const node = nodes.get(id);
    if (node?.lon !== undefined && node.lat !== undefined) line.push([node.lon, node.lat]);
  }
  return line;
}

function relationOf(relation: Element, nodes: Map<number, Element>, ways: Map<number, Element>): Geometry | null {
  const outer: Position[][] = [];
  const inner: Position[][] = [];
  const points: Position[] = [];
  for (const member of relation.members ?? []) {
    if (member.type === 'way') {
      const line = lineOf(member.geometry ? member : (ways.get(member.ref) ?? {}), nodes);
      if (line.length > 1) (member.role === 'inner' ? inner : outer).push(line);
    } else if (member.type === 'node') {
      const node = member.lat !== undefined ? member : nodes.get(member.ref);
      if (node?.lat !== undefined && node.lon !== undefined) points.push([node.lon, node.lat]);
    }
  }
  const type = relation.tags?.type;
  if ((type === 'multipolygon' || type === 'boundary') && outer.length) {
    const rings = closed(outer);
    if (rings) {
      const holes = closed(inner) ?? [];
      const polygons = rings.map((ring) => [ring]);
      for (const hole of holes) {
        const at = hole[0];
        const around = at && polygons.filter(([ring]) => ring && contains(ring, at)).sort((a, b) => area(a[0]) - area(b[0]))[0];
        around?.push(hole);
      }
      return polygons.length === 1 ? { type: 'Polygon', coordinates: polygons[0] ?? [] } : { type: 'MultiPolygon', coordinates: polygons };
    }
  }
  const lines = [...outer, ...inner];
  if (lines.length && points.length) {
    return { type: 'GeometryCollection', geometries: [{ type: 'MultiLineString', coordinates: lines }, { type: 'MultiPoint', coordinates: points }] };
  }
  if (lines.length) return { type: 'MultiLineString', coordinates: lines };
  if (points.length) return { type: 'MultiPoint', coordinates: points };
  return null;
}

/** The rings that lines make, laid end to end; nothing where one stays open. */
function closed(lines: Position[][]): Position[][] | null {
  const name = (position: Position | undefined) => `${position?.[0]},${position?.[1]}`;
  const rings: Position[][] = [];
  const ends = new Map<string, Set<Position[]>>();
  const open = new Set<Position[]>();
  const add = (line: Position[]) => {
    for (const end of [line[0], line[line.length - 1]]) {
      const there = ends.get(name(end)) ?? new Set();
      there.add(line);
      ends.set(name(end), there);
    }
    open.add(line);
  };
  const remove = (line: Position[]) => {
    for (const end of [line[0], line[line.length - 1]]) ends.get(name(end))?.delete(line);
    open.delete(line);
  };
  for (const line of lines) {
    if (name(line[0]) === name(line[line.length - 1])) rings.push(line);
    else add(line);
  }
  for (const start of open) {
    remove(start);
    const ring = [...start];
    while (name(ring[0]) !== name(ring[ring.length - 1])) {
      const end = name(ring[ring.length - 1]);
      const [next] = ends.get(end) ?? [];
      if (!next) return null;
      remove(next);
      ring.push(...(name(next[0]) === end ? next : [...next].reverse()).slice(1));
    }
    rings.push(ring);
  }
  return rings;
}

function contains(ring: Position[], [x = 0, y = 0]: Position): boolean {
  let inside = false;
  for (let i = 0, j = ring.length - 1; i < ring.length; j = i, i += 1) {
    const [xi = 0, yi = 0] = ring[i] ?? [];
    const [xj = 0, yj = 0] = ring[j] ?? [];
    if (yi > y !== yj > y && x < ((xj - xi) * (y - yi)) / (yj - yi) + xi) inside = !inside;
  }
  return inside;
}

function area(ring: Position[] = []): number {
  let sum = 0;
  for (let i = 0, j = ring.length - 1; i < ring.length; j = i, i += 1) sum += (ring[j]?.[0] ?? 0) * (ring[i]?.[1] ?? 0) - (ring[i]?.[0] ?? 0) * (ring[j]?.[1] ?? 0);
  return Math.abs(sum);
}

/** Elements of an answer in XML: a reader of no more than what the server writes. */
export function readXml(text: string): { elements: Element[]; remark: string } {
  const elements: Element[] = [];
  let element: Element | undefined;
  let member: Member | undefined;
  let remark = '';
  const tag = /<(\/?)([\w-]+)((?:\s+[\w:-]+="[^"]*")*)\s*(\/?)>/g;
  for (let match = tag.exec(text); match; match = tag.exec(text)) {
    const [, end, name = '', attributes = '', alone] = match;
    if (end) {
      if (name === 'member') member = undefined;
      else if (element && name === element.type) element = undefined;
      continue;
    }
    const at = (wanted: string) => {
      const value = new RegExp(`\\s${wanted}="([^"]*)"`).exec(attributes)?.[1];
      return value === undefined ? undefined : decoded(value);
    };
    const number = (wanted: string) => {
      const value = at(wanted);
      return value === undefined || value === '' ? undefined : Number(value);
    };
    switch (name) {
      case 'remark':
        remark = decoded(text.slice(tag.lastIndex, text.indexOf('<', tag.lastIndex))).trim();
        break;
      case 'tag':
        if (element) (element.tags ??= Object.create(null) as Tags)[at('k') ?? ''] = at('v') ?? '';
        break;
      case 'nd':
        if (member) (member.geometry ??= []).push(number('lat') === undefined ? null : { lat: number('lat') ?? 0, lon: number('lon') ?? 0 });
        else if (element) {
          (element.nodes ??= []).push(number('ref') ?? 0);
          if (number('lat') !== undefined) ((element.geometry ??= []) as Point[]).push({ lat: number('lat') ?? 0, lon: number('lon') ?? 0 });
        }
        break;
      case 'member':
        if (!element) break;
        member = { type: at('type') ?? '', ref: number('ref') ?? 0, role: at('role') ?? '', lat: number('lat'), lon: number('lon') };
        (element.members ??= []).push(member);
        if (alone) member = undefined;
        break;
      case 'center':
        if (element) element.center = { lat: number('lat') ?? 0, lon: number('lon') ?? 0 };
        break;
      case 'bounds':
        if (element) element.bounds = { minlat: number('minlat') ?? 0, minlon: number('minlon') ?? 0, maxlat: number('maxlat') ?? 0, maxlon: number('maxlon') ?? 0 };
        break;
      case 'osm':
      case 'note':
      case 'meta':
      case 'osm-derived':
        break;
      default:
        if (element) break;
        element = { type: name, id: number('id') ?? 0, lat: number('lat'), lon: number('lon'), version: number('version'), timestamp: at('timestamp'), changeset: number('changeset'), user: at('user'), uid: number('uid') };
        if (at('id') === undefined) delete (element as Partial<Element>).id;
        elements.push(element);
        if (alone) element = undefined;
    }
  }
  return { elements, remark };
}

const ENTITIES = new Map([['lt', '<'], ['gt', '>'], ['amp', '&'], ['quot', '"'], ['apos', "'"]]);

function decoded(text: string): string {
  return text.includes('&') ? text.replace(/&(?:#(\d+)|#x([0-9a-fA-F]+)|(\w+));/g, (whole, d, x, name) => (d ? String.fromCodePoint(+d) : x ? String.fromCodePoint(parseInt(x, 16)) : (ENTITIES.get(name) ?? whole))) : text;
}

// Fetches an answer, reads it and keeps it: what the page gets of it are some rows and some tiles, never the whole.

import { t, useCatalogue, type Catalogue } from '../text/lookup';
import { wording } from '../wording';
import { boxOf } from './geometry';
import { arranged, facets } from './arrange';
import { columnsOf, dataOf, imagesOf } from './columns';
import { datesOf } from './dates';
import * as graph from './graph';
import { layers } from './layers';
import { label, labelsOf, place, type Asking } from './lookup';
import type { Asked, Cell, Details, Layer, Message, Order, Replies, Row, Saved, Summary } from './model';
import { profile } from './profile';
import * as save from './save';
import { read, textAlone, type Entry, type Read } from './table';
import type { Look } from './look';
import { Drawing } from './tiles';

interface Kept {
  raw: Blob;
  asking: Asking;
  read: Read;
  /** What is on the map, and the drawing of all rows. */
  drawing: Drawing;
  whole: Drawing;
  filter: string;
  look: Look;
  /** Of rows that no style colours. */
  colours: (string | undefined)[];
  coloured: Layer[];
  summary: Summary;
  /** The rows in the order of the table, and where each of them is there. */
  order: Uint32Array;
  places: Int32Array;
}

/** Bytes of an answer: what comes after is no text that a browser could hold. */
const LARGEST = 400e6;
/** Bytes that are read as rows; more would be more than a browser holds. */
const READ = 128e6;
/** Letters of a value in a row, and of one of what is selected: lines of megabytes bring a browser to a stop. */
const CELL = 200;
const VALUE = 20_000;
/** Of an answer that still comes, what there is is read from so many bytes and milliseconds on, and then when there is this much more. */
const SOFAR = { bytes: 64_000, ms: 500, more: 2.5 };

let kept: Kept | undefined;
let running: AbortController | undefined;

class Failed extends Error {
  constructor(readonly status: number, message: string) {
    super(message);
  }
}

addEventListener('message', async ({ data }: MessageEvent<{ catalogue: Catalogue } | { id: number; order: Order }>) => {
  // The page sends its texts first.
  if ('catalogue' in data) return useCatalogue(data.catalogue);
  const say = (message: Message) => postMessage(message);
  try {
    const ok = await obey(data.order);
    postMessage({ id: data.id, ok } satisfies Message, { transfer: ok instanceof ArrayBuffer ? [ok] : [] });
  } catch (why) {
    const status = why instanceof Failed ? why.status : 0;
    say({ id: data.id, refused: { status, message: (why as Error).name === 'AbortError' ? 'stopped' : (why as Error).message } });
  }
});

function obey(order: Order): Promise<unknown> | unknown {
  switch (order.do) {
    case 'run':
      return run(order.asked);
    case 'stop':
      running?.abort();
      return null;
    case 'rows':
      return rows(order.from, order.to);
    case 'arrange':
      return arrange(order.column, order.descending, order.filter);
    case 'facets':
      return kept ? facets(kept.read, kept.order, order.column) : { values: [], others: 0, empty: 0 };
    case 'labels':
      return kept ? labelsOf(order.ids, kept.asking, order.languages).then((labels) => [...labels]) : [];
    case 'place':
      return kept?.places[order.index] ?? -1;
    case 'beside':
      return beside(order.index, order.by);
    case 'details':
      return details(order.index);
    case 'tile':
      return kept?.drawing.tile(order.z, order.x, order.y) ?? new ArrayBuffer(0);
    case 'apart':
      return kept?.drawing.apart(order.cluster) ?? 0;
    case 'dates':
      return kept ? datesOf(kept.read, kept.order) : null;
    case 'graph':
      return drawn();
    case 'columns':
      return kept ? columnsOf(kept.read) : [];
    case 'chart':
      return kept ? dataOf(kept.read, kept.order, order.columns, order.counted) : { rows: [], left: {} };
    case 'images':
      return kept ? imagesOf(kept.read, kept.order, order.hidden) : { images: [], more: 0 };
    case 'profile':
      return kept ? profile(kept.read.rows, order.column) : null;
    case 'restyle':
      return restyle(order.look);
    case 'raw':
      return raw(order.from, order.to);
    case 'save':
      return file(order.as, order.copyright);
  }
}

/** An answer on its way: what its head said, and when. */
interface Coming {
  asked: Asked;
  answer: Response;
  contentType: string;
  started: number;
  /** Milliseconds to the first byte. */
  first: number;
}

async function run(asked: Asked): Promise<Replies['run']> {
  running?.abort();
  const control = new AbortController();
  running = control;
  const started = performance.now();
  const isSparql = asked.language === 'sparql';
  const body = new URLSearchParams(isSparql ? { query: asked.query } : { data: asked.query });
  const accept = isSparql ? 'application/sparql-results+json, text/plain;q=0.1, */*;q=0.1' : '*/*';
  const answer = await fetch(isSparql ? '/sparql' : '/api/interpreter', { method: 'POST', body, headers: { ...asked.headers, Accept: accept }, redirect: 'manual', signal: control.signal }).catch((why: Error) => {
    throw why.name === 'AbortError' ? why : new Failed(0, t('theServerCannotBeReached'));
  });
  // Of a query with `[out:custom]` that finds one element, that element on another host.
  if (answer.type === 'opaqueredirect') throw new Failed(0, t('theAnswerIsAnAddress'));
  const coming: Coming = { asked, answer, contentType: answer.headers.get('content-type') ?? '', started, first: performance.now() - started };
  const blob = await receive(coming, control);
  const total = performance.now() - started;
  if (!answer.ok) throw new Failed(answer.status, wording(await blob.text(), coming.contentType, answer.status));
  const reading = performance.now();
  const found = await readable(blob, coming);
  control.signal.throwIfAborted();
  const unasked = isSparql ? await place(found, { headers: asked.headers, triples: asked.triples, languages: asked.languages, signal: control.signal }).catch(() => 0) : 0;
  control.signal.throwIfAborted();
  return keep(coming, blob, found, { total, reading, unasked, part: blob.size > READ });
}

/** The answer read; one that cannot be is shown as it came. */
async function readable(blob: Blob, { contentType, asked }: Coming): Promise<Read> {
  try {
    if (blob.size <= READ) return read(await blob.text(), contentType, asked);
    const begun = whole(await blob.slice(0, READ).text(), contentType);
    if (begun !== null) return read(begun, contentType, asked);
    return textAlone(t('theAnswerHasMBMoreThan', { megabytes: Math.round(blob.size / 1e6) }));
  } catch (why) {
    return textAlone(t('theAnswerCouldNotBeRead', { why: (why as Error).message }));
  }
}

/** Takes the bytes as they come, tells of them, and shows what can be read of them so far. */
async function receive(coming: Coming, control: AbortController): Promise<Blob> {
  const { answer, contentType, started } = coming;
  const parts: Uint8Array<ArrayBuffer>[] = [];
  const type = contentType.split(';')[0];
  let bytes = 0;
  let told = 0;
  let next = SOFAR.bytes;
  const reader = answer.body?.getReader();
  const take = () =>
    reader?.read().catch((why: Error) => {
      throw why.name === 'AbortError' ? why : new Failed(0, t('theAnswerBrokeOffAfterKB', { kilobytes: Math.round(bytes / 1000) }));
    });
  for (let part = await take(); part && !part.done; part = await take()) {
    parts.push(part.value);
    bytes += part.value.length;
    if (bytes > LARGEST) {
      control.abort();
      throw new Failed(0, t('theAnswerIsLargerThanMB', { megabytes: LARGEST / 1e6 }));
    }
    const now = performance.now();
    if (now - told > 100) {
      postMessage({ progress: { bytes, ms: now - started } } satisfies Message);
      told = now;
    }
    if (answer.ok && bytes > next && bytes < READ && now - started > SOFAR.ms) {
      next = SOFAR.more * bytes;
      await showBegun(coming, new Blob(parts, { type }));
      control.signal.throwIfAborted();
    }
  }
  return new Blob(parts, { type });
}

/** Shows what there is of an answer; what cannot be read yet is shown later. */
async function showBegun(coming: Coming, begun: Blob): Promise<void> {
  const reading = performance.now();
  const text = whole(await begun.text(), coming.contentType);
  if (text === null) return;
  let found: Read;
  try {
    found = read(text, coming.contentType, coming.asked);
  } catch {
    return;
  }
  if (!found.rows.length) return;
  const summary = keep(coming, begun, found, { total: reading - coming.started, reading, unasked: 0, part: true });
  postMessage({ sofar: summary } satisfies Message);
}

/** Keeps an answer, to be asked for in parts. */
function keep({ asked, answer, contentType, first }: Coming, blob: Blob, found: Read, took: { total: number; reading: number; unasked: number; part: boolean }): Summary {
  const { colours, layers: coloured } = layers(found);
  const drawing = new Drawing(found.rows, asked.look, colours);
  const order = Uint32Array.from(found.rows, (_, i) => i);
  const summary: Summary = {
    kind: found.kind,
    status: answer.status,
    contentType,
    digest: answer.headers.get('x-terrapin-snapshot') ?? '',
    request: answer.headers.get('x-request-id') ?? '',
    bytes: blob.size,
    first,
    total: took.total,
    reading: performance.now() - took.reading,
    columns: found.columns,
    others: found.others,
    rows: found.rows.length,
    types: found.types,
    remark: found.remark,
    box: drawing.box,
    geometries: drawing.geometries,
    unplaced: drawing.unplaced,
    linked: graph.linked(found),
    part: took.part,
    layers: drawing.layers.length ? drawing.layers : coloured,
    heat: drawing.heat,
    unasked: took.unasked,
  };
  kept = { raw: blob, asking: { headers: asked.headers, triples: asked.triples, languages: asked.languages }, read: found, drawing, whole: drawing, filter: '', look: asked.look, colours, coloured, summary, order, places: Int32Array.from(order) };
  return summary;
}

/** Draws the answer in another look. */
function restyle(look: Look): Replies['restyle'] {
  if (!kept) return { layers: [], heat: null };
  const { read: found, colours, order } = kept;
  kept.look = look;
  kept.whole = new Drawing(found.rows, look, colours);
  kept.drawing = order.length === found.rows.length ? kept.whole : new Drawing(found.rows, look, colours, order.toSorted());
  const { layers: own, heat } = kept.drawing;
  return { layers: own.length ? own : kept.coloured, heat };
}

/** What has come of an answer as a whole one, without what is begun at its end; nothing where that cannot be told. */
function whole(text: string, contentType: string): string | null {
  if (contentType.includes('csv')) return text.slice(0, text.lastIndexOf('\n') + 1);
  if (contentType.includes('xml')) return text.slice(0, Math.max(...['node', 'way', 'relation'].map((type) => text.lastIndexOf(`\n  <${type} `))) + 1);
  if (!contentType.includes('json')) return null;
  // The end of an element or of a solution, and what closes the lists around it.
  const isSparql = contentType.includes('sparql');
  const ends = isSparql ? ['}},{', ']}}'] : ['\n},\n{', ']}'];
  const at = text.lastIndexOf(ends[0] ?? '');
  return at < 0 ? null : text.slice(0, text.indexOf(',', at)) + ends[1];
}

/** The graph with its labels, laid out. */
async function drawn(): Promise<Replies['graph']> {
  if (!kept) throw new Failed(0, t('thereIsNoAnswer'));
  const found = graph.graph(kept.read, kept.order);
  const [{ layOut }] = await Promise.all([import('./layout'), label(found, kept.asking).catch(() => undefined)]);
  layOut(found);
  return found;
}

function rows(from: number, to: number): Row[] {
  if (!kept) return [];
  const { read: found, order } = kept;
  return [...order.subarray(from, to)].flatMap((index): Row[] => {
    const entry = found.rows[index];
    return entry ? [{ index, cells: found.columns.map((_, i) => shortened(entry.cell(i, found.columns), CELL)), placed: entry.geometry !== null }] : [];
  });
}

/** As much of a value as is shown. */
function shortened(cell: Cell, most: number): Cell {
  const { text } = cell;
  return text.length <= most ? cell : { ...cell, text: `${text.slice(0, most).replace(/[\ud800-\udbff]$/, '')}… (${t('nCharacters', { n: text.length })})` };
}

/** Filters and sorts the rows; a filter acts on the map, on the other views and on files. */
function arrange(column: number, descending: boolean, filter: string): Replies['arrange'] {
  if (!kept) return { rows: 0, geometries: { point: 0, line: 0, polygon: 0 }, box: null };
  const { read: found, summary, colours, look } = kept;
  kept.order = arranged(found, { column, descending, filter });
  kept.places = new Int32Array(found.rows.length).fill(-1);
  kept.order.forEach((index, place) => kept && (kept.places[index] = place));
  if (filter !== kept.filter) {
    kept.filter = filter;
    kept.drawing = kept.order.length === found.rows.length ? kept.whole : new Drawing(found.rows, look, colours, kept.order.toSorted());
  }
  const { geometries, box } = kept.drawing;
  return { rows: kept.order.length, geometries, box: kept.drawing === kept.whole ? summary.box : box };
}

/** Rows that pass the filter, in the order of the table. */
const leftRows = (): Entry[] => (kept ? [...kept.order].flatMap((index) => kept?.read.rows[index] ?? []) : []);

function beside(index: number, by: -1 | 1): number {
  const number = kept?.order.length ?? 0;
  const place = kept?.places[index] ?? -1;
  return place < 0 || !number ? -1 : (kept?.order[(place + by + number) % number] ?? -1);
}

function details(index: number): Details {
  const entry = kept?.read.rows[index];
  if (!kept || !entry) throw new Failed(0, t('noSuchRow'));
  return { index, title: shortened({ text: entry.title }, CELL).text, href: entry.href, pairs: entry.pairs().map(([name, cell]) => [name, shortened(cell, VALUE)]), geometry: entry.geometry, box: entry.geometry && boxOf(entry.geometry), nodes: graph.named(kept.read, index) };
}

/** A piece of the answer that ends where a letter does. */
async function raw(from: number, to: number): Promise<Replies['raw']> {
  if (!kept) return { text: '', to: 0, size: 0 };
  const bytes = new Uint8Array(await kept.raw.slice(from, to + 3).arrayBuffer());
  let length = Math.min(bytes.length, to - from);
  // Bytes within a letter begin with 10.
  while (length < bytes.length && ((bytes[length] ?? 0) & 0xc0) === 0x80) length += 1;
  return { text: new TextDecoder().decode(bytes.subarray(0, length)), to: from + length, size: kept.raw.size };
}

/** A name that no column has. */
function unlike(name: string, columns: string[]): string {
  return columns.includes(name) ? unlike(`_${name}`, columns) : name;
}

async function file(as: Saved, copyright: string): Promise<Replies['save']> {
  if (!kept) throw new Failed(0, t('thereIsNoAnswer'));
  const { read: found, summary } = kept;
  const rows = leftRows();
  const isFiltered = rows.length < found.rows.length;
  const entries = rows.map((entry): save.Entry => ({
    title: entry.title,
    id: entry.id,
    properties: entry.id ? { '@id': entry.id, ...entry.tags } : entry.tags,
    geometry: entry.geometry,
  }));
  const placed = entries.filter((entry) => entry.geometry);
  const name = `terrapin-${summary.digest.slice(0, 8) || 'answer'}`;
  // A file of some of the rows says so in its name, and GeoJSON in itself.
  const rowsName = summary.part || isFiltered ? `${name}-part` : name;
  const url = (text: string | Blob, type: string) => URL.createObjectURL(typeof text === 'string' ? new Blob([text], { type }) : text);
  // Of keys that have no column there is one for all.
  const columns = found.others.length ? [...found.columns, unlike('other_tags', found.columns)] : found.columns;
  const cells = () =>
    rows.map((entry) => {
      const own = found.columns.map((_, i) => entry.cell(i, found.columns));
      if (!found.others.length) return own;
      const others = found.others.filter((key) => key in entry.tags).map((key) => [key, entry.tags[key]]);
      return [...own, { text: others.length ? JSON.stringify(Object.fromEntries(others)) : '' }];
    });
  switch (as) {
    case 'geojson':
      return { url: url(save.geojson(placed, { generator: 'Terrapin', copyright, snapshot: summary.digest, ...(summary.part ? { remark: `the first ${found.rows.length} rows of a longer answer` } : isFiltered && { remark: `${rows.length} of the ${found.rows.length} rows of the answer` }) }), 'application/geo+json'), name: `${rowsName}.geojson` };
    case 'gpx':
      return { url: url(save.gpx(placed, copyright), 'application/gpx+xml'), name: `${rowsName}.gpx` };
    case 'kml':
      return { url: url(save.kml(placed, copyright), 'application/vnd.google-earth.kml+xml'), name: `${rowsName}.kml` };
    case 'csv':
      return { url: url(save.csv(columns, cells()), 'text/csv'), name: `${rowsName}.csv` };
    case 'parquet': {
      const { parquet } = await import('./parquet');
      const bytes = parquet(columns, cells(), rows.map((entry) => entry.geometry), copyright);
      return { url: url(new Blob([bytes]), 'application/vnd.apache.parquet'), name: `${rowsName}.parquet` };
    }
    case 'json': {
      if (summary.contentType.includes('json') && !isFiltered) return { url: url(kept.raw, ''), name: `${name}.json` };
      const all = rows.map((entry) => (entry.id ? { id: entry.id, tags: entry.tags, geometry: entry.geometry } : entry.tags));
      return { url: url(JSON.stringify({ snapshot: summary.digest, rows: all }), 'application/json'), name: `${rowsName}.json` };
    }
    case 'raw': {
      const extension = /xml/.test(summary.contentType) ? 'osm' : /json/.test(summary.contentType) ? 'json' : /csv/.test(summary.contentType) ? 'csv' : /turtle/.test(summary.contentType) ? 'ttl' : 'txt';
      return { url: url(kept.raw, ''), name: `${name}.${extension}` };
    }
  }
}

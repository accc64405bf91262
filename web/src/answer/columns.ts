// Columns of an answer as charts see them: numbers, dates, texts, things, images; and the values that a chart draws.

import type { Cell } from './model';
import type { Entry, Read } from './table';

/** `thing`: an item, an element or another IRI; `image`: a file of Wikimedia Commons; `other`: geometries and what is left. */
export type ColumnType = 'number' | 'date' | 'text' | 'thing' | 'image' | 'other';

export interface ChartColumn {
  index: number;
  name: string;
  type: ColumnType;
  /** Rows with a value, and number of different values, among the rows that are looked at. */
  filled: number;
  distinct: number;
}

/** A value that a chart draws: milliseconds since 1970 for a date, `null` if the row has none. */
export type ChartValue = string | number | null;

export interface ChartRow {
  /** The row of the answer; of a group its first. */
  index: number;
  title: string;
  values: ChartValue[];
  /** The colour that the row gives as `?rgb`. */
  rgb?: string;
  /** Of a group: the number of its rows. */
  rows?: number;
}

/**
 * Why a chart does not draw a row: it has no usable value, fewer than two values, a negative number, a number that is not positive
 * (a bubble or an area has no size then), too small an area; or it is over the limit of rows or of marks.
 */
export type LeftReason = 'valueless' | 'fewValues' | 'negative' | 'notPositive' | 'tooSmall' | 'overRows' | 'overMarks';

/** Numbers of the answer's rows that a chart does not draw, by the reason. */
export type LeftRows = Partial<Record<LeftReason, number>>;

export interface ChartData {
  rows: ChartRow[];
  left: LeftRows;
}

export interface ImageOfRow {
  index: number;
  title: string;
  /** The name of the file. */
  name: string;
  /** The address of the page that describes the file. */
  page: string;
  pairs: [name: string, value: string][];
}

/** Rows whose values decide the types of the columns. */
const LOOKED = 5000;
/** Marks of a chart, and images of a grid. */
export const MARKS = 5000;
const IMAGES = 500;
/** Letters of a value in a chart. */
const LETTERS = 120;
/** Share of values from which a column has a type. */
const SHARE = 0.9;
/** The columns of answers that were looked at before. */
const looked = new WeakMap<Read, ChartColumn[]>();
const DATES = new Set(['dateTime', 'date', 'gYear', 'gYearMonth']);
const GEOMETRIES = new Set(['wktLiteral', 'geoJSONLiteral']);

/** Returns the columns of a whole answer: neither a filter nor the order of the rows changes their types. */
export function columnsOf(found: Read): ChartColumn[] {
  const columns = looked.get(found) ?? typed(found);
  looked.set(found, columns);
  return columns;
}

function typed(found: Read): ChartColumn[] {
  const rows = found.rows.slice(0, LOOKED);
  return found.columns.map((name, index) => {
    const counts: Record<ColumnType, number> = { number: 0, date: 0, text: 0, thing: 0, image: 0, other: 0 };
    const distinct = new Set<string>();
    let filled = 0;
    for (const entry of rows) {
      const cell = entry.cell(index, found.columns);
      if (cell.text === '') continue;
      filled += 1;
      distinct.add(cell.text);
      counts[typeOf(cell, name)] += 1;
    }
    const [type, most] = (Object.entries(counts) as [ColumnType, number][]).reduce((a, b) => (b[1] > a[1] ? b : a));
    return { index, name, type: filled > 0 && most >= SHARE * filled ? type : filled > 0 && counts.image + counts.other === 0 ? 'text' : 'other', filled, distinct: distinct.size };
  });
}

function typeOf(cell: Cell, column: string): ColumnType {
  const { text, href, note } = cell;
  if (commons(text, column)) return 'image';
  if (href || text.startsWith('_:')) return 'thing';
  if (note && GEOMETRIES.has(note)) return 'other';
  if (note && DATES.has(note)) return 'date';
  return number(text) === null ? 'text' : 'number';
}

const number = (text: string): number | null => (text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : null);

/** Milliseconds since 1970 of an `xsd:dateTime`, `date`, `gYear` or `gYearMonth`, also before the year 1. */
export function timeOf(text: string): number | null {
  const match = /^(-?\d{4,})(?:-(\d\d))?(?:-(\d\d))?(?:T(\d\d):(\d\d)(?::(\d\d))?)?/.exec(text);
  if (!match) return null;
  const [, year, month = '01', day = '01', hour = '00', minute = '00', second = '00'] = match;
  const date = new Date(0);
  // Wikidata has 00 for a month or day that is not known.
  date.setUTCFullYear(Number(year), Math.max(0, Number(month) - 1), Math.max(1, Number(day)));
  date.setUTCHours(Number(hour), Number(minute), Number(second));
  return Number.isNaN(date.getTime()) ? null : date.getTime();
}

function valueOf(cell: Cell, { type }: ChartColumn): ChartValue {
  if (cell.text === '') return null;
  if (type === 'number') return number(cell.text);
  return type === 'date' ? timeOf(cell.text) : cell.text;
}

/** Returns the values of some columns, in the order of the table. `counted` groups rows by these values and adds their number. */
export function dataOf(found: Read, order: Uint32Array, indexes: number[], counted: boolean): ChartData {
  const all = columnsOf(found);
  const columns = indexes.flatMap((index) => all[index] ?? []);
  const rgb = found.columns.indexOf('rgb');
  const short = shortener();
  const read = (row: number): ChartRow | null => {
    const entry = found.rows[row];
    if (!entry) return null;
    const colour = rgb < 0 ? '' : entry.cell(rgb, found.columns).text;
    return { index: row, title: entry.title.slice(0, 200), values: columns.map((column) => short(valueOf(entry.cell(column.index, found.columns), column))), ...(/^#?[0-9a-f]{6}$/i.test(colour) && { rgb: `#${colour.replace('#', '')}` }) };
  };
  return counted ? grouped(order, read) : first(order, read);
}

/** Returns a function that shortens texts. Texts that would be the same then have a number, as charts tell values apart by them. */
function shortener(): (value: ChartValue) => ChartValue {
  const shorts = new Map<string, string>();
  const uses = new Map<string, number>();
  return (value) => {
    if (typeof value !== 'string' || value.length <= LETTERS) return value;
    const known = shorts.get(value);
    if (known !== undefined) return known;
    const begin = `${value.slice(0, LETTERS - 1)}…`;
    const use = (uses.get(begin) ?? 0) + 1;
    uses.set(begin, use);
    const short = use > 1 ? `${begin} (${use})` : begin;
    shorts.set(value, short);
    return short;
  };
}

function first(order: Uint32Array, read: (row: number) => ChartRow | null): ChartData {
  const rows = [...order.subarray(0, MARKS)].flatMap((row) => read(row) ?? []);
  return { rows, left: order.length > MARKS ? { overRows: order.length - MARKS } : {} };
}

function grouped(order: Uint32Array, read: (row: number) => ChartRow | null): ChartData {
  const groups = new Map<string, { row: ChartRow; number: number }>();
  const left: LeftRows = {};
  for (const row of order) {
    const one = read(row);
    if (!one) continue;
    if (one.values.every((value) => value === null)) {
      left.valueless = (left.valueless ?? 0) + 1;
      continue;
    }
    const key = JSON.stringify(one.values);
    const group = groups.get(key);
    if (group) group.number += 1;
    else groups.set(key, { row: one, number: 1 });
  }
  const all = [...groups.values()].sort((a, b) => b.number - a.number || a.row.index - b.row.index);
  if (all.length > MARKS) left.overRows = all.slice(MARKS).reduce((sum, { number }) => sum + number, 0);
  return { rows: all.slice(0, MARKS).map(({ row, number }) => ({ ...row, rows: number, values: [...row.values, number] })), left };
}

const FILE = /^https?:\/\/commons\.wikimedia\.org\/wiki\/(?:Special:FilePath\/|File:)(.+)$/;
const UPLOADED = /^https:\/\/upload\.wikimedia\.org\/wikipedia\/commons\/(?:thumb\/)?[0-9a-f]\/[0-9a-f]{2}\/([^/]+)/;

/** Returns the name of the file of Wikimedia Commons that a value names, or `null`. Sounds, videos and documents are no images. */
export function commons(text: string, column = ''): string | null {
  const named = /(^|:)wikimedia_commons$|^image$/.test(column) ? /^File:(.+)$/.exec(text) : null;
  const [, name] = FILE.exec(text) ?? UPLOADED.exec(text) ?? named ?? [];
  if (!name) return null;
  let plain = name;
  try {
    plain = decodeURIComponent(name);
  } catch {
    // A percent sign that encodes nothing is part of the name.
  }
  return /\.(jpe?g|png|gif|svg|tiff?|webp|xcf)$/i.test(plain) ? plain.replace(/_/g, ' ') : null;
}

/** Returns the images of the rows, in the order of the table, without the values of the hidden columns. */
export function imagesOf(found: Read, order: Uint32Array, hidden: string[]): { images: ImageOfRow[]; more: number } {
  const columns = columnsOf(found).filter(({ type }) => type === 'image');
  const images: ImageOfRow[] = [];
  let more = 0;
  for (const row of order) {
    const entry = found.rows[row];
    if (!entry) continue;
    for (const { index, name } of columns) {
      const file = commons(entry.cell(index, found.columns).text, name);
      if (!file) continue;
      if (images.length < IMAGES) images.push(imageOf(found, entry, row, file, hidden));
      else more += 1;
    }
  }
  return { images, more };
}

function imageOf(found: Read, entry: Entry, index: number, file: string, hidden: string[]): ImageOfRow {
  const name = encodeURIComponent(file.replace(/ /g, '_'));
  const pairs = found.columns.flatMap((column, i): [string, string][] => {
    const { text, note } = entry.cell(i, found.columns);
    const isLabelled = found.columns.includes(`${column}Label`) || hidden.includes(column);
    return text && !isLabelled && text !== entry.title && !commons(text, column) && !(note && GEOMETRIES.has(note)) ? [[column, text.slice(0, 120)]] : [];
  });
  return { index, title: entry.title === 'solution' ? file : entry.title.slice(0, 200), name: file, page: `https://commons.wikimedia.org/wiki/File:${name}`, pairs: pairs.slice(0, 4) };
}

// Which charts fit an answer's columns, and which column each of them draws where. As in the Wikidata Query Service, columns are
// taken in the order of the query: the first number, date or text goes across, the next number up, a further text is the colour.
// Bars differ if the first column is an amount: bars have names, and amounts are their lengths.

import type { ChartColumn } from '../answer/columns';
import { defaultView, defaultViewComment, withDefaultView } from '../default-view';
import { isNaming } from '../text/formats';

export type Kind = 'bar' | 'line' | 'area' | 'scatter' | 'bubble' | 'tree' | 'treemap' | 'dimensions';

/** The names after `#defaultView:`, in the order of the selector. */
export const KINDS: Record<Kind, string> = {
  bar: 'BarChart',
  line: 'LineChart',
  area: 'AreaChart',
  scatter: 'ScatterChart',
  bubble: 'BubbleChart',
  tree: 'Tree',
  treemap: 'TreeMap',
  dimensions: 'Dimensions',
};

/** In place of a column: the number of rows. */
export const ROWS = -1;
/** No column. */
export const NONE = -2;

/** Columns by their part in a chart; `levels` of a tree and a tree map from the root, `levels` of dimensions from the left. */
export interface Roles {
  x: number;
  y: number;
  colour: number;
  levels: number[];
}

/** Values of a column that a bar chart tells apart, and colours of a legend. */
const BARS = 200;
/** Most columns of dimensions. */
const DIMENSIONS = 8;

/**
 * What a query says of its view: `#defaultView:BarChart{"hide": "?item"}`. `null` stands for no column: the number of rows as `y`,
 * one colour as `colour`.
 */
export interface ViewOptions {
  view: string;
  hide: string[];
  x?: string;
  y?: string | null;
  colour?: string | null;
}

/** The options of a view as its comment has them. */
type WrittenOptions = Record<string, string | string[] | null>;

/** Returns the view that a SPARQL query names, in lower case, with its options; options that are not JSON are left out. */
export function viewOf(text: string): ViewOptions {
  const { view, options: json } = defaultView(text);
  let read: Record<string, unknown> = {};
  try {
    read = json ? (JSON.parse(json) as Record<string, unknown>) : {};
  } catch {
    // The view is drawn without them.
  }
  const names = (value: unknown): string[] => [value].flat().flatMap((name) => (typeof name === 'string' ? name.replace(/^[?$]/, '') : []));
  const one = (value: unknown): string | undefined => names(value)[0];
  const oneOrNone = (value: unknown): string | null | undefined => (value === null ? null : one(value));
  return { view, hide: names(read.hide), x: one(read.x), y: oneOrNone(read.y), colour: oneOrNone(read.colour) };
}

/** Returns the text of a query whose comment names this view. Options of the style on the map are dropped with the map. */
export function withView(text: string, view: string, options: WrittenOptions): string {
  return withDefaultView(text, defaultViewComment(view, options));
}

/** Returns the columns that charts may use: with values, not hidden, and things without those that have labels. */
export function usable(columns: ChartColumn[], hidden: string[] = []): ChartColumn[] {
  const names = new Set(columns.filter(({ filled }) => filled > 0).map(({ name }) => name));
  return columns.filter(({ name, filled, type }) => filled > 0 && !hidden.includes(name) && name !== 'rgb' && type !== 'other' && type !== 'image' && !names.has(`${name}Label`) && !/^(id|@id|@lat|@lon|lat|lon)$/.test(name));
}

const isNumber = ({ type }: ChartColumn): boolean => type === 'number';
const isAxis = ({ type }: ChartColumn): boolean => type === 'number' || type === 'date';
const isName = ({ type }: ChartColumn): boolean => type === 'text' || type === 'thing';
/** Whether a column has lengths and sizes, not years or codes. */
const isAmount = (one: ChartColumn): boolean => isNumber(one) && !isNaming(one.name);

/** Returns the charts that fit. */
export function fitting(columns: ChartColumn[]): Kind[] {
  const all = usable(columns);
  const numbers = all.filter((one) => isNumber(one) && one.distinct > 1);
  const axes = all.filter((one) => isAxis(one) && one.distinct > 1);
  const names = all.filter(isName);
  // Values that repeat can be counted.
  const counted = names.some(({ distinct, filled }) => distinct > 1 && distinct < filled);
  const fits: Record<Kind, boolean> = {
    bar: (numbers.length > 0 && (names.some(({ distinct }) => distinct > 1) || axes.length > 1)) || counted,
    line: numbers.length > 0 && axes.length > 1,
    area: numbers.length > 0 && axes.length > 1,
    scatter: numbers.length > 0 && axes.length > 1,
    bubble: numbers.length > 0 && names.some(({ distinct }) => distinct > 1),
    tree: names.filter(({ distinct }) => distinct > 1).length > 1 || (names.length > 1 && names[0]?.distinct === 1),
    treemap: (numbers.length > 0 && names.some(({ distinct }) => distinct > 1)) || counted,
    dimensions: axes.length > 1 && axes.length + names.length > 2,
  };
  return (Object.keys(KINDS) as Kind[]).filter((kind) => fits[kind]);
}

/** Returns the columns that a chart draws unless others are chosen. */
export function rolesOf(kind: Kind, columns: ChartColumn[], options: Partial<ViewOptions> = {}): Roles {
  const all = usable(columns, options.hide);
  const named = (name: string | null | undefined): ChartColumn | undefined => all.find((one) => one.name === name);
  const names = all.filter(isName);
  const several = names.filter(({ distinct }) => distinct > 1);
  const numbers = all.filter(isNumber);
  const place = (one: ChartColumn | undefined): number => one?.index ?? NONE;
  // Rows are counted if the query says so, or if there is no number.
  const counted = (column: ChartColumn | undefined): number => named(options.y)?.index ?? (options.y === null ? ROWS : (column?.index ?? ROWS));
  const size = sizeOf(numbers);
  if (kind === 'tree' || kind === 'treemap') return { x: NONE, y: kind === 'tree' ? NONE : counted(size), colour: NONE, levels: levelsOf(kind, names, columns) };
  if (kind === 'dimensions') return { x: NONE, y: NONE, colour: place(named(options.colour)), levels: all.filter((one) => isAxis(one) || one.distinct <= BARS).slice(0, DIMENSIONS).map(({ index }) => index) };
  if (kind === 'bubble') return { x: place(named(options.x) ?? several[0] ?? names[0]), y: place(named(options.y) ?? size), colour: place(named(options.colour)), levels: [] };
  const x = named(options.x) ?? acrossOf(kind, all);
  const others = numbers.filter((one) => one !== x);
  const up = kind === 'bar' ? sizeOf(others) : (others.find(({ distinct }) => distinct > 1) ?? others[0]);
  const y = kind === 'bar' ? counted(up) : place(named(options.y) ?? up);
  const colour = several.find((one) => one !== x && one.distinct <= BARS && one.distinct < one.filled);
  return { x: place(x), y, colour: place(options.colour === undefined ? colour : named(options.colour)), levels: [] };
}

/** Returns the column that goes across: for bars, one with names instead of an amount. */
function acrossOf(kind: Kind, all: ChartColumn[]): ChartColumn | undefined {
  const across = all.filter((one) => (isAxis(one) || (kind === 'bar' && isName(one))) && one.distinct > 1);
  const [first] = across;
  if (!first || !isNumber(first)) return first;
  if (kind === 'bar' && isAmount(first)) {
    // `SELECT *` has its columns by name, so the first name may be that of a group: names of single rows come before it.
    const names = across.filter(isName);
    return names.find(({ distinct, filled }) => distinct === filled) ?? names[0] ?? across.find((one) => !isAmount(one)) ?? first;
  }
  // A number alone goes up, next to the names.
  const isAlone = !all.some((one) => isNumber(one) && one !== first);
  return (isAlone ? across.find((one) => one !== first) : undefined) ?? first;
}

/** Returns the column of lengths or sizes: an amount, if there is one with different values. */
function sizeOf(numbers: ChartColumn[]): ChartColumn | undefined {
  const varied = numbers.filter(({ distinct }) => distinct > 1);
  return varied.find(isAmount) ?? varied[0] ?? numbers[0];
}

/** Returns the options of a view from which `rolesOf` returns these roles: those that differ from its own choice. */
export function optionsOf(kind: Kind, roles: Roles, columns: ChartColumn[], hidden: string[]): WrittenOptions {
  const options: Partial<ViewOptions> = { hide: hidden };
  // A part is chosen with regard to those before it.
  for (const part of ['x', 'y', 'colour'] as const) {
    if (rolesOf(kind, columns, options)[part] === roles[part]) continue;
    const name = columns.find(({ index }) => index === roles[part])?.name;
    if (part === 'x') options.x = name;
    else options[part] = name ?? null;
  }
  const written = (name: string | null) => (name === null ? null : `?${name}`);
  const parts = (['x', 'y', 'colour'] as const).flatMap((part): [string, string | null][] => (options[part] === undefined ? [] : [[part, written(options[part])]]));
  return { ...(hidden.length && { hide: hidden.map((name) => `?${name}`) }), ...Object.fromEntries(parts) };
}

/** Names from the root on: as the query has them, for a tree map without names that are the same in all rows. */
function levelsOf(kind: Kind, names: ChartColumn[], columns: ChartColumn[]): number[] {
  const several = kind === 'treemap' ? names.filter(({ distinct }) => distinct > 1) : names;
  const size = columns.some(isNumber);
  // Without a number the size is the number of rows of each value, so what differs in each row is left out.
  const levels = kind === 'treemap' && !size ? several.filter(({ distinct, filled }) => distinct < filled).slice(0, 2) : several;
  return levels.slice(0, 6).map(({ index }) => index);
}

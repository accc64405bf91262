// What charts have in common: colours, texts of values, axes, legends. Colours of the page are variables, so that a chart follows
// the colours of the page; `pictures/chart.ts` replaces them in files.

import { scaleLinear, scaleUtc } from 'd3-scale';
import type { ChartColumn, ChartValue, LeftRows } from '../answer/columns';
import { svg } from '../dom';
import { OTHER, paletteNamed } from '../style/palettes';
import { dateText, isNaming, numberText } from '../text/formats';
import { t } from '../text/lookup';
import { TEXTS } from './texts';

export const FONT = 'font-family: "IBM Plex Sans", system-ui, sans-serif; font-size: 11px';
/** Pixels of a letter on an average, of a line. */
export const LETTER = 6.1;
export const LINE = 16;
/** Colours of a legend. */
const COLOURS = 7;

export interface Size {
  width: number;
  height: number;
}

/** A drawing and its size, which may be higher than the room: such a chart scrolls. */
export interface Drawn extends Size {
  parts: SVGElement[];
  marks: number;
  /** The most marks that are drawn, if there is a limit. */
  limit?: number;
  left: LeftRows;
}

/** A scale of numbers or dates. */
export type Scale = ((value: number) => number) & { ticks(count: number): number[] };

const YEAR = 365.25 * 86_400_000;

/** Returns a value as text; `span` is the range of an axis, by which its dates and numbers are shortened. */
export function textOf(value: ChartValue | undefined, column: ChartColumn | undefined, span = 0): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return value;
  if (column?.type === 'date') {
    const date = new Date(value);
    if (span > 3 * YEAR || (span === 0 && date.getUTCMonth() === 0 && date.getUTCDate() === 1)) return yearOf(date.getUTCFullYear());
    return dateText(date, span > 0.3 * YEAR ? 'month' : 'day');
  }
  if (column && isNaming(column.name)) return String(value);
  return numberText(value, span >= 1e5 ? 'compact' : 'mark');
}

const yearOf = (year: number): string => (year < 1 ? t('yearBCE', { year: String(1 - year) }) : String(year));

/** Shortens a text to some pixels. */
export function fitted(text: string, pixels: number): string {
  const most = Math.floor(pixels / LETTER);
  return text.length <= most ? text : most < 2 ? '' : `${text.slice(0, most - 1)}…`;
}

export function scaleOf(column: ChartColumn | undefined, values: number[], range: [number, number], fromZero: boolean): Scale {
  let low = fromZero ? 0 : Infinity;
  let high = fromZero ? 0 : -Infinity;
  for (const value of values) [low, high] = [Math.min(low, value), Math.max(high, value)];
  if (column?.type === 'date') {
    const scale = scaleUtc([low, high === low ? low + 86_400_000 : high], range);
    return Object.assign((value: number) => scale(value), { ticks: (count: number) => scale.ticks(count).map(Number) });
  }
  const scale = scaleLinear([low, high === low ? low + 1 : high], range).nice();
  return Object.assign((value: number) => scale(value), { ticks: (count: number) => scale.ticks(count) });
}

/** Colours of values: the most frequent have one each; the others, and rows without a value, are grey. */
export class Colours {
  readonly legend: [name: string, colour: string][] = [];
  private readonly colours = new Map<string, string>();
  private readonly single: string;

  constructor(values: ChartValue[], column: ChartColumn | undefined) {
    const { colours } = paletteNamed('okabe-ito', 'categories');
    this.single = colours[0] ?? OTHER;
    if (!column) return;
    const counts = new Map<string, number>();
    for (const value of values) if (value !== null) counts.set(String(value), (counts.get(String(value)) ?? 0) + 1);
    const names = [...counts].sort(([, n], [, m]) => m - n).map(([name]) => name);
    for (const [i, name] of names.slice(0, COLOURS).entries()) this.colours.set(name, colours[i] ?? OTHER);
    for (const [name, colour] of this.colours) this.legend.push([name, colour]);
    if (names.length > COLOURS || values.some((value) => value === null)) this.legend.push([TEXTS.others, OTHER]);
  }

  of(value: ChartValue | undefined): string {
    if (!this.legend.length) return this.single;
    return this.colours.get(String(value)) ?? OTHER;
  }

  /** Whether a value has a colour that no other value has. */
  hasOwn(value: ChartValue): boolean {
    return value !== null && this.colours.has(String(value));
  }
}

export const text = (x: number, y: number, words: string, more: Record<string, string | number> = {}): SVGTextElement => svg('text', { x, y, fill: 'var(--muted)', ...more }, words);

/** The legend in lines at the top of a chart, and its height. */
export function legendOf(all: [string, string][], width: number): { parts: SVGElement[]; height: number } {
  let [x, y] = [8, 0];
  const parts: SVGElement[] = [];
  for (const [name, colour] of all) {
    const words = fitted(name, 180);
    const wide = 26 + words.length * LETTER;
    if (x > 8 && x + wide > width) [x, y] = [8, y + LINE];
    parts.push(svg('rect', { x, y: y + 6, width: 10, height: 10, rx: 2, fill: colour }), text(x + 15, y + 15, words, { fill: 'var(--ink)' }));
    x += wide;
  }
  return { parts, height: all.length ? y + LINE + 6 : 0 };
}

/** A horizontal axis with its lines through the chart. */
export function axisX(scale: Scale, column: ChartColumn | undefined, { top, bottom, left, right }: { top: number; bottom: number; left: number; right: number }, name: string): SVGElement[] {
  const ticks = scale.ticks(Math.max(2, Math.floor((right - left) / 80)));
  const span = Math.max(1e-9, (ticks.at(-1) ?? 0) - (ticks[0] ?? 0));
  return [
    ...ticks.flatMap((tick) => [svg('line', { x1: scale(tick), x2: scale(tick), y1: top, y2: bottom, stroke: 'var(--edge)' }), text(scale(tick), bottom + 14, textOf(tick, column, span), { 'text-anchor': 'middle' })]),
    text(right, bottom + 28, name, { 'text-anchor': 'end', fill: 'var(--ink)' }),
  ];
}

/** A vertical axis, whose name is above it. */
export function axisY(scale: Scale, column: ChartColumn | undefined, { top, bottom, left, right }: { top: number; bottom: number; left: number; right: number }, name: string): SVGElement[] {
  const ticks = scale.ticks(Math.max(2, Math.floor((bottom - top) / 40)));
  const span = Math.max(1e-9, (ticks.at(-1) ?? 0) - (ticks[0] ?? 0));
  return [
    ...ticks.flatMap((tick) => [svg('line', { x1: left, x2: right, y1: scale(tick), y2: scale(tick), stroke: 'var(--edge)' }), text(left - 6, scale(tick) + 4, textOf(tick, column, span), { 'text-anchor': 'end' })]),
    text(8, top - 8, name, { fill: 'var(--ink)' }),
  ];
}

// Bars, lines, areas and points between two axes.

import { scaleBand } from 'd3-scale';
import { area, line } from 'd3-shape';
import type { ChartColumn, ChartRow, ChartValue, LeftRows } from '../answer/columns';
import { svg } from '../dom';
import { axisX, axisY, Colours, fitted, legendOf, LETTER, LINE, scaleOf, text, textOf, type Drawn, type Size } from './frame';
import { leave, weightOf } from './left';
import { TEXTS } from './texts';

/** Columns and rows of a chart; a row has the values of x, y and the colour, in this order. */
export interface Plotted {
  rows: ChartRow[];
  x: ChartColumn;
  y: ChartColumn;
  colour: ChartColumn | undefined;
}

interface Mark {
  row: ChartRow;
  x: ChartValue;
  y: number;
  colour: ChartValue;
}

type AxisMark = Mark & { x: number };
type Series = [name: string, marks: AxisMark[]];

/** Most bars. */
const BARS = 200;
const BAR_HEIGHT = 22;
/** Points of a line that are marked. */
const DOTS = 300;

/** Rows that have what every mark needs, and those that do not. */
function marksOf({ rows }: Plotted, isFit: (x: ChartValue) => boolean = (x) => x !== null): { marks: Mark[]; left: LeftRows } {
  const marks: Mark[] = [];
  const left: LeftRows = {};
  for (const row of rows) {
    const [x = null, y = null, colour = null] = row.values;
    if (typeof y === 'number' && isFit(x)) marks.push({ row, x, y, colour });
    else leave(left, 'valueless', weightOf(row));
  }
  return { marks, left };
}

const titleOf = ({ row, x, y, colour }: Mark, plotted: Plotted): SVGTitleElement => {
  const place = textOf(x, plotted.x);
  const own = row.title && row.title !== place && row.title !== 'solution' ? `${row.title}: ` : '';
  return svg('title', {}, `${own}${place}${colour !== null && plotted.colour ? `, ${colour}` : ''}: ${textOf(y, plotted.y)}`);
};

/** Bars of the same place and colour are added up; those of one place and several colours are stacked. */
export function bars(plotted: Plotted, size: Size): Drawn {
  const { marks, left } = marksOf(plotted);
  if (!marks.length) return { parts: [], ...size, marks: 0, left };
  const groups = new Map<ChartValue, Map<ChartValue, Mark>>();
  const weights = new Map<ChartValue, number>();
  for (const mark of marks) {
    const group = groups.get(mark.x) ?? new Map<ChartValue, Mark>();
    groups.set(mark.x, group);
    weights.set(mark.x, (weights.get(mark.x) ?? 0) + weightOf(mark.row));
    const same = group.get(mark.colour);
    // A sum has the title of none of its rows.
    group.set(mark.colour, same ? { ...same, y: same.y + mark.y, row: { ...same.row, title: '' } } : mark);
  }
  const isNamed = plotted.x.type !== 'number' && plotted.x.type !== 'date';
  const all = [...groups].map(([x, group]): Group => [x, [...group.values()]]);
  if (!isNamed) all.sort(([a], [b]) => Number(a) - Number(b));
  const shown = all.slice(0, BARS);
  for (const [x] of all.slice(BARS)) leave(left, 'overMarks', weights.get(x) ?? 0);
  const colours = new Colours(shown.flatMap(([, bar]) => bar.map(({ colour }) => colour)), plotted.colour);
  const draw = isNamed || shown.length > size.width / 14 ? level : upright;
  return { ...draw(plotted, size, shown, colours), marks: shown.length, limit: BARS, left };
}

type Group = [ChartValue, Mark[]];

const sums = (groups: Group[]): number[] => groups.flatMap(([, marks]) => [marks.reduce((sum, { y }) => sum + Math.max(0, y), 0), marks.reduce((sum, { y }) => sum + Math.min(0, y), 0)]);

/** Bars from the left, each with its name: for names, which are long. */
function level(plotted: Plotted, size: Size, groups: Group[], colours: Colours): Omit<Drawn, 'marks' | 'left'> {
  const names = groups.map(([name]) => textOf(name, plotted.x));
  const left = Math.min(size.width * 0.38, 16 + Math.max(...names.map(({ length }) => length)) * LETTER);
  const legend = legendOf(colours.legend, size.width);
  const top = legend.height + LINE + 8;
  const bottom = top + groups.length * BAR_HEIGHT;
  const totals = sums(groups);
  const valueWidth = 14 + Math.max(...totals.map((total) => textOf(total, plotted.y).length)) * LETTER;
  const right = size.width - Math.min(valueWidth, size.width * 0.3);
  const scale = scaleOf(plotted.y, totals, [left, right], true);
  const parts: SVGElement[] = [...legend.parts, ...axisX(scale, plotted.y, { top: top - 4, bottom, left, right }, '').slice(0, -1), text(left, legend.height + 13, plotted.y.name, { fill: 'var(--ink)' })];
  groups.forEach(([, marks], i) => {
    const y = top + i * BAR_HEIGHT;
    let [low, high] = [0, 0];
    parts.push(text(left - 7, y + 15, fitted(names[i] ?? '', left - 12), { 'text-anchor': 'end', fill: 'var(--ink)' }));
    for (const mark of marks) {
      const from = mark.y < 0 ? low : high;
      const to = from + mark.y;
      if (mark.y < 0) low = to;
      else high = to;
      parts.push(svg('rect', { x: Math.min(scale(from), scale(to)), y: y + 3, width: Math.max(1, Math.abs(scale(to) - scale(from))), height: BAR_HEIGHT - 6, fill: mark.row.rgb ?? colours.of(mark.colour), 'data-index': mark.row.index, class: 'mark' }, titleOf(mark, plotted)));
    }
    parts.push(text(scale(high) + 5, y + 15, textOf(high + low, plotted.y)));
  });
  return { parts, width: size.width, height: Math.max(size.height, bottom + 26) };
}

/** Bars from below: for years and numbers. */
function upright(plotted: Plotted, size: Size, groups: Group[], colours: Colours): Omit<Drawn, 'marks' | 'left'> {
  const legend = legendOf(colours.legend, size.width);
  const totals = sums(groups);
  const frame = { top: legend.height + 26, bottom: size.height - 36, left: 56, right: size.width - 12 };
  const y = scaleOf(plotted.y, totals, [frame.bottom, frame.top], true);
  const names = groups.map(([name]) => textOf(name, plotted.x));
  // Different numbers may have the same text, so each bar has a place by its number.
  const x = scaleBand(groups.keys(), [frame.left, frame.right]).padding(0.2);
  const every = Math.ceil((Math.max(...names.map(({ length }) => length)) * LETTER + 10) / x.step());
  const parts: SVGElement[] = [...legend.parts, ...axisY(y, plotted.y, frame, plotted.y.name), text(frame.right, frame.bottom + 28, plotted.x.name, { 'text-anchor': 'end', fill: 'var(--ink)' })];
  groups.forEach(([, marks], i) => {
    const left = x(i) ?? 0;
    let [low, high] = [0, 0];
    if (i % every === 0) parts.push(text(left + x.bandwidth() / 2, frame.bottom + 14, names[i] ?? '', { 'text-anchor': 'middle' }));
    for (const mark of marks) {
      const from = mark.y < 0 ? low : high;
      const to = from + mark.y;
      if (mark.y < 0) low = to;
      else high = to;
      parts.push(svg('rect', { x: left, y: Math.min(y(from), y(to)), width: x.bandwidth(), height: Math.max(1, Math.abs(y(from) - y(to))), fill: mark.row.rgb ?? colours.of(mark.colour), 'data-index': mark.row.index, class: 'mark' }, titleOf(mark, plotted)));
    }
  });
  return { parts, ...size };
}

/** Lines, areas or points over numbers or dates. */
export function over(kind: 'line' | 'area' | 'scatter', plotted: Plotted, size: Size): Drawn {
  const { marks: fitting, left } = marksOf(plotted, (x) => typeof x === 'number');
  // Areas are sums, from which a negative number cannot be seen.
  const marks = (kind === 'area' ? fitting.filter(({ y }) => y >= 0) : fitting) as AxisMark[];
  if (kind === 'area') leave(left, 'negative', fitting.reduce((sum, { y, row }) => (y < 0 ? sum + weightOf(row) : sum), 0));
  if (!marks.length) return { parts: [], ...size, marks: 0, left };
  const colours = new Colours(marks.map(({ colour }) => colour), plotted.colour);
  const legend = legendOf(colours.legend, size.width);
  const frame = { top: legend.height + 26, bottom: size.height - 36, left: 56, right: size.width - 16 };
  // Values without a colour of their own are one area: each area has a point at every place.
  const nameOf = ({ colour }: AxisMark): string => (!plotted.colour || colour === null || (kind === 'area' && !colours.hasOwn(colour)) ? '' : String(colour));
  const titleOfSeries = (name: string) => svg('title', {}, name || (plotted.colour ? TEXTS.others : plotted.y.name));
  const series = new Map<string, AxisMark[]>();
  for (const mark of marks) {
    const name = nameOf(mark);
    const same = series.get(name);
    if (same) same.push(mark);
    else series.set(name, [mark]);
  }
  for (const one of series.values()) one.sort((a, b) => a.x - b.x);
  const x = scaleOf(plotted.x, marks.map((mark) => mark.x), [frame.left, frame.right], false);
  // In the order of the legend from below.
  const names = new Set([...colours.legend.map(([name]) => name), '']);
  const layers = kind === 'area' ? stacked([...names].flatMap((name): Series[] => (series.has(name) ? [[name, series.get(name) ?? []]] : []))) : [];
  const tops = layers.flatMap(({ points }) => points.map(([, , to]) => to));
  const y = scaleOf(plotted.y, kind === 'area' ? tops : marks.map((mark) => mark.y), [frame.bottom, frame.top], kind === 'area');
  const parts: SVGElement[] = [...legend.parts, ...axisX(x, plotted.x, frame, plotted.x.name), ...axisY(y, plotted.y, frame, plotted.y.name)];
  for (const { name, points } of layers) {
    const path = area<[number, number, number]>().x(([at]) => x(at)).y0(([, from]) => y(from)).y1(([, , to]) => y(to))(points) ?? '';
    parts.push(svg('path', { d: path, fill: colours.of(name), 'fill-opacity': 0.75, stroke: colours.of(name), 'stroke-width': 1 }, titleOfSeries(name)));
  }
  if (kind === 'line')
    for (const [name, points] of series) {
      const path = line<AxisMark>().x((mark) => x(mark.x)).y((mark) => y(mark.y))(points) ?? '';
      parts.push(svg('path', { d: path, fill: 'none', stroke: colours.of(name), 'stroke-width': 2, 'stroke-linejoin': 'round' }, titleOfSeries(name)));
    }
  if (kind === 'scatter' || (kind === 'line' && marks.length <= DOTS)) {
    const radius = kind === 'line' ? 2.5 : marks.length > 1000 ? 2.5 : 4;
    for (const mark of marks) parts.push(svg('circle', { cx: x(mark.x), cy: y(mark.y), r: radius, fill: mark.row.rgb ?? colours.of(mark.colour), 'fill-opacity': kind === 'scatter' ? 0.85 : 1, 'data-index': mark.row.index, class: 'mark' }, titleOf(mark, plotted)));
  }
  return { parts, ...size, marks: marks.length, left };
}

/** Returns areas on each other: at each place the sum of those below, and that with its own. */
function stacked(series: Series[]): { name: string; points: [x: number, from: number, to: number][] }[] {
  const sums = new Map<number, number>();
  for (const [, marks] of series) for (const { x } of marks) sums.set(x, 0);
  const places = [...sums.keys()].sort((a, b) => a - b);
  return series.map(([name, marks]) => {
    const own = new Map<number, number>();
    for (const { x, y } of marks) own.set(x, (own.get(x) ?? 0) + y);
    const points = places.map((x): [number, number, number] => {
      const from = sums.get(x) ?? 0;
      const to = from + (own.get(x) ?? 0);
      sums.set(x, to);
      return [x, from, to];
    });
    return { name, points };
  });
}

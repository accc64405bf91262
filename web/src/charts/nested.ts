// Bubbles, trees, tree maps, and dimensions side by side.

import { hierarchy, pack, tree, treemap, type HierarchyNode } from 'd3-hierarchy';
import { scalePoint } from 'd3-scale';
import { line } from 'd3-shape';
import type { ChartColumn, ChartRow, ChartValue } from '../answer/columns';
import { svg } from '../dom';
import { Colours, fitted, legendOf, LETTER, scaleOf, text, textOf, type Drawn, type Size } from './frame';
import type { Plotted } from './cartesian';

/** Bubbles, areas and nodes that can be told apart. */
const BUBBLES = 500;
const NODES = 600;
const ROW = 22;

/** A node of a tree; `size` of a leaf. */
interface Branch {
  name: string;
  index: number;
  size: number;
  children: Branch[];
}

/** Bubbles whose areas are the numbers. */
export function bubbles(plotted: Plotted, size: Size): Drawn {
  const rows = plotted.rows.filter(({ values: [name, number] }) => name !== null && typeof number === 'number' && number > 0);
  const shown = [...rows].sort((a, b) => Number(b.values[1]) - Number(a.values[1])).slice(0, BUBBLES);
  const colours = new Colours(shown.map(({ values }) => values[2] ?? null), plotted.colour);
  const legend = legendOf(colours.legend, size.width);
  const root = hierarchy<{ row?: ChartRow; children?: { row: ChartRow }[] }>({ children: shown.map((row) => ({ row })) }).sum(({ row }) => Number(row?.values[1] ?? 0));
  const packed = pack<{ row?: ChartRow }>().size([size.width - 8, size.height - legend.height - 8]).padding(2)(root as HierarchyNode<{ row?: ChartRow }>);
  const parts: SVGElement[] = [...legend.parts];
  for (const { x, y, r, data } of packed.leaves()) {
    if (!data.row) continue;
    const [name = null, number = null, colour] = data.row.values;
    const words = textOf(name, plotted.x);
    const [cx, cy] = [x + 4, y + 4 + legend.height];
    const fill = data.row.rgb ?? colours.of(colour);
    parts.push(svg('circle', { cx, cy, r, fill, 'fill-opacity': 0.85, 'data-index': data.row.index, class: 'mark' }, svg('title', {}, `${words}: ${textOf(number, plotted.y)}`)));
    const fits = fitted(words, 2 * r - 8);
    if (r > 14 && fits.length > 2) parts.push(text(cx, cy + (r > 26 ? -1 : 4), fits, { 'text-anchor': 'middle', fill: inkOn(fill), 'pointer-events': 'none' }));
    if (r > 26) parts.push(text(cx, cy + 13, fitted(textOf(number, plotted.y, 1e6), 2 * r - 8), { 'text-anchor': 'middle', fill: inkOn(fill), 'pointer-events': 'none' }));
  }
  return { parts, ...size, marks: shown.length, left: rows.length - shown.length };
}

/** Black or white, whichever has the higher contrast (WCAG 2.2, relative luminance). */
export function inkOn(colour: string): string {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16) / 255).map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  const light = 0.2126 * r + 0.7152 * g + 0.0722 * b;
  return 1.05 / (light + 0.05) > (light + 0.05) / 0.05 ? '#ffffff' : '#000000';
}

/**
 * Rows as a tree: each names its nodes from the root on. Where a thing is a child in one row and a parent in another, it is one node.
 * `counted` tells whether the last value is the size of the leaf.
 */
export function branches(rows: ChartRow[], levels: ChartColumn[], hasSize: boolean): Branch {
  const root: Branch = { name: '', index: -1, size: 0, children: [] };
  const paths = rows.map((row) => ({ row, path: row.values.slice(0, levels.length).filter((value): value is string | number => value !== null).map((value) => textOf(value, undefined)) }));
  const parents = new Set(paths.flatMap(({ path }) => path.slice(0, 1)));
  const isLinked = !hasSize && paths.some(({ path }) => path.slice(1).some((name) => parents.has(name)));
  const known = new Map<string, Branch>();
  const under = new Map<Branch, Branch>();
  for (const { row, path } of paths) {
    let at = root;
    let key = '';
    for (const name of path) {
      key = isLinked ? name : `${key}\n${name}`;
      let node = known.get(key);
      if (!node) {
        node = { name, index: row.index, size: 0, children: [] };
        known.set(key, node);
        at.children.push(node);
        under.set(node, at);
      } else if (isLinked && at !== root && under.get(node) === root && !isAbove(node, at, under)) {
        root.children.splice(root.children.indexOf(node), 1);
        at.children.push(node);
        under.set(node, at);
      }
      at = node;
    }
    if (at !== root) at.size += hasSize ? Math.max(0, Number(row.values.at(-1) ?? 0)) : 1;
  }
  return root;
}

/** Whether a node is above another one or the same: a thing is not put below itself. */
function isAbove(node: Branch, other: Branch, under: Map<Branch, Branch>): boolean {
  for (let at: Branch | undefined = other; at; at = under.get(at)) if (at === node) return true;
  return false;
}

/** A tree from the left to the right, a line for each leaf. */
export function trees(rows: ChartRow[], levels: ChartColumn[], size: Size): Drawn {
  const data = branches(rows, levels, false);
  const single = data.children.length === 1 ? data.children[0] : undefined;
  const root = hierarchy(single ?? data);
  let number = 0;
  // What is beyond the limit is cut, from the last branches on.
  root.each((node) => {
    number += 1;
    if (node.children) node.children = node.children.slice(0, Math.max(1, NODES - number));
  });
  const all = root.descendants().length;
  const wide = Math.max(110, Math.min(240, (size.width - 40) / (root.height + (single ? 1 : 0.4))));
  const laid = tree<Branch>().nodeSize([ROW, wide])(root);
  const nodes = laid.descendants();
  const top = Math.min(...nodes.map(({ x }) => x)) - 16;
  const shift = single ? 14 : 14 - wide * 0.6;
  const parts: SVGElement[] = [];
  const place = (node: { x: number; y: number }) => [node.y + shift, node.x - top] as const;
  for (const { source, target } of laid.links()) {
    if (!single && source === laid) continue;
    const [[x1, y1], [x2, y2]] = [place(source), place(target)];
    const bend = x2 - Math.min(40, wide / 3);
    parts.push(svg('path', { d: `M${x1} ${y1}C${bend} ${y1} ${bend} ${y2} ${x2} ${y2}`, fill: 'none', stroke: 'var(--faint)' }));
  }
  for (const node of nodes) {
    if (!single && node === laid) continue;
    const [x, y] = place(node);
    const words = fitted(node.data.name, node.children ? wide - 22 : 260);
    parts.push(svg('circle', { cx: x, cy: y, r: 4, fill: '#0072b2', 'data-index': node.data.index, class: 'mark' }, svg('title', {}, node.data.name)));
    // Behind the name of an inner node its line is hidden.
    parts.push(text(x + 8, y + 4, words, { fill: 'var(--ink)', stroke: 'var(--field)', 'stroke-width': 3, 'paint-order': 'stroke', 'data-index': node.data.index }));
  }
  const width = Math.max(size.width, ...nodes.map((node) => place(node)[0] + 16 + fitted(node.data.name, 260).length * LETTER));
  return { parts, width, height: Math.max(size.height, Math.max(...nodes.map(({ x }) => x)) - top + 20), marks: nodes.length - (single ? 0 : 1), left: Math.max(0, count(data) - all) };
}

const count = (branch: Branch): number => branch.children.reduce((sum, child) => sum + 1 + count(child), 0);

/** Areas in areas, as large as their numbers. */
export function areas(rows: ChartRow[], levels: ChartColumn[], sizeColumn: ChartColumn, size: Size): Drawn {
  const root = hierarchy(branches(rows, levels, true)).sum((branch) => (branch.children.length ? 0 : branch.size)).sort((a, b) => (b.value ?? 0) - (a.value ?? 0));
  const isDeep = levels.length > 1;
  const colours = new Colours((root.children ?? []).flatMap(({ data, value = 0 }) => Array.from({ length: Math.max(1, Math.round((40 * value) / (root.value || 1))) }, () => data.name)), isDeep ? levels[0] : undefined);
  const laid = treemap<Branch>().size([size.width - 8, size.height - 8]).paddingInner(1).paddingTop((node) => (node.depth > 0 && isDeep ? 18 : 0)).round(true)(root);
  const parts: SVGElement[] = [];
  const shown = laid.descendants().filter(({ depth, x0, x1, y0, y1 }) => depth > 0 && x1 > x0 && y1 > y0);
  for (const node of shown) {
    const [width, height] = [node.x1 - node.x0, node.y1 - node.y0];
    const branch = node.ancestors().at(-2)?.data.name ?? '';
    const fill = colours.of(branch);
    const words = `${node.ancestors().slice(0, -1).reverse().map(({ data }) => data.name).join(' › ')}: ${textOf(node.value ?? 0, sizeColumn)}`;
    parts.push(svg('rect', { x: node.x0 + 4, y: node.y0 + 4, width, height, fill, 'fill-opacity': node.children ? 0.55 : 0.9, stroke: 'var(--field)', ...(!node.children && { 'data-index': node.data.index, class: 'mark' }) }, svg('title', {}, words)));
    const name = fitted(node.data.name, width - 8);
    if (height < 15 || name.length < 3) continue;
    const ink = node.children ? 'var(--ink)' : inkOn(fill);
    parts.push(text(node.x0 + 8, node.y0 + 17, name, { fill: ink, 'pointer-events': 'none' }));
    if (!node.children && height > 32) parts.push(text(node.x0 + 8, node.y0 + 31, fitted(textOf(node.value ?? 0, sizeColumn, 1e6), width - 8), { fill: ink, 'pointer-events': 'none' }));
  }
  return { parts, ...size, marks: laid.leaves().length, left: 0 };
}

/** Columns side by side, and through each its value for every row. */
export function dimensions(rows: ChartRow[], columns: ChartColumn[], size: Size): Drawn {
  const coloured = columns.find(({ type, distinct }) => (type === 'text' || type === 'thing') && distinct > 1 && distinct <= 7);
  const place = coloured ? columns.indexOf(coloured) : -1;
  const colours = new Colours(rows.map(({ values }) => values[place] ?? null), coloured);
  const legend = legendOf(colours.legend, size.width);
  const [top, bottom] = [legend.height + 34, size.height - 16];
  // An axis needs room for the texts to its right.
  const step = Math.max(110, (size.width - 120) / Math.max(1, columns.length - 1));
  const width = Math.max(size.width, 120 + step * (columns.length - 1));
  const axes = columns.map((column, i) => {
    const values = rows.map((row) => row.values[i] ?? null);
    const x = 14 + i * step;
    if (column.type === 'number' || column.type === 'date') {
      const numbers = values.filter((value) => typeof value === 'number');
      const scale = scaleOf(column, numbers, [bottom, top], false);
      const ticks = scale.ticks(5);
      const span = Math.max(1e-9, (ticks.at(-1) ?? 0) - (ticks[0] ?? 0));
      return { x, at: (value: ChartValue) => (typeof value === 'number' ? scale(value) : null), ticks: ticks.map((tick): [number, string] => [scale(tick), textOf(tick, column, span)]) };
    }
    const names = [...new Set(values.flatMap((value) => (value === null ? [] : [String(value)])))];
    const scale = scalePoint(names, [bottom, top]).padding(0.5);
    const every = Math.ceil(14 / Math.max(1, scale.step()));
    return { x, at: (value: ChartValue) => (value === null ? null : (scale(String(value)) ?? null)), ticks: names.flatMap((name, n): [number, string][] => (n % every ? [] : [[scale(name) ?? 0, fitted(name, step - 24)]])) };
  });
  const parts: SVGElement[] = [...legend.parts];
  for (const row of rows) {
    const points = axes.flatMap(({ x, at }, i): [number, number][] => {
      const y = at(row.values[i] ?? null);
      return y === null ? [] : [[x, y]];
    });
    if (points.length < 2) continue;
    parts.push(svg('path', { d: line()(points) ?? '', fill: 'none', stroke: row.rgb ?? colours.of(row.values[place]), 'stroke-opacity': rows.length > 300 ? 0.4 : 0.75, 'stroke-width': 1.5, 'data-index': row.index, class: 'mark' }, svg('title', {}, row.title)));
  }
  axes.forEach(({ x, ticks }, i) => {
    parts.push(svg('line', { x1: x, x2: x, y1: top, y2: bottom, stroke: 'var(--ink)' }), text(i === 0 ? 4 : x, top - 14, fitted(columns[i]?.name ?? '', step - 10), { fill: 'var(--ink)', ...(i > 0 && { 'text-anchor': 'middle' }) }));
    for (const [y, words] of ticks) parts.push(text(x + 6, y + 4, words, { fill: 'var(--ink)', stroke: 'var(--field)', 'stroke-width': 3, 'paint-order': 'stroke', 'pointer-events': 'none' }));
  });
  return { parts, width, height: size.height, marks: rows.length, left: 0 };
}

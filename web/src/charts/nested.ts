// Bubbles, trees, tree maps, and dimensions side by side.

import { hierarchy, pack, tree, treemap, type HierarchyNode } from 'd3-hierarchy';
import { scalePoint } from 'd3-scale';
import { line } from 'd3-shape';
import type { ChartColumn, ChartRow, ChartValue, LeftRows } from '../answer/columns';
import { svg } from '../dom';
import { Colours, fitted, legendOf, LETTER, scaleOf, text, textOf, type Drawn, type Size } from './frame';
import { leave, weightOf } from './left';
import type { Plotted } from './cartesian';
import { t } from '../text/lookup';

/** Most bubbles, and most nodes of a tree. */
const BUBBLES = 500;
const NODES = 600;
const ROW = 22;

/** A node of a tree, with the size and the number of the rows that end in it. */
interface Branch {
  name: string;
  index: number;
  size: number;
  rows: number;
  children: Branch[];
}

/** Bubbles whose areas are the numbers. */
export function bubbles(plotted: Plotted, size: Size): Drawn {
  const left: LeftRows = {};
  const rows: ChartRow[] = [];
  for (const row of plotted.rows) {
    const [name = null, number = null] = row.values;
    if (name === null || typeof number !== 'number') leave(left, 'valueless', weightOf(row));
    else if (number <= 0) leave(left, 'notPositive', weightOf(row));
    else rows.push(row);
  }
  rows.sort((a, b) => Number(b.values[1]) - Number(a.values[1]));
  if (!rows.length) return { parts: [], ...size, marks: 0, left };
  const shown = rows.slice(0, BUBBLES);
  for (const row of rows.slice(BUBBLES)) leave(left, 'overMarks', weightOf(row));
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
  return { parts, ...size, marks: shown.length, limit: BUBBLES, left };
}

/** Black or white, whichever has the higher contrast (WCAG 2.2, relative luminance). */
export function inkOn(colour: string): string {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16) / 255).map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  const light = 0.2126 * r + 0.7152 * g + 0.0722 * b;
  return 1.05 / (light + 0.05) > (light + 0.05) / 0.05 ? '#ffffff' : '#000000';
}

/**
 * Rows as a tree: each names its nodes from the root on. A level without a value is skipped, and equal names of different levels are
 * different nodes. Where a thing is a child in one row and a parent in another, it is one node at every level. `hasSize` tells
 * whether the last value is the size of the leaf.
 */
export function branches(rows: ChartRow[], levels: ChartColumn[], hasSize: boolean): { root: Branch; left: LeftRows } {
  const root: Branch = { name: '', index: -1, size: 0, rows: 0, children: [] };
  const left: LeftRows = {};
  const paths = rows.map((row) => ({ row, path: row.values.slice(0, levels.length).flatMap((value, level): [level: number, name: string][] => (value === null ? [] : [[level, textOf(value, undefined)]])) }));
  const parents = new Set(paths.flatMap(({ path: [first] }) => (first?.[0] === 0 ? [first[1]] : [])));
  const isLinked = !hasSize && paths.some(({ path }) => path.some(([level, name]) => level > 0 && parents.has(name)));
  const known = new Map<string, Branch>();
  const tops = new Set<Branch>();
  // Nodes above others: at first the parents, then any node between those and the top.
  const above = new Map<Branch, Branch>();
  const put = (node: Branch, parent: Branch) => {
    parent.children.push(node);
    above.set(node, parent);
  };
  for (const { row, path } of paths) {
    const size = hasSize ? row.values.at(-1) : 1;
    if (!path.length || typeof size !== 'number') leave(left, 'valueless', weightOf(row));
    else if (size <= 0) leave(left, 'notPositive', weightOf(row));
    if (!path.length || typeof size !== 'number' || size <= 0) continue;
    let at: Branch | undefined;
    let key = '';
    for (const [level, name] of path) {
      key = isLinked ? name : `${key}\n${level} ${name}`;
      let node = known.get(key);
      if (!node) {
        node = { name, index: row.index, size: 0, rows: 0, children: [] };
        known.set(key, node);
        if (at) put(node, at);
        else tops.add(node);
      } else if (isLinked && at && tops.has(node) && topOf(at, above) !== node) {
        // A thing is not put below itself.
        tops.delete(node);
        put(node, at);
      }
      at = node;
    }
    if (!at) continue;
    at.size += size;
    at.rows += weightOf(row);
  }
  root.children = [...tops];
  // Rows that end where others go on have a leaf of their own, so that their size has an area.
  if (hasSize) for (const node of known.values()) if (node.children.length && node.size > 0) node.children.push({ name: t('noValue'), index: node.index, size: node.size, rows: node.rows, children: [] });
  return { root, left };
}

/** Returns the node at the top above another one. Shortens the ways on which it goes, so that long chains cost little. */
function topOf(node: Branch, above: Map<Branch, Branch>): Branch {
  let at = node;
  for (let next = above.get(at); next; next = above.get(at)) {
    const higher = above.get(next);
    if (higher) above.set(at, higher);
    at = next;
  }
  return at;
}

/** A tree from the left to the right, a line for each leaf. */
export function trees(rows: ChartRow[], levels: ChartColumn[], size: Size): Drawn {
  const { root: data, left } = branches(rows, levels, false);
  if (!data.children.length) return { parts: [], ...size, marks: 0, left };
  const single = data.children.length === 1 ? data.children[0] : undefined;
  const whole = single ?? data;
  const { root: shown, beyond } = firstNodes(whole, single ? NODES : NODES + 1);
  leave(left, 'overMarks', beyond);
  const root = hierarchy(shown);
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
  return { parts, width, height: Math.max(size.height, Math.max(...nodes.map(({ x }) => x)) - top + 20), marks: nodes.length - (single ? 0 : 1), limit: NODES, left };
}

/**
 * Returns a copy of a tree with at most `most` nodes, those near the root first, and the number of the rows that end in others.
 * Without recursion, as a chain of things can be as long as an answer.
 */
export function firstNodes(tree: Branch, most: number): { root: Branch; beyond: number } {
  const root: Branch = { ...tree, children: [] };
  const copied: [original: Branch, copy: Branch][] = [[tree, root]];
  const cut: Branch[] = [];
  for (const [original, copy] of copied) {
    for (const child of original.children) {
      if (copied.length >= most) {
        cut.push(child);
        continue;
      }
      const own: Branch = { ...child, children: [] };
      copy.children.push(own);
      copied.push([child, own]);
    }
  }
  let beyond = 0;
  for (const branch of cut) {
    beyond += branch.rows;
    for (const child of branch.children) cut.push(child);
  }
  return { root, beyond };
}

/** Areas in areas, as large as their numbers. */
export function areas(rows: ChartRow[], levels: ChartColumn[], sizeColumn: ChartColumn, size: Size): Drawn {
  const { root: data, left } = branches(rows, levels, true);
  const root = hierarchy(data).sum((branch) => (branch.children.length ? 0 : branch.size)).sort((a, b) => (b.value ?? 0) - (a.value ?? 0));
  const isDeep = levels.length > 1;
  const colours = new Colours((root.children ?? []).flatMap(({ data, value = 0 }) => Array.from({ length: Math.max(1, Math.round((40 * value) / (root.value || 1))) }, () => data.name)), isDeep ? levels[0] : undefined);
  const laid = treemap<Branch>().size([size.width - 8, size.height - 8]).paddingInner(1).paddingTop((node) => (node.depth > 0 && isDeep ? 18 : 0)).round(true)(root);
  const parts: SVGElement[] = [];
  const shown = laid.descendants().filter(({ depth, x0, x1, y0, y1 }) => depth > 0 && x1 > x0 && y1 > y0);
  const leaves = shown.filter(({ children }) => !children);
  const rowsIn = (nodes: HierarchyNode<Branch>[]) => nodes.reduce((sum, node) => sum + node.data.rows, 0);
  leave(left, 'tooSmall', rowsIn(laid.leaves()) - rowsIn(leaves));
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
  return { parts, ...size, marks: leaves.length, left };
}

/** Columns side by side, and through each its value for every row. */
export function dimensions(rows: ChartRow[], columns: ChartColumn[], size: Size): Drawn {
  if (!rows.length) return { parts: [], ...size, marks: 0, left: {} };
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
  const left: LeftRows = {};
  let marks = 0;
  for (const row of rows) {
    const points = axes.flatMap(({ x, at }, i): [number, number][] => {
      const y = at(row.values[i] ?? null);
      return y === null ? [] : [[x, y]];
    });
    if (points.length < 2) {
      leave(left, 'fewValues', weightOf(row));
      continue;
    }
    marks += 1;
    parts.push(svg('path', { d: line()(points) ?? '', fill: 'none', stroke: row.rgb ?? colours.of(row.values[place]), 'stroke-opacity': rows.length > 300 ? 0.4 : 0.75, 'stroke-width': 1.5, 'data-index': row.index, class: 'mark' }, svg('title', {}, row.title)));
  }
  axes.forEach(({ x, ticks }, i) => {
    parts.push(svg('line', { x1: x, x2: x, y1: top, y2: bottom, stroke: 'var(--ink)' }), text(i === 0 ? 4 : x, top - 14, fitted(columns[i]?.name ?? '', step - 10), { fill: 'var(--ink)', ...(i > 0 && { 'text-anchor': 'middle' }) }));
    for (const [y, words] of ticks) parts.push(text(x + 6, y + 4, words, { fill: 'var(--ink)', stroke: 'var(--field)', 'stroke-width': 3, 'paint-order': 'stroke', 'pointer-events': 'none' }));
  });
  return { parts, width, height: size.height, marks, left };
}

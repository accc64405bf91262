// A chart as SVG. A chunk of its own, as its libraries are loaded with the first chart.

import type { ChartColumn, ChartRow, LeftRows } from '../answer/columns';
import { svg } from '../dom';
import { bars, over, type Plotted } from './cartesian';
import { FONT, textOf, type Drawn, type Size } from './frame';
import type { Kind } from './kinds';
import { leftText, together } from './left';
import { areas, bubbles, dimensions, trees } from './nested';
import { TEXTS } from './texts';

/** What is drawn; the values of a row are in the order of `columns`. */
export interface Spec {
  kind: Kind;
  /** x, y and the colour, or the levels and for a tree map the size. */
  columns: (ChartColumn | undefined)[];
  rows: ChartRow[];
  /** Rows that are not among these. */
  left: LeftRows;
}

export interface Chart {
  /** `null` if no row has the values that the chart needs. */
  element: SVGSVGElement | null;
  /** How many rows are not drawn and why; empty if all are. */
  note: string;
}

const EMPTY: ChartColumn = { index: -1, name: '', type: 'number', filled: 0, distinct: 0 };

/** Returns the chart in a room of this size. */
export function draw(spec: Spec, size: Size): Chart {
  const { kind } = spec;
  const drawn = partsOf(spec, size);
  const note = leftText(together(spec.left, drawn.left), TEXTS.marks(drawn.limit ?? 0, kind));
  if (!drawn.marks) return { element: null, note };
  const columns = spec.columns.filter((column) => column !== undefined);
  const names = columns.map(({ name }) => name);
  const what = kind === 'tree' || kind === 'dimensions' ? names.join(', ') : kind === 'treemap' ? TEXTS.by(names.at(-1) ?? '', names.slice(0, -1).join(', ')) : TEXTS.by(names[1] ?? '', [names[0], ...names.slice(2)].join(', '));
  const title = TEXTS.title(TEXTS.kinds[kind], what);
  const about = [TEXTS.marks(drawn.marks, kind), ...ranges(spec)].join(', ');
  const element = svg('svg', { width: drawn.width, height: drawn.height, viewBox: `0 0 ${drawn.width} ${drawn.height}`, role: 'img', 'aria-labelledby': 'chart-title', 'aria-describedby': 'chart-description', class: `chart chart-${kind}` }, svg('title', { id: 'chart-title' }, title), svg('desc', { id: 'chart-description' }, [TEXTS.description(about), note].filter(Boolean).join(' ')), drawn.parts);
  element.style.cssText = FONT;
  // For files and paper, on which the note of the view is missing.
  if (note) element.dataset.note = note;
  return { element, note };
}

function partsOf({ kind, columns, rows }: Spec, size: Size): Drawn {
  const [x = EMPTY, y = EMPTY, colour] = columns;
  const plotted: Plotted = { rows, x, y, colour };
  const known = columns.filter((column) => column !== undefined);
  switch (kind) {
    case 'bar':
      return bars(plotted, size);
    case 'line':
    case 'area':
    case 'scatter':
      return over(kind, plotted, size);
    case 'bubble':
      return bubbles(plotted, size);
    case 'tree':
      return trees(rows, known, size);
    case 'treemap':
      return areas(rows, known.slice(0, -1), known.at(-1) ?? EMPTY, size);
    case 'dimensions':
      return dimensions(rows, known, size);
  }
}

/** The smallest and the largest number of each column of numbers or dates. */
function ranges({ columns, rows }: Spec): string[] {
  return columns.flatMap((column, i) => {
    if (!column || (column.type !== 'number' && column.type !== 'date')) return [];
    const values = rows.flatMap((row) => (typeof row.values[i] === 'number' ? [row.values[i] as number] : []));
    if (!values.length) return [];
    const [low, high] = values.reduce(([a, b], value) => [Math.min(a, value), Math.max(b, value)], [Infinity, -Infinity]);
    return [TEXTS.range(column.name, textOf(low, column), textOf(high, column))];
  });
}

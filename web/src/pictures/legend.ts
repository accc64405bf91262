// The legend of the map in a picture of it: the names of colours, or the scale of a heat map.

import { svg } from '../dom';
import { shortened, type Measure } from './foot';

/** A title, a name with its colour, or a scale from few to many. */
export type LegendLine = { title: string } | { name: string; colour: string } | { low: string; high: string; colours: string[] };

const LINE = 17;
const MARGIN = 8;
/** Pixels of the scale of a heat map, of the space around it, and of a dot with its space. */
const SCALE = 90;
const GAP = 6;
const DOT = 17;
/** Pixels of a name; longer ones are shortened, as on the page. */
const NAME = 220;

/** Reads the legend that is shown on the map. */
export function legendOf(host: HTMLElement): LegendLine[] {
  return [...host.querySelectorAll('li')].flatMap((item): LegendLine[] => {
    const dot = item.querySelector('.dot');
    if (dot) return [{ name: dot.nextElementSibling?.textContent ?? '', colour: getComputedStyle(dot).backgroundColor }];
    const bar = item.querySelector<HTMLElement>('.heat-bar');
    if (bar) return [{ low: bar.previousSibling?.textContent ?? '', high: bar.nextSibling?.textContent ?? '', colours: (bar.dataset.colours ?? '').split(',') }];
    return item.textContent ? [{ title: item.textContent }] : [];
  });
}

/** Where a legend is in a picture, and its lines from the top with the middle of each. */
interface Placed {
  box: { x: number; y: number; width: number; height: number };
  lines: { line: LegendLine; y: number }[];
}

function place(legend: LegendLine[], width: number, height: number, measured: Measure): Placed {
  const most = Math.max(20, Math.min(NAME, width - 4 * MARGIN - DOT));
  const fitted = legend.map((line): LegendLine => ('name' in line ? { ...line, name: shortened(line.name, most, measured) } : 'title' in line ? { title: shortened(line.title, most, measured) } : line));
  const wide = fitted.map((line) => ('name' in line ? DOT + measured(line.name) : 'title' in line ? measured(line.title) : measured(line.low) + SCALE + 2 * GAP + measured(line.high)));
  const box = { x: MARGIN, y: height - 2 * MARGIN - legend.length * LINE, width: 2 * MARGIN + Math.max(0, ...wide), height: legend.length * LINE + MARGIN };
  return { box, lines: fitted.map((line, i) => ({ line, y: box.y + MARGIN / 2 + (i + 0.5) * LINE })) };
}

/** Colours of a legend: those of the page by their names, such as `--ink`. */
type ColourOf = (name: string) => string;

/** Draws a legend at the lower left of a picture of this size. */
export function drawLegend(context: CanvasRenderingContext2D, legend: LegendLine[], width: number, height: number, measured: Measure, colourOf: ColourOf): void {
  if (!legend.length) return;
  const { box, lines } = place(legend, width, height, measured);
  const left = box.x + MARGIN;
  context.fillStyle = colourOf('--raised');
  context.fillRect(box.x, box.y, box.width, box.height);
  for (const { line, y } of lines) {
    context.fillStyle = colourOf('title' in line ? '--muted' : '--ink');
    if ('title' in line) context.fillText(line.title, left, y + 4);
    else if ('name' in line) {
      context.fillText(line.name, left + DOT, y + 4);
      context.fillStyle = line.colour;
      context.beginPath();
      context.arc(left + 5, y, 4.5, 0, 7);
      context.fill();
    } else {
      const from = left + measured(line.low) + GAP;
      context.fillText(line.low, left, y + 4);
      context.fillText(line.high, from + SCALE + GAP, y + 4);
      const gradient = context.createLinearGradient(from, 0, from + SCALE, 0);
      stops(line.colours).forEach(([at, colour]) => gradient.addColorStop(at, colour));
      context.fillStyle = gradient;
      context.fillRect(from, y - 4, SCALE, 8);
    }
  }
}

/** Returns a legend as parts of an SVG. */
export function legendParts(legend: LegendLine[], width: number, height: number, measured: Measure, colourOf: ColourOf): SVGElement[] {
  if (!legend.length) return [];
  const { box, lines } = place(legend, width, height, measured);
  const left = box.x + MARGIN;
  const text = (x: number, y: number, words: string, colour = '--ink') => svg('text', { x, y: y + 4, fill: colourOf(colour) }, words);
  const parts = lines.flatMap(({ line, y }): SVGElement[] => {
    if ('title' in line) return [text(left, y, line.title, '--muted')];
    if ('name' in line) return [svg('circle', { cx: left + 5, cy: y, r: 4.5, fill: line.colour }), text(left + DOT, y, line.name)];
    const from = left + measured(line.low) + GAP;
    const gradient = svg('linearGradient', { id: 'heat' }, ...stops(line.colours).map(([offset, colour]) => svg('stop', { offset, 'stop-color': colour })));
    return [gradient, text(left, y, line.low), svg('rect', { x: from, y: y - 4, width: SCALE, height: 8, fill: 'url(#heat)' }), text(from + SCALE + GAP, y, line.high)];
  });
  return [svg('rect', { ...box, fill: colourOf('--raised') }), ...parts];
}

const stops = (colours: string[]): [at: number, colour: string][] => colours.map((colour, i) => [i / Math.max(1, colours.length - 1), colour]);

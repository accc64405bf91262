// The map as a file, as it is seen, with its legend and attribution: PNG, and SVG of the features that are drawn.

import type { Geometry, Position } from 'geojson';
import type { Map as MapLibre, MapGeoJSONFeature } from 'maplibre-gl';
import { svg } from '../dom';
import { blobOf } from './chart';
import { FONT, FONT_SIZE, footOf, measure, measureInAnyFont } from './foot';
import { drawLegend, legendParts, type LegendLine } from './legend';
import { TEXTS } from './texts';

/** Features of an SVG; more would be a file that no program opens. */
const FEATURES = 60_000;

const colourOf = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** Returns a picture of a copy of the map; `ratio` is the number of its pixels for each of the page. */
export async function mapPng(copy: HTMLCanvasElement, ratio: number, legend: LegendLine[]): Promise<Blob> {
  await document.fonts.ready;
  const measured = measure();
  const [width, height] = [copy.width / ratio, copy.height / ratio];
  const foot = footOf([TEXTS.attribution], width, measured);
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [copy.width, copy.height + Math.round(foot.height * ratio)];
  const context = canvas.getContext('2d');
  if (!context) throw new Error(TEXTS.failed);
  context.fillStyle = colourOf('--raised');
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(copy, 0, 0);
  context.scale(ratio, ratio);
  context.font = `${FONT_SIZE}px ${FONT}`;
  drawLegend(context, legend, width, height, measured, colourOf);
  context.fillStyle = colourOf('--muted');
  for (const { text, x, y } of foot.lines) context.fillText(text, x, height + y);
  return blobOf(canvas);
}

/** Features of the map by their layers, those drawn last first; and how many are over the limit. */
export function byLayers<T extends { layer: { id: string } }>(features: T[], most: number): { layers: Map<string, T[]>; over: number } {
  const layers = new Map<string, T[]>();
  for (const feature of features.slice(0, most)) {
    const same = layers.get(feature.layer.id);
    if (same) same.push(feature);
    else layers.set(feature.layer.id, [feature]);
  }
  return { layers, over: Math.max(0, features.length - most) };
}

/**
 * Returns an SVG of what the map draws, in the order of its layers, and a note about what it leaves out: icons and heat maps, which
 * are no shapes, and features over the limit. The note is empty if it has all of the answer.
 */
export function mapSvg(map: MapLibre, legend: LegendLine[]): { text: string; note: string } {
  const { clientWidth: width, clientHeight: height } = map.getContainer();
  const { layers, over } = byLayers(map.queryRenderedFeatures(), FEATURES);
  let missing = over;
  const parts: SVGElement[] = [];
  for (const layer of map.getStyle().layers) {
    if (layer.type === 'background') parts.push(svg('rect', { width, height, fill: String(map.getPaintProperty(layer.id, 'background-color')) }));
    const group: SVGElement[] = [];
    for (const feature of (layers.get(layer.id) ?? []).reverse()) {
      const part = partOf(map, feature);
      if (part) group.push(part);
      else if (feature.source === 'answer') missing += 1;
    }
    if (group.length) parts.push(svg('g', { id: layer.id.replace(/[^\w-]/g, '-') }, group));
  }
  const measured = measureInAnyFont();
  const note = missing ? TEXTS.svgLeavesOut(missing, FEATURES) : '';
  const foot = footOf([note, TEXTS.attribution], width, measured);
  const clip = svg('clipPath', { id: 'map' }, svg('rect', { width, height }));
  const picture = svg(
    'svg',
    { xmlns: 'http://www.w3.org/2000/svg', width, height: height + foot.height, viewBox: `0 0 ${width} ${height + foot.height}`, 'font-family': FONT.replace(/"/g, "'"), 'font-size': FONT_SIZE },
    svg('title', {}, TEXTS.map),
    svg('defs', {}, clip),
    svg('rect', { width, height: height + foot.height, fill: colourOf('--raised') }),
    svg('g', { 'clip-path': 'url(#map)' }, parts),
    ...legendParts(legend, width, height, measured, colourOf),
    ...foot.lines.map(({ text, x, y }) => svg('text', { x, y: height + y, fill: colourOf('--muted') }, text)),
  );
  return { text: new XMLSerializer().serializeToString(picture), note };
}

type Values = Record<string, unknown>;

function partOf(map: MapLibre, { layer, geometry }: MapGeoJSONFeature): SVGElement | null {
  const paint = (layer.paint ?? {}) as Values;
  const number = (name: string, otherwise: number) => (typeof paint[name] === 'number' ? (paint[name] as number) : otherwise);
  const colour = (name: string) => (paint[name] === undefined ? '#000000' : String(paint[name]));
  switch (layer.type) {
    case 'fill':
      return svg('path', { d: pathOf(map, geometry), fill: colour('fill-color'), 'fill-opacity': number('fill-opacity', 1), 'fill-rule': 'evenodd' });
    case 'line': {
      const dash = dashes(paint['line-dasharray'], number('line-width', 1));
      return svg('path', { d: pathOf(map, geometry), fill: 'none', stroke: colour('line-color'), 'stroke-width': number('line-width', 1), 'stroke-opacity': number('line-opacity', 1), 'stroke-linejoin': 'round', 'stroke-linecap': dash ? 'butt' : 'round', ...(dash && { 'stroke-dasharray': dash }) });
    }
    case 'circle': {
      const [x, y] = pointOf(map, firstOf(geometry));
      return svg('circle', { cx: x, cy: y, r: number('circle-radius', 5), fill: colour('circle-color'), 'fill-opacity': number('circle-opacity', 1), stroke: paint['circle-stroke-color'] === undefined ? 'none' : colour('circle-stroke-color'), 'stroke-width': number('circle-stroke-width', 0) });
    }
    case 'symbol':
      return labelOf(map, geometry, (layer.layout ?? {}) as Values, paint);
    default:
      return null;
  }
}

function dashes(value: unknown, width: number): string {
  const list = Array.isArray(value) ? value : ((value as { to?: number[] } | undefined)?.to ?? []);
  return Array.isArray(list) ? list.map((part) => round(Number(part) * width)).join(' ') : '';
}

function labelOf(map: MapLibre, geometry: Geometry, layout: Values, paint: Values): SVGElement | null {
  const words = layout['text-field'] === undefined ? '' : String(layout['text-field']);
  if (!words.trim()) return null;
  const size = typeof layout['text-size'] === 'number' ? layout['text-size'] : 12;
  const [at, angle] = middleOf(map, geometry);
  const [x] = at;
  // A name that may be on any side of its point is below it.
  const y = at[1] + (layout['text-variable-anchor'] === undefined ? 0 : size);
  const halo: Record<string, string | number> = paint['text-halo-color'] === undefined ? {} : { stroke: String(paint['text-halo-color']), 'stroke-width': 2.5, 'stroke-linejoin': 'round', 'paint-order': 'stroke' };
  return svg('text', { x, y: y + size / 3, 'text-anchor': 'middle', 'font-size': size, fill: String(paint['text-color'] ?? '#000000'), ...halo, ...(angle && { transform: `rotate(${angle} ${x} ${y})` }) }, words);
}

const round = (value: number): number => Math.round(value * 10) / 10;

function pointOf(map: MapLibre, [lon = 0, lat = 0]: Position): [number, number] {
  const { x, y } = map.project([lon, lat]);
  return [round(x), round(y)];
}

function firstOf(geometry: Geometry): Position {
  if (geometry.type === 'Point') return geometry.coordinates;
  if (geometry.type === 'MultiPoint' || geometry.type === 'LineString') return geometry.coordinates[0] ?? [0, 0];
  if (geometry.type === 'Polygon' || geometry.type === 'MultiLineString') return geometry.coordinates[0]?.[0] ?? [0, 0];
  return geometry.type === 'MultiPolygon' ? (geometry.coordinates[0]?.[0]?.[0] ?? [0, 0]) : [0, 0];
}

/** Where a label is: at a point, or at the middle of a line and along it. */
function middleOf(map: MapLibre, geometry: Geometry): [[number, number], number] {
  const line = geometry.type === 'LineString' ? geometry.coordinates : geometry.type === 'MultiLineString' ? (geometry.coordinates[0] ?? []) : [];
  if (line.length < 2) return [pointOf(map, firstOf(geometry)), 0];
  const at = Math.max(1, line.length >> 1);
  const [[x1, y1], [x2, y2]] = [pointOf(map, line[at - 1] ?? [0, 0]), pointOf(map, line[at] ?? [0, 0])];
  const angle = (Math.atan2(y2 - y1, x2 - x1) * 180) / Math.PI;
  return [[round((x1 + x2) / 2), round((y1 + y2) / 2)], round(angle > 90 ? angle - 180 : angle < -90 ? angle + 180 : angle)];
}

function pathOf(map: MapLibre, geometry: Geometry): string {
  const line = (points: Position[], closed: boolean) => (points.length ? `M${points.map((point) => pointOf(map, point).join(' ')).join('L')}${closed ? 'Z' : ''}` : '');
  switch (geometry.type) {
    case 'LineString':
      return line(geometry.coordinates, false);
    case 'MultiLineString':
      return geometry.coordinates.map((points) => line(points, false)).join('');
    case 'Polygon':
      return geometry.coordinates.map((ring) => line(ring, true)).join('');
    case 'MultiPolygon':
      return geometry.coordinates.flatMap((rings) => rings.map((ring) => line(ring, true))).join('');
    default:
      return '';
  }
}

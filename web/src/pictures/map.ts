// The map as a file, as it is seen, with its legend and attribution: PNG, and SVG of the features that are drawn.

import type { Geometry, Position } from 'geojson';
import type { Map as MapLibre, MapGeoJSONFeature } from 'maplibre-gl';
import { svg } from '../dom';
import { blobOf } from './chart';
import { TEXTS } from './texts';

/** Names with their colours. */
export type Legend = [name: string, colour: string][];

const FOOT = 20;
const LINE = 17;
/** Features of an SVG; more would be a file that no program opens. */
const FEATURES = 60_000;
const FONT = '"IBM Plex Sans", system-ui, sans-serif';

/** Reads the legend that is shown on the map. */
export function legendOf(host: HTMLElement): Legend {
  return [...host.querySelectorAll('li')].flatMap((item): Legend => {
    const dot = item.querySelector('.dot');
    return dot ? [[dot.nextElementSibling?.textContent ?? '', getComputedStyle(dot).backgroundColor]] : [];
  });
}

const colourOf = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** Returns a picture of a copy of the map; `ratio` is the number of its pixels for each of the page. */
export async function mapPng(copy: HTMLCanvasElement, ratio: number, legend: Legend): Promise<Blob> {
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [copy.width, copy.height + Math.round(FOOT * ratio)];
  const context = canvas.getContext('2d');
  if (!context) throw new Error(TEXTS.failed);
  await document.fonts.ready;
  context.fillStyle = colourOf('--raised');
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(copy, 0, 0);
  context.scale(ratio, ratio);
  context.font = `11px ${FONT}`;
  const height = copy.height / ratio;
  if (legend.length) {
    const wide = 34 + Math.max(...legend.map(([name]) => context.measureText(name).width));
    context.fillRect(8, height - 8 - legend.length * LINE - 8, wide, legend.length * LINE + 8);
  }
  legend.forEach(([name, colour], i) => {
    const y = height - 8 - (legend.length - i) * LINE + 8;
    context.fillStyle = colour;
    context.beginPath();
    context.arc(20, y, 4.5, 0, 7);
    context.fill();
    context.fillStyle = colourOf('--ink');
    context.fillText(name, 31, y + 4);
  });
  context.fillStyle = colourOf('--muted');
  context.fillText(TEXTS.attribution, 8, height + 14);
  return blobOf(canvas);
}

/** Returns an SVG of what the map draws, in the order of its layers. Icons and heat maps are left out. */
export function mapSvg(map: MapLibre, legend: Legend): string {
  const { clientWidth: width, clientHeight: height } = map.getContainer();
  const byLayer = new Map<string, MapGeoJSONFeature[]>();
  for (const feature of map.queryRenderedFeatures().slice(0, FEATURES)) byLayer.set(feature.layer.id, [...(byLayer.get(feature.layer.id) ?? []), feature]);
  const parts: SVGElement[] = [];
  for (const layer of map.getStyle().layers) {
    if (layer.type === 'background') parts.push(svg('rect', { width, height, fill: String(map.getPaintProperty(layer.id, 'background-color')) }));
    const group = (byLayer.get(layer.id) ?? []).reverse().flatMap((feature) => partOf(map, feature) ?? []);
    if (group.length) parts.push(svg('g', { id: layer.id.replace(/[^\w-]/g, '-') }, ...group));
  }
  const keys = legend.flatMap(([name, colour], i) => {
    const y = height - 8 - (legend.length - i) * LINE + 8;
    return [svg('circle', { cx: 20, cy: y, r: 4.5, fill: colour }), svg('text', { x: 31, y: y + 4, fill: colourOf('--ink') }, name)];
  });
  const box = legend.length ? [svg('rect', { x: 8, y: height - 16 - legend.length * LINE, width: 40 + 6.2 * Math.max(...legend.map(([name]) => name.length)), height: legend.length * LINE + 8, fill: colourOf('--raised') })] : [];
  const clip = svg('clipPath', { id: 'map' }, svg('rect', { width, height }));
  const picture = svg('svg', { xmlns: 'http://www.w3.org/2000/svg', width, height: height + FOOT, viewBox: `0 0 ${width} ${height + FOOT}`, 'font-family': FONT.replace(/"/g, "'"), 'font-size': 11 }, svg('title', {}, TEXTS.map), svg('defs', {}, clip), svg('rect', { width, height: height + FOOT, fill: colourOf('--raised') }), svg('g', { 'clip-path': 'url(#map)' }, ...parts), ...box, ...keys, svg('text', { x: 8, y: height + 14, fill: colourOf('--muted') }, TEXTS.attribution));
  return new XMLSerializer().serializeToString(picture);
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

// The answer on the map: areas, lines and points; points that stand close together as one with their number; and what is
// selected. What an element says of its own look (`answer/tiles.ts`) stands before the colours of the map.

import type { ExpressionSpecification, LayerSpecification } from 'maplibre-gl';
import { DASHES } from '../answer/dashes';
import { RADII, ZOOMS } from '../answer/heat';
import { FONT } from './fonts';
import type { Palette } from './palette';

/** Layers whose features are of the answer. */
export const PICKED = ['answer-clusters', 'answer-icons', 'answer-points', 'answer-beads', 'answer-lines', 'answer-dashes', 'answer-fills'];
/** What the names of pasted layers begin with: theirs are of the answer, too. */
export const OWN = 'own-';

/** How the answer is shown besides its own style. */
export interface Display {
  /** Colours of a heat map from few to many, with its scale (`answer/heat.ts`). It is drawn up to the zoom where single points are seen. */
  heat: { colours: string[]; scale: number[] } | null;
  /** Layers of MapLibre in place of those here. */
  layers: LayerSpecification[] | null;
}

/** From here on a heat map gives way to its points. */
const HEAT_ZOOM = 15;

const get = (name: string, otherwise: unknown): ExpressionSpecification => ['coalesce', ['get', name], otherwise] as unknown as ExpressionSpecification;

export function overlay(c: Palette, { heat, layers }: Display): LayerSpecification[] {
  const single: ExpressionSpecification = ['!', ['has', 'point_count']];
  // A shape is a point as long as it would be no more than some pixels.
  const small: ExpressionSpecification = ['all', single, ['<', ['zoom'], ['get', 'z']]];
  const symbol: ExpressionSpecification = ['has', 'm'];
  // Names are for who looks from near, texts of a style for all.
  const named: ExpressionSpecification = ['all', single, ['!=', get('n', ''), ''], ['any', ['has', 't'], ['>=', ['zoom'], 13]]];
  const line = { 'line-join': 'round', 'line-cap': 'round', 'line-sort-key': get('k', 0) } as const;
  const shapes = { source: 'answer', 'source-layer': 'shapes' } as const;
  const points = { source: 'answer', 'source-layer': 'points' } as const;
  const beads = { source: 'answer', 'source-layer': 'beads' } as const;
  // Of an area either the shape is drawn or its point.
  const large: ExpressionSpecification = ['>=', ['zoom'], ['get', 'z']];
  const isArea: ExpressionSpecification = ['==', ['geometry-type'], 'Polygon'];
  const seen: ExpressionSpecification = ['any', ['!', isArea], large];
  const dashes = ['match', ['get', 'd'], ...DASHES.flatMap((dash, i) => [i, ['literal', dash]]), ['literal', [1, 0]]] as unknown as ExpressionSpecification;
  const look: LayerSpecification[] = [
    { id: 'answer-fills', type: 'fill', ...shapes, filter: ['all', isArea, large], layout: { 'fill-sort-key': get('k', 0) }, paint: { 'fill-color': get('f', get('c', c.markFill)), 'fill-opacity': get('p', 0.22) } },
    { id: 'answer-casings', type: 'line', ...shapes, filter: ['all', ['has', 'b'], seen], layout: line, paint: { 'line-color': get('bc', '#000'), 'line-width': get('b', 0), 'line-opacity': get('o', 0.9) } },
    { id: 'answer-lines', type: 'line', ...shapes, filter: ['all', ['!', ['has', 'd']], seen], layout: line, paint: { 'line-color': get('c', c.mark), 'line-width': get('w', 2), 'line-opacity': get('o', 0.9) } },
    { id: 'answer-dashes', type: 'line', ...shapes, filter: ['all', ['has', 'd'], seen], layout: { ...line, 'line-cap': 'butt' }, paint: { 'line-color': get('c', c.mark), 'line-width': get('w', 2), 'line-opacity': get('o', 0.9), 'line-dasharray': dashes } },
    { id: 'answer-beads', type: 'circle', ...beads, filter: small, layout: { 'circle-sort-key': get('k', 0) }, paint: { 'circle-color': get('c', c.mark), 'circle-radius': ['max', 1.2, ['/', get('w', 2), 2]], 'circle-opacity': get('o', 0.9) } },
    { id: 'answer-points', type: 'circle', ...points, filter: ['all', small, ['!', symbol]], layout: { 'circle-sort-key': get('k', 0) }, paint: { 'circle-color': get('f', get('c', c.markFill)), 'circle-radius': ['interpolate', ['linear'], ['zoom'], 6, get('r', 3), 14, get('r', 5.5)], 'circle-stroke-color': get('s', c.markEdge), 'circle-stroke-width': get('sw', 1.2), 'circle-opacity': get('o', get('p', 0.95)) } },
    { id: 'answer-icons', type: 'symbol', ...points, filter: ['all', small, symbol], layout: { 'icon-image': ['concat', ['get', 'm'], ' ', get('c', c.mark)], 'icon-allow-overlap': true, 'symbol-sort-key': get('k', 0) }, paint: { 'icon-opacity': get('o', 1) } },
    { id: 'answer-clusters', type: 'circle', ...points, filter: ['has', 'point_count'], paint: { 'circle-color': c.mark, 'circle-opacity': 0.88, 'circle-stroke-color': c.markEdge, 'circle-stroke-width': 1.5, 'circle-radius': ['interpolate', ['linear'], ['log10', ['get', 'point_count']], 0, 9, 2, 14, 4, 22, 5, 27] } },
    { id: 'answer-counts', type: 'symbol', ...points, filter: ['has', 'point_count'], layout: { 'text-field': ['get', 'point_count_abbreviated'], 'text-font': [FONT], 'text-size': 11.5, 'text-allow-overlap': true }, paint: { 'text-color': c.clusterText } },
    { id: 'answer-names', type: 'symbol', ...points, filter: named, layout: { 'text-field': ['get', 'n'], 'text-font': [FONT], 'text-size': get('ts', 11.5), 'text-variable-anchor': ['top', 'bottom', 'right', 'left'], 'text-radial-offset': 0.7, 'text-max-width': 9, 'text-optional': true }, paint: { 'text-color': get('tc', c.place), 'text-halo-color': c.halo, 'text-halo-width': 1.6 } },
    { id: 'answer-line-names', type: 'symbol', ...beads, filter: named, layout: { 'text-field': ['get', 'n'], 'text-font': [FONT], 'text-size': get('ts', 11.5), 'text-variable-anchor': ['top', 'bottom', 'right', 'left'], 'text-radial-offset': 0.7, 'text-max-width': 9, 'text-optional': true }, paint: { 'text-color': get('tc', c.place), 'text-halo-color': c.halo, 'text-halo-width': 1.6 } },
  ];
  const shown = layers ?? (heat ? look.map((layer) => ({ ...layer, minzoom: HEAT_ZOOM })) : look);
  return [
    ...shown,
    ...(heat ? [heatmap(heat)] : []),
    { id: 'selected-fill', type: 'fill', source: 'selected', filter: ['==', ['geometry-type'], 'Polygon'], paint: { 'fill-color': c.selected, 'fill-opacity': 0.18 } },
    { id: 'selected-line', type: 'line', source: 'selected', layout: { 'line-join': 'round', 'line-cap': 'round' }, paint: { 'line-color': c.selected, 'line-width': 3.5 } },
    { id: 'selected-point', type: 'circle', source: 'selected', filter: ['==', ['geometry-type'], 'Point'], paint: { 'circle-color': c.selected, 'circle-radius': 7, 'circle-stroke-color': c.markEdge, 'circle-stroke-width': 2 } },
  ];
}

/** Points by how many there are. */
function heatmap({ colours, scale }: NonNullable<Display['heat']>): LayerSpecification {
  const stops = colours.flatMap((colour, i) => [0.08 + (0.92 * i) / Math.max(1, colours.length - 1), colour]);
  return {
    id: 'answer-heat',
    type: 'heatmap',
    source: 'answer',
    'source-layer': 'points',
    maxzoom: HEAT_ZOOM + 1,
    paint: {
      'heatmap-weight': get('h', 1),
      'heatmap-intensity': ['interpolate', ['exponential', 2], ['zoom'], ...ZOOMS.flatMap((zoom, i) => [zoom, scale[i] ?? 1])] as unknown as ExpressionSpecification,
      'heatmap-radius': ['interpolate', ['linear'], ['zoom'], ...RADII.flat()] as unknown as ExpressionSpecification,
      'heatmap-color': ['interpolate', ['linear'], ['heatmap-density'], 0, 'rgba(0,0,0,0)', ...stops] as unknown as ExpressionSpecification,
      'heatmap-opacity': ['interpolate', ['linear'], ['zoom'], HEAT_ZOOM - 0.5, 0.85, HEAT_ZOOM + 0.5, 0],
    },
  };
}

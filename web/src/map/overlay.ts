// The answer on the map: areas, lines and points; points that stand close together as one with their number; and what is
// selected.

import type { ExpressionSpecification, LayerSpecification } from 'maplibre-gl';
import { FONT } from './fonts';
import type { Palette } from './palette';

/** Layers whose features are of the answer. */
export const PICKED = ['answer-clusters', 'answer-points', 'answer-lines', 'answer-fills'];

const get = (name: string, otherwise: unknown): ExpressionSpecification => ['coalesce', ['get', name], otherwise] as unknown as ExpressionSpecification;

export function overlay(c: Palette): LayerSpecification[] {
  const single: ExpressionSpecification = ['!', ['has', 'point_count']];
  // A shape is a point as long as it would be no more than some pixels.
  const small: ExpressionSpecification = ['all', single, ['<', ['zoom'], ['get', 'z']]];
  return [
    { id: 'answer-fills', type: 'fill', source: 'answer', 'source-layer': 'shapes', filter: ['==', ['geometry-type'], 'Polygon'], paint: { 'fill-color': get('f', ['coalesce', ['get', 'c'], c.markFill]), 'fill-opacity': get('p', 0.22) } },
    { id: 'answer-lines', type: 'line', source: 'answer', 'source-layer': 'shapes', layout: { 'line-join': 'round', 'line-cap': 'round' }, paint: { 'line-color': get('c', c.mark), 'line-width': get('w', 2), 'line-opacity': get('o', 0.9) } },
    { id: 'answer-points', type: 'circle', source: 'answer', 'source-layer': 'points', filter: small, paint: { 'circle-color': get('f', ['coalesce', ['get', 'c'], c.markFill]), 'circle-radius': ['interpolate', ['linear'], ['zoom'], 6, get('r', 3), 14, get('r', 5.5)], 'circle-stroke-color': c.markEdge, 'circle-stroke-width': 1.2, 'circle-opacity': get('o', 0.95) } },
    { id: 'answer-clusters', type: 'circle', source: 'answer', 'source-layer': 'points', filter: ['has', 'point_count'], paint: { 'circle-color': c.mark, 'circle-opacity': 0.88, 'circle-stroke-color': c.markEdge, 'circle-stroke-width': 1.5, 'circle-radius': ['interpolate', ['linear'], ['log10', ['get', 'point_count']], 0, 9, 2, 14, 4, 22, 5, 27] } },
    { id: 'answer-counts', type: 'symbol', source: 'answer', 'source-layer': 'points', filter: ['has', 'point_count'], layout: { 'text-field': ['get', 'point_count_abbreviated'], 'text-font': [FONT], 'text-size': 11.5, 'text-allow-overlap': true }, paint: { 'text-color': c.clusterText } },
    { id: 'answer-names', type: 'symbol', source: 'answer', 'source-layer': 'points', minzoom: 13, filter: ['all', single, ['!=', ['coalesce', ['get', 'n'], ''], '']], layout: { 'text-field': ['get', 'n'], 'text-font': [FONT], 'text-size': 11.5, 'text-variable-anchor': ['top', 'bottom', 'right', 'left'], 'text-radial-offset': 0.7, 'text-max-width': 9, 'text-optional': true }, paint: { 'text-color': c.place, 'text-halo-color': c.halo, 'text-halo-width': 1.6 } },
    { id: 'selected-fill', type: 'fill', source: 'selected', filter: ['==', ['geometry-type'], 'Polygon'], paint: { 'fill-color': c.selected, 'fill-opacity': 0.18 } },
    { id: 'selected-line', type: 'line', source: 'selected', layout: { 'line-join': 'round', 'line-cap': 'round' }, paint: { 'line-color': c.selected, 'line-width': 3.5 } },
    { id: 'selected-point', type: 'circle', source: 'selected', filter: ['==', ['geometry-type'], 'Point'], paint: { 'circle-color': c.selected, 'circle-radius': 7, 'circle-stroke-color': c.markEdge, 'circle-stroke-width': 2 } },
  ];
}

// Names and symbols of the map under the answer. Of two that collide the later layer's is shown: streets before small things,
// places before streets.

import type { ExpressionSpecification, FilterSpecification, LayerSpecification, SymbolLayerSpecification } from 'maplibre-gl';
import { labelLanguage } from '../text/languages';
import { WORLD_ZOOM } from '../world/world';
import { FONT, ITALIC } from './fonts';
import { arrowImage, landformImage, poiColour, poiImage, shieldImage, stopImage } from './icons';
import type { Palette } from './palette';

const SOURCE = 'tiles';

type Layout = SymbolLayerSpecification['layout'];

const by_zoom = (...stops: unknown[]): ExpressionSpecification => ['interpolate', ['linear'], ['zoom'], ...stops] as ExpressionSpecification;
const kinds = (...names: string[]): FilterSpecification => ['in', ['get', 'kind'], ['literal', names]];
const all = (...filters: unknown[]): FilterSpecification => ['all', ...filters] as FilterSpecification;
/** Languages that tiles have names in, besides the local ones. */
const TRANSLATED = new Set(['en', 'de']);

/** The name in the language of labels if the tiles have it, else the local one. */
const nameIn = (language: string): ExpressionSpecification => ['coalesce', ...(TRANSLATED.has(language) ? [['get', `name_${language}`]] : []), ['get', 'name'], ['get', 'name_en'], ''] as unknown as ExpressionSpecification;

export function labels(c: Palette, answered: boolean): LayerSpecification[] {
  const name = nameIn(labelLanguage());
  const text = (id: string, layer: string, size: ExpressionSpecification | number, colour: string, filter?: FilterSpecification, layout: Layout = {}, minzoom = 0): LayerSpecification => ({
    id,
    type: 'symbol',
    source: SOURCE,
    'source-layer': layer,
    minzoom,
    ...(filter && { filter }),
    layout: { 'text-field': name, 'text-font': [FONT], 'text-size': size, 'text-max-width': 8, 'text-padding': 4, ...layout },
    paint: { 'text-color': colour, 'text-halo-color': c.halo, 'text-halo-width': 1.4 },
  });
  /** Names of water, in italics, with a halo of water. */
  const water = (id: string, layer: string, size: ExpressionSpecification | number, layout: Layout, minzoom: number, filter?: FilterSpecification): LayerSpecification => {
    const made = text(id, layer, size, c.waterText, filter, { 'text-font': [ITALIC], 'text-letter-spacing': 0.03, ...layout }, minzoom) as SymbolLayerSpecification;
    return { ...made, paint: { ...made.paint, 'text-halo-color': c.waterHalo, 'text-halo-width': 1 } };
  };
  const opacity = answered ? 0.55 : 1;
  const beside = { 'icon-padding': 2, 'text-variable-anchor': ['top', 'bottom', 'left', 'right'], 'text-radial-offset': 0.85, 'text-optional': true } satisfies Layout;
  const stop: Layout = { 'icon-image': stopImage(c), ...beside };
  const streetName = (id: string, classes: FilterSpecification, size: ExpressionSpecification, minzoom: number) => text(id, 'street_labels', size, c.text, classes, { 'symbol-placement': 'line', 'symbol-spacing': 320, 'text-padding': 2 }, minzoom);
  const people = ['-', 0, ['coalesce', ['get', 'population'], 0]] as unknown as ExpressionSpecification;
  const minorWays = kinds('path', 'footway', 'cycleway', 'steps', 'track', 'service');
  const majorWays = kinds('motorway', 'trunk', 'primary', 'secondary');
  const inner = (id: string, kind: string, more: { minzoom?: number; maxzoom?: number; filter?: unknown[] }, layout: Layout, colour: string, halo: string): LayerSpecification => {
    const { filter, ...zooms } = more;
    const wide = ['>=', ['+', ['zoom'], 0.7], ['get', 'z']];
    return { id, type: 'symbol', source: 'world', ...zooms, filter: all(['==', ['get', 'kind'], kind], wide, ...(filter ?? [])), layout: { 'text-field': ['get', 'name'], 'symbol-sort-key': ['get', 'k'], 'text-max-width': 7, 'text-padding': 3, ...layout }, paint: { 'text-color': colour, 'text-halo-color': halo, 'text-halo-width': 1.2 } };
  };
  const country: Layout = { 'text-font': [FONT], 'text-size': by_zoom(1, 9.5, 4, 11.5, 7, 14), 'text-transform': 'uppercase', 'text-letter-spacing': 0.1 };
  const sea: Layout = { 'text-font': [ITALIC], 'text-size': by_zoom(0, 10.5, 4, 12.5, 7, 15), 'text-letter-spacing': 0.08, 'text-line-height': 1.35 };

  return [
    { id: 'one-way', type: 'symbol', source: SOURCE, 'source-layer': 'streets', minzoom: 16, filter: all(['==', ['get', 'oneway'], true], ['!=', ['get', 'rail'], true]), layout: { 'symbol-placement': 'line', 'symbol-spacing': 110, 'icon-image': arrowImage(c), 'icon-rotate': ['case', ['==', ['get', 'oneway_reverse'], true], 180, 0], 'icon-rotation-alignment': 'map', 'icon-padding': 2, 'icon-size': 0.8 } },
    text('house-numbers', 'addresses', 9.5, c.faint, undefined, { 'text-field': ['coalesce', ['get', 'housenumber'], ['get', 'number'], ''], 'text-padding': 6 }, 17),
    {
      id: 'pois',
      type: 'symbol',
      source: SOURCE,
      'source-layer': 'pois',
      minzoom: 16,
      layout: { 'text-field': name, 'text-font': [FONT], 'text-size': 10.5, 'text-max-width': 7, 'text-padding': 6, 'icon-image': poiImage(c), 'icon-padding': 3, 'text-variable-anchor': ['top', 'bottom', 'left', 'right'], 'text-radial-offset': 0.85, 'text-optional': true },
      paint: { 'text-color': poiColour(c), 'text-halo-color': c.halo, 'text-halo-width': 1.2, 'icon-opacity': opacity, 'text-opacity': opacity },
    },
    text('bus-stops', 'public_transport', 10, c.poiTransport, kinds('bus_stop', 'tram_stop'), stop, 16),
    text('path-names', 'street_labels', 10, c.faint, minorWays, { 'symbol-placement': 'line', 'symbol-spacing': 320, 'text-padding': 2 }, 16),
    streetName('street-names', all(['!', minorWays], ['!', majorWays], ['!', kinds('rail', 'narrow_gauge', 'tram', 'light_rail', 'funicular', 'subway', 'monorail')]), by_zoom(13, 9.5, 18, 13), 14),
    streetName('major-street-names', majorWays, by_zoom(12, 10, 18, 14), 12),
    text('stops', 'public_transport', 10.5, c.poiTransport, kinds('aerodrome', 'station', 'ferry_terminal', 'bus_station', 'halt', 'helipad', 'aerialway_station'), stop, 12),
    { id: 'shields', type: 'symbol', source: SOURCE, 'source-layer': 'street_labels', minzoom: 7, filter: all(['has', 'ref'], ['<=', ['coalesce', ['get', 'ref_cols'], 9], 7], ['==', ['get', 'ref_rows'], 1], majorWays), layout: { 'symbol-placement': 'line', 'symbol-spacing': 300, 'text-field': ['get', 'ref'], 'text-font': [FONT], 'text-size': 9.5, 'text-rotation-alignment': 'viewport', 'icon-rotation-alignment': 'viewport', 'icon-image': shieldImage(c), 'icon-text-fit': 'both', 'icon-text-fit-padding': [1, 3, 1, 3], 'text-padding': 12, 'icon-padding': 12, 'symbol-sort-key': ['match', ['get', 'kind'], 'motorway', 0, 'trunk', 1, 'primary', 2, 3] }, paint: { 'text-color': c.shieldText } },
    text('landforms', 'landform_labels', 10.5, c.landform, kinds('peak', 'volcano', 'saddle'), { 'icon-image': landformImage(c), ...beside, 'text-field': ['format', name, {}, ['case', ['has', 'ele'], ['concat', '\n', ['to-string', ['get', 'ele']], ' m'], ''], { 'font-scale': 0.85 }], 'symbol-sort-key': ['-', 0, ['coalesce', ['get', 'ele'], 0]] }, 11),
    text('capes', 'landform_labels', 10.5, c.landform, kinds('cape'), {}, 12),
    water('river-names', 'water_lines_labels', by_zoom(12, 10.5, 17, 13), { 'symbol-placement': 'line', 'symbol-spacing': 400 }, 12),
    water('water-names', 'water_polygons_labels', by_zoom(8, 10.5, 16, 14), { 'symbol-sort-key': ['-', 0, ['coalesce', ['get', 'way_area'], 0]] }, 8, ['any', ['>=', ['zoom'], 13], ['>=', ['coalesce', ['get', 'way_area'], 0], 2_000_000]] as FilterSpecification),
    water('bay-names', 'landform_labels', by_zoom(10, 10.5, 16, 14), {}, 10, kinds('bay', 'strait')),
    text('hamlets', 'place_labels', by_zoom(10, 10, 16, 13), c.text, kinds('hamlet', 'locality', 'isolated_dwelling', 'farm'), {}, 13),
    text('quarters', 'place_labels', by_zoom(11, 9.5, 16, 13), c.faint, kinds('suburb', 'quarter', 'neighbourhood'), { 'text-transform': 'uppercase', 'text-letter-spacing': 0.08, 'symbol-sort-key': people }, 12),
    text('islands', 'place_labels', by_zoom(10, 10.5, 16, 14), c.text, kinds('island', 'islet'), { 'text-letter-spacing': 0.05 }, 10),
    text('island-areas', 'landform_labels', by_zoom(8, 10.5, 14, 14), c.text, kinds('island', 'islet'), { 'text-letter-spacing': 0.05 }, 8),
    text('villages', 'place_labels', by_zoom(9, 9.5, 15, 15), c.place, kinds('village'), { 'symbol-sort-key': people }, 10),
    text('towns', 'place_labels', by_zoom(7, 10, 14, 18), c.place, kinds('town'), { 'text-padding': 6, 'symbol-sort-key': people }, 7),
    text('cities', 'place_labels', by_zoom(4, 10.5, 8, 13, 14, 21), c.place, kinds('city', 'capital', 'state_capital'), { 'text-padding': 8, 'symbol-sort-key': people }, 4),
    text('countries', 'boundary_labels', by_zoom(2, 10, 8, 16), c.faint, ['<=', ['get', 'admin_level'], 2], { 'text-transform': 'uppercase', 'text-letter-spacing': 0.12 }, WORLD_ZOOM),
    inner('world-seas', 'sea', { maxzoom: 9 }, sea, c.waterText, c.waterHalo),
    inner('world-countries-near', 'country', { minzoom: WORLD_ZOOM, maxzoom: 9, filter: [['get', 'out']] }, country, c.faint, c.halo),
    inner('world-countries', 'country', { maxzoom: WORLD_ZOOM }, country, c.faint, c.halo),
  ];
}

// The map under the answer: the layers of the Shortbread schema, drawn quietly.

import type { ExpressionSpecification, FilterSpecification, LayerSpecification } from 'maplibre-gl';
import { FONT } from './fonts';
import { poiColour, poiImage, stopImage } from './icons';
import type { Palette } from './palette';

const SOURCE = 'tiles';

type Stops = (number | string)[];

const by_zoom = (...stops: Stops): ExpressionSpecification => ['interpolate', ['exponential', 1.5], ['zoom'], ...stops] as ExpressionSpecification;
const kinds = (...names: string[]): FilterSpecification => ['in', ['get', 'kind'], ['literal', names]];
const name: ExpressionSpecification = ['coalesce', ['get', 'name'], ['get', 'name_en'], ''];

/** The layers in these colours; small things are faint where an answer lies on them. */
export function basemap(c: Palette, answered: boolean): LayerSpecification[] {
  const fill = (id: string, layer: string, colour: string, filter?: FilterSpecification, more = {}): LayerSpecification => ({
    id,
    type: 'fill',
    source: SOURCE,
    'source-layer': layer,
    ...(filter && { filter }),
    paint: { 'fill-color': colour, ...more },
  });
  const line = (id: string, layer: string, colour: string, width: ExpressionSpecification | number, filter?: FilterSpecification, more = {}, minzoom = 0): LayerSpecification => ({
    id,
    type: 'line',
    source: SOURCE,
    'source-layer': layer,
    minzoom,
    ...(filter && { filter }),
    layout: { 'line-cap': 'round', 'line-join': 'round' },
    paint: { 'line-color': colour, 'line-width': width, ...more },
  });
  const text = (id: string, layer: string, size: ExpressionSpecification | number, colour: string, filter?: FilterSpecification, layout = {}, minzoom = 0): LayerSpecification => ({
    id,
    type: 'symbol',
    source: SOURCE,
    'source-layer': layer,
    minzoom,
    ...(filter && { filter }),
    layout: { 'text-field': name, 'text-font': [FONT], 'text-size': size, 'text-max-width': 8, 'text-padding': 4, ...layout },
    paint: { 'text-color': colour, 'text-halo-color': c.halo, 'text-halo-width': 1.4 },
  });

  const motorway = kinds('motorway');
  const trunk = kinds('trunk', 'primary');
  const secondary = kinds('secondary', 'tertiary');
  const minor = kinds('residential', 'unclassified', 'living_street', 'busway', 'bus_guideway');
  const service = kinds('service', 'track', 'pedestrian');
  const path = kinds('path', 'footway', 'cycleway', 'steps', 'bridleway');
  const rail: FilterSpecification = ['==', ['get', 'rail'], true];
  const streets: FilterSpecification = ['!=', ['get', 'rail'], true];
  const road = (filter: FilterSpecification): FilterSpecification => ['all', streets, filter] as FilterSpecification;
  const dim = { 'line-opacity': ['case', ['==', ['get', 'tunnel'], true], 0.45, 1] as ExpressionSpecification };

  const opacity = answered ? 0.55 : 1;
  const stop = { 'icon-image': stopImage(c), 'icon-padding': 2, 'text-variable-anchor': ['top', 'bottom', 'left', 'right'], 'text-radial-offset': 0.85, 'text-optional': true };

  const widths = {
    motorway: by_zoom(5, 0.6, 9, 1.6, 13, 4, 18, 22),
    trunk: by_zoom(6, 0.5, 10, 1.4, 13, 3.4, 18, 20),
    secondary: by_zoom(8, 0.4, 12, 1.6, 14, 3.2, 18, 16),
    minor: by_zoom(11, 0.4, 13, 1.1, 15, 3.4, 18, 13),
    service: by_zoom(13, 0.4, 15, 1.4, 18, 7),
  };
  const cased = (width: ExpressionSpecification): ExpressionSpecification => {
    const [kind, base, zoom, ...stops] = width as unknown as [string, unknown, unknown, ...number[]];
    return [kind, base, zoom, ...stops.map((value, i) => (i % 2 ? value + 1.2 : value))] as unknown as ExpressionSpecification;
  };

  return [
    { id: 'background', type: 'background', paint: { 'background-color': c.land } },
    fill('ocean', 'ocean', c.water),
    fill('land-use', 'land', c.residential, kinds('residential', 'garages', 'farmyard', 'education', 'hospital')),
    fill('land-industry', 'land', c.industry, kinds('industrial', 'commercial', 'retail', 'railway', 'quarry', 'landfill', 'brownfield', 'construction')),
    fill('land-green', 'land', c.green, kinds('grass', 'grassland', 'meadow', 'park', 'garden', 'village_green', 'recreation_ground', 'golf_course', 'allotments', 'cemetery', 'grave_yard', 'playground', 'heath', 'scrub', 'orchard', 'vineyard', 'farmland', 'plant_nursery', 'greenfield')),
    fill('land-wood', 'land', c.wood, kinds('forest', 'wood', 'swamp', 'bog', 'marsh', 'wet_meadow', 'reedbed', 'mangrove')),
    fill('land-sand', 'land', c.sand, kinds('beach', 'sand', 'shingle', 'bare_rock', 'scree')),
    fill('sites', 'sites', c.site, kinds('university', 'hospital', 'prison', 'parking', 'sports_centre', 'construction', 'school', 'college', 'danger_area')),
    fill('water', 'water_polygons', c.water),
    line('rivers', 'water_lines', c.waterLine, by_zoom(8, 0.4, 12, 1, 18, 6)),
    line('dams', 'dam_lines', c.casing, by_zoom(12, 0.6, 18, 4), undefined, {}, 12),
    fill('piers', 'pier_polygons', c.road),
    line('pier-lines', 'pier_lines', c.road, by_zoom(12, 0.6, 18, 6), undefined, {}, 12),
    fill('squares', 'street_polygons', c.road, undefined, { 'fill-outline-color': c.casing }),
    fill('bridges', 'bridges', c.casing, undefined, { 'fill-opacity': 0.6 }),
    { id: 'buildings', type: 'fill', source: SOURCE, 'source-layer': 'buildings', minzoom: 13, paint: { 'fill-color': c.building, 'fill-outline-color': c.buildingEdge, 'fill-opacity': by_zoom(13, 0.4, 15, 1) } },
    line('paths', 'streets', c.path, by_zoom(13, 0.5, 16, 1.2, 18, 2.4), road(path), { 'line-dasharray': [2, 1.6] }, 13),
    line('rails', 'streets', c.rail, by_zoom(8, 0.4, 13, 1, 18, 2.6), rail, dim, 8),
    line('service-case', 'streets', c.casing, cased(widths.service), road(service), dim, 14),
    line('minor-case', 'streets', c.casing, cased(widths.minor), road(minor), dim, 12),
    line('secondary-case', 'streets', c.casing, cased(widths.secondary), road(secondary), dim, 10),
    line('trunk-case', 'streets', c.casing, cased(widths.trunk), road(trunk), dim, 8),
    line('motorway-case', 'streets', c.casing, cased(widths.motorway), road(motorway), dim, 7),
    line('service', 'streets', c.road, widths.service, road(service), dim, 13),
    line('minor', 'streets', c.road, widths.minor, road(minor), dim, 11),
    line('secondary', 'streets', c.road, widths.secondary, road(secondary), dim, 8),
    line('trunk', 'streets', c.major, widths.trunk, road(trunk), dim, 6),
    line('motorway', 'streets', c.motorway, widths.motorway, road(motorway), dim, 5),
    line('aerialways', 'aerialways', c.rail, by_zoom(12, 0.6, 18, 2), undefined, { 'line-dasharray': [4, 2] }, 12),
    line('ferries', 'ferries', c.waterLine, by_zoom(8, 0.6, 16, 1.4), undefined, { 'line-dasharray': [4, 3] }, 8),
    line('borders', 'boundaries', c.border, by_zoom(2, 0.6, 10, 1.4), ['all', ['<=', ['get', 'admin_level'], 4], ['!=', ['get', 'maritime'], true]], { 'line-dasharray': [4, 2], 'line-opacity': 0.7 }),
    text('water-names', 'water_polygons_labels', 11, c.waterText, undefined, {}, 12),
    text('river-names', 'water_lines_labels', 11, c.waterText, undefined, { 'symbol-placement': 'line' }, 13),
    text('street-names', 'street_labels', by_zoom(13, 9.5, 18, 13), c.text, ['!', kinds('path', 'footway', 'cycleway', 'steps', 'track')] as FilterSpecification, { 'symbol-placement': 'line', 'symbol-spacing': 320 }, 13),
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
    text('stops', 'public_transport', 10.5, c.poiTransport, kinds('aerodrome', 'station', 'ferry_terminal', 'bus_station', 'halt', 'helipad', 'aerialway_station'), stop, 12),
    text('hamlets', 'place_labels', by_zoom(10, 10, 16, 14), c.text, kinds('hamlet', 'suburb', 'quarter', 'neighbourhood', 'locality', 'isolated_dwelling', 'island', 'farm'), {}, 12),
    text('villages', 'place_labels', by_zoom(8, 10, 15, 16), c.place, kinds('village'), {}, 9),
    text('towns', 'place_labels', by_zoom(6, 10.5, 14, 19), c.place, kinds('town', 'city', 'capital', 'state_capital'), { 'text-padding': 8 }, 4),
    text('countries', 'boundary_labels', by_zoom(2, 10, 8, 16), c.faint, ['<=', ['get', 'admin_level'], 2], { 'text-transform': 'uppercase', 'text-letter-spacing': 0.12 }, 2),
  ];
}

// The map under the answer: areas and lines of the Shortbread schema, drawn quietly. Names and symbols are in `labels.ts`.

import type { ExpressionSpecification, FilterSpecification, LayerSpecification } from 'maplibre-gl';
import { WORLD_ZOOM } from '../world/world';
import { labels } from './labels';
import type { Palette } from './palette';

const SOURCE = 'tiles';
/** Borders and names from Natural Earth. */
const WORLD = 'world';

const by_zoom = (...stops: unknown[]): ExpressionSpecification => ['interpolate', ['exponential', 1.5], ['zoom'], ...stops] as ExpressionSpecification;
const kinds = (...names: string[]): FilterSpecification => ['in', ['get', 'kind'], ['literal', names]];

/** Zooms and widths in pixels of the classes of streets. */
const WIDTHS = {
  motorway: [5, 0.7, 8, 1.4, 10, 2.4, 13, 5, 18, 24],
  trunk: [6, 0.6, 10, 1.9, 13, 4.2, 18, 21],
  primary: [8, 0.6, 10, 1.4, 13, 3.5, 18, 18],
  secondary: [9, 0.5, 12, 1.8, 14, 3.4, 18, 16],
  tertiary: [10, 0.4, 12, 1.2, 14, 2.8, 18, 14],
  minor: [12, 0.4, 13, 1, 15, 3.2, 18, 13],
  service: [13, 0.4, 15, 1.4, 18, 7],
} as const;

type Class = keyof typeof WIDTHS;

/** Widths by zoom, with `more` pixels; link roads are narrower. */
function widthOf(name: Class, more = 0): ExpressionSpecification {
  return by_zoom(...WIDTHS[name].map((value, i) => (i % 2 ? ['case', ['==', ['get', 'link'], true], value * 0.6 + more, value + more] : value)));
}

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

  const classes: Record<Class, FilterSpecification> = {
    motorway: kinds('motorway'),
    trunk: kinds('trunk'),
    primary: kinds('primary'),
    secondary: kinds('secondary'),
    tertiary: kinds('tertiary'),
    minor: kinds('residential', 'unclassified', 'living_street', 'busway', 'bus_guideway'),
    service: kinds('service', 'track', 'pedestrian'),
  };
  const path = kinds('path', 'footway', 'cycleway', 'steps', 'bridleway');
  const runway = kinds('runway', 'taxiway');
  const rail: FilterSpecification = ['==', ['get', 'rail'], true];
  const streets: FilterSpecification = ['!=', ['get', 'rail'], true];
  const road = (filter: FilterSpecification): FilterSpecification => ['all', streets, filter] as FilterSpecification;
  const dim = { 'line-opacity': ['case', ['==', ['get', 'tunnel'], true], 0.45, 1] as ExpressionSpecification };
  const cased = (name: Class, colour: string, minzoom: number) => line(`${name}-case`, 'streets', colour, widthOf(name, 1.2), road(classes[name]), dim, minzoom);
  const inner = (name: Class, colour: string, minzoom: number) => line(name, 'streets', colour, widthOf(name), road(classes[name]), dim, minzoom);
  const border = { 'line-dasharray': [4, 2], 'line-opacity': 0.7 };

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
    fill('glaciers', 'water_polygons', c.ice, kinds('glacier')),
    line('coast', 'ocean', c.coast, by_zoom(0, 0.5, 8, 0.9, 14, 1.2)),
    line('shores', 'water_polygons', c.coast, by_zoom(6, 0.4, 14, 0.8), undefined, {}, 8),
    line('rivers', 'water_lines', c.waterLine, ['interpolate', ['exponential', 1.5], ['zoom'], 8, 0.6, 12, 1.3, 18, ['match', ['get', 'kind'], ['river', 'canal'], 8, 3]]),
    line('dams', 'dam_lines', c.casing, by_zoom(12, 0.6, 18, 4), undefined, {}, 12),
    fill('piers', 'pier_polygons', c.road),
    line('pier-lines', 'pier_lines', c.road, by_zoom(12, 0.6, 18, 6), undefined, {}, 12),
    fill('squares', 'street_polygons', c.road, undefined, { 'fill-outline-color': c.casing }),
    fill('bridges', 'bridges', c.casing, undefined, { 'fill-opacity': 0.6 }),
    { id: 'buildings', type: 'fill', source: SOURCE, 'source-layer': 'buildings', minzoom: 13, paint: { 'fill-color': c.building, 'fill-outline-color': c.buildingEdge, 'fill-opacity': by_zoom(13, 0.4, 15, 1) } },
    line('runways', 'streets', c.casing, by_zoom(10, 1, 14, 6, 18, 60), road(runway), { 'line-opacity': 0.7 }, 11),
    line('paths', 'streets', c.path, by_zoom(13, 0.5, 16, 1.2, 18, 2.4), road(path), { 'line-dasharray': [2, 1.6] }, 13),
    line('rails', 'streets', c.rail, by_zoom(8, 0.4, 13, 1, 18, 2.6), rail, dim, 8),
    cased('service', c.casing, 14),
    cased('minor', c.casing, 13),
    cased('tertiary', c.casing, 12),
    cased('secondary', c.casing, 11),
    cased('primary', c.majorEdge, 9),
    cased('trunk', c.majorEdge, 8),
    cased('motorway', c.motorwayEdge, 7),
    inner('service', c.road, 13),
    inner('minor', c.road, 12),
    inner('tertiary', c.road, 10),
    inner('secondary', c.road, 9),
    inner('primary', c.major, 8),
    inner('trunk', c.major, 6),
    inner('motorway', c.motorway, 5),
    line('aerialways', 'aerialways', c.rail, by_zoom(12, 0.6, 18, 2), undefined, { 'line-dasharray': [4, 2] }, 12),
    line('ferries', 'ferries', c.waterLine, by_zoom(8, 0.6, 16, 1.4), undefined, { 'line-dasharray': [4, 3] }, 8),
    line('borders', 'boundaries', c.border, by_zoom(2, 0.6, 10, 1.4), ['all', ['==', ['get', 'admin_level'], 2], ['!=', ['get', 'maritime'], true]], border, WORLD_ZOOM),
    line('borders-states', 'boundaries', c.border, by_zoom(7, 0.5, 10, 0.9), ['all', ['>', ['get', 'admin_level'], 2], ['<=', ['get', 'admin_level'], 4], ['!=', ['get', 'maritime'], true]], { 'line-dasharray': [2, 3], 'line-opacity': 0.5 }, 7),
    worldBorders('world-borders', c, ['==', ['get', 'kind'], 'border'], { maxzoom: WORLD_ZOOM }),
    // At 1:50,000,000 a border is some kilometres off: it fades where that is seen.
    worldBorders('world-borders-near', c, ['all', ['==', ['get', 'kind'], 'border'], ['get', 'out']], { minzoom: WORLD_ZOOM, maxzoom: 11 }),
    ...labels(c, answered),
  ];
}

function worldBorders(id: string, c: Palette, filter: FilterSpecification, zooms: { minzoom?: number; maxzoom?: number }): LayerSpecification {
  return { id, type: 'line', source: WORLD, ...zooms, filter, layout: { 'line-cap': 'round', 'line-join': 'round' }, paint: { 'line-color': c.border, 'line-width': by_zoom(1, 0.6, 5, 1, 10, 1.4), 'line-opacity': ['interpolate', ['linear'], ['zoom'], 7, 0.75, 11, 0] } };
}

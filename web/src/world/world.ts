// Borders, countries and seas of the world from Natural Earth at 1:50,000,000 (`web/world.mjs`), for zooms below those of the
// snapshot's own borders, and for what is outside of the snapshot.

import type { Feature, FeatureCollection, Position } from 'geojson';
import type { QueryBox } from '../map/bounds';

/** Below it the world is shown everywhere, from it on only outside of the snapshot. */
export const WORLD_ZOOM = 7;

interface File {
  /** Steps of a degree. */
  steps: number;
  /** Longitude and latitude of the first point, then steps from point to point. */
  borders: number[][];
  /** Region code (ISO 3166-1) or name, longitude, latitude, first zoom. */
  countries: [string, number, number, number][];
  seas: [string, number, number, number][];
}

/**
 * Returns lines with `kind` `border`, and points with `kind` `country` or `sea`, `name`, the first zoom `z` and the order `k`. All
 * have `out`: whether they are outside of `data` (south, west, north, east).
 */
export async function world(data: QueryBox | null, language: string): Promise<FeatureCollection> {
  const { default: text } = await import('./world.json?raw');
  const file = JSON.parse(text) as File;
  const outside = ([lon = 0, lat = 0]: Position): boolean => !data || lat < data[0] || lat > data[2] || !isBetween(lon, data[1], data[3]);
  return {
    type: 'FeatureCollection',
    features: [
      ...file.borders.flatMap((steps) => parts(decoded(steps, file.steps), outside)),
      ...points(file.countries, 'country', outside, regionNames(language)),
      ...points(file.seas, 'sea', outside, (name) => name),
    ],
  };
}

const isBetween = (lon: number, west: number, east: number): boolean => (west <= east ? lon >= west && lon <= east : lon >= west || lon <= east);

function decoded(steps: number[], scale: number): Position[] {
  let [x, y] = [0, 0];
  const line: Position[] = [];
  for (let i = 0; i + 1 < steps.length; i += 2) {
    x += steps[i] ?? 0;
    y += steps[i + 1] ?? 0;
    line.push([x / scale, y / scale]);
  }
  return line;
}

/** The parts of a border inside and outside of the data; a segment between the two is outside. */
function parts(line: Position[], outside: (at: Position) => boolean): Feature[] {
  const found: Feature[] = [];
  let from = 0;
  const isOut = line.slice(1).map((at, i) => outside(at) || outside(line[i] ?? at));
  for (let i = 1; i <= isOut.length; i += 1) {
    if (i < isOut.length && isOut[i] === isOut[from]) continue;
    found.push({ type: 'Feature', properties: { kind: 'border', out: isOut[from] }, geometry: { type: 'LineString', coordinates: line.slice(from, i + 1) } });
    from = i;
  }
  return found;
}

function points(all: File['seas'], kind: string, outside: (at: Position) => boolean, called: (name: string) => string): Feature[] {
  return all.map(([name, lon, lat, z], k) => ({ type: 'Feature', properties: { kind, name: called(name), z, k, out: outside([lon, lat]) }, geometry: { type: 'Point', coordinates: [lon, lat] } }));
}

/** Returns a function from a region code to its name; other names stay. */
function regionNames(language: string): (code: string) => string {
  const names = new Intl.DisplayNames([language, 'en'], { type: 'region' });
  return (code) => (/^[A-Z]{2}$/.test(code) ? (names.of(code) ?? code) : code);
}

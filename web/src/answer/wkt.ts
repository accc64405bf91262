// Well-known text, as literals of GeoSPARQL have it, to GeoJSON.

import type { Geometry, Position } from 'geojson';

/** Nothing where it is none, or not on Earth. */
export function wkt(literal: string): Geometry | null {
  const crs = /^\s*<([^>]*)>\s*/.exec(literal);
  if (crs && /\/entity\/Q(?!2$)\d+$/.test(crs[1] ?? '')) return null;
  const text = literal.slice(crs?.[0].length ?? 0);
  // Latitude first, in this one system of coordinates.
  const swapped = crs !== null && /EPSG\/0\/4326$/.test(crs[1] ?? '');
  const tokens = text.match(/[A-Za-z]+|[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|[(),]/g) ?? [];
  let at = 0;
  const take = (wanted: string) => {
    if (tokens[at] !== wanted) throw new Error(`"${wanted}" expected`);
    at += 1;
  };
  const list = <T>(one: () => T): T[] => {
    take('(');
    const all = [one()];
    while (tokens[at] === ',') {
      at += 1;
      all.push(one());
    }
    take(')');
    return all;
  };
  const position = (): Position => {
    const numbers: number[] = [];
    while (tokens[at] !== undefined && /[\d.]/.test(tokens[at] ?? '')) numbers.push(Number(tokens[at++]));
    if (numbers.length < 2 || numbers.some(Number.isNaN)) throw new Error('a position expected');
    const [a = 0, b = 0] = numbers;
    return swapped ? [b, a] : [a, b];
  };
  const maybeBracketed = (): Position => (tokens[at] === '(' ? (list(position)[0] ?? []) : position());
  const geometry = (): Geometry => {
    const type = (tokens[at++] ?? '').toUpperCase();
    if (/^(Z|M|ZM)$/i.test(tokens[at] ?? '')) at += 1;
    switch (type) {
      case 'POINT':
        return { type: 'Point', coordinates: list(position)[0] ?? [] };
      case 'LINESTRING':
      case 'LINEARRING':
        return { type: 'LineString', coordinates: list(position) };
      case 'POLYGON':
        return { type: 'Polygon', coordinates: list(() => list(position)) };
      case 'MULTIPOINT':
        return { type: 'MultiPoint', coordinates: list(maybeBracketed) };
      case 'MULTILINESTRING':
        return { type: 'MultiLineString', coordinates: list(() => list(position)) };
      case 'MULTIPOLYGON':
        return { type: 'MultiPolygon', coordinates: list(() => list(() => list(position))) };
      case 'GEOMETRYCOLLECTION':
        return { type: 'GeometryCollection', geometries: list(geometry) };
      default:
        throw new Error('no geometry');
    }
  };
  try {
    const found = geometry();
    return at === tokens.length ? found : null;
  } catch {
    return null;
  }
}

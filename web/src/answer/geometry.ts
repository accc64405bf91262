// Geometries of an answer, whoever wrote them: what can be drawn, where it is, and its points and lines.

import type { Geometry, Position } from 'geojson';
import type { Box } from './model';

/** How deep the positions of a type lie in its coordinates. */
const DEPTHS: Record<string, number> = { Point: 0, MultiPoint: 1, LineString: 1, MultiLineString: 2, Polygon: 2, MultiPolygon: 3 };

/** The geometry where it is one that lies on Earth; of a collection what is so of it. Literals and answers may have anything. */
export function sound(geometry: unknown): Geometry | null {
  if (typeof geometry !== 'object' || geometry === null) return null;
  const { type, coordinates, geometries } = geometry as { type?: unknown; coordinates?: unknown; geometries?: unknown };
  if (type === 'GeometryCollection') {
    const parts = Array.isArray(geometries) ? geometries.map(sound).filter((part) => part !== null) : [];
    return parts.length ? { type, geometries: parts } : null;
  }
  const depth = Object.hasOwn(DEPTHS, String(type)) ? (DEPTHS[String(type)] ?? 0) : -1;
  return depth >= 0 && positions(coordinates, depth) ? (geometry as Geometry) : null;
}

function positions(value: unknown, depth: number): boolean {
  if (!Array.isArray(value)) return false;
  if (depth > 0) return value.length > 0 && value.every((part) => positions(part, depth - 1));
  const [x, y] = value as unknown[];
  return typeof x === 'number' && typeof y === 'number' && Math.abs(x) <= 360 && Math.abs(y) <= 90;
}

/** Visits all points, and all lines, those of borders included. */
export function each(geometry: Geometry | null, point: (position: Position) => void, line: (positions: Position[]) => void): void {
  switch (geometry?.type) {
    case 'Point':
      return point(geometry.coordinates);
    case 'MultiPoint':
      return geometry.coordinates.forEach(point);
    case 'LineString':
      return line(geometry.coordinates);
    case 'MultiLineString':
    case 'Polygon':
      return geometry.coordinates.forEach(line);
    case 'MultiPolygon':
      return geometry.coordinates.forEach((rings) => rings.forEach(line));
    case 'GeometryCollection':
      return geometry.geometries.forEach((part) => each(part, point, line));
  }
}

/** The box around a geometry; nothing where it has no position. */
export function boxOf(geometry: Geometry | null): Box | null {
  const box: Box = [Infinity, Infinity, -Infinity, -Infinity];
  const see = ([x = NaN, y = NaN]: Position) => {
    box[0] = Math.min(box[0], x);
    box[1] = Math.min(box[1], y);
    box[2] = Math.max(box[2], x);
    box[3] = Math.max(box[3], y);
  };
  each(geometry, see, (line) => line.forEach(see));
  return box[0] <= box[2] ? box : null;
}

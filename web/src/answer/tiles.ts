// The answer as vector tiles, made when the map asks for one: a point for each feature, where many are close together one
// for all of them, and lines and areas, simplified for the zoom. So the map holds what is seen, whatever there is.

import { GeoJSONVT } from '@maplibre/geojson-vt';
import { fromGeojsonVt } from '@maplibre/vt-pbf';
import type { Feature, Geometry, Position } from 'geojson';
import { boxOf } from './geometry';
import { DASHES } from './dashes';
import { stylesheet, type Style } from './mapcss';
import type { Box, Summary } from './model';
import type { Entry } from './table';

/** The last zoom with tiles of its own. */
export const MAXZOOM = 16;
/** More features than that are drawn together where they are close. */
const TOGETHER = 1500;
/** More names than that nobody reads. */
const NAMED = 20_000;
/** Letters of a name: with one of thousands the map draws nothing of its tile. */
const LONGEST = 80;
const EXTENT = 4096;

export class Drawing {
  box: Box | null = null;
  readonly geometries: Summary['geometries'] = { point: 0, line: 0, polygon: 0 };
  unplaced = 0;
  private readonly points: GeoJSONVT;
  private readonly shapes: GeoJSONVT;

  /** `colours` are those of rows of which no style says otherwise. */
  constructor(rows: Entry[], style: string, colours: (string | undefined)[] = []) {
    const styled = style ? stylesheet(style) : null;
    const points: Feature[] = [];
    const shapes: Feature[] = [];
    rows.forEach((entry, i) => {
      const { geometry } = entry;
      const own = geometry && boxOf(geometry);
      if (!geometry || !own) {
        this.unplaced += 1;
        return;
      }
      this.box = this.box ? joined(this.box, own) : own;
      const isPoint = geometry.type === 'Point';
      const isArea = geometry.type === 'Polygon' || geometry.type === 'MultiPolygon';
      this.geometries[isPoint || geometry.type === 'MultiPoint' ? 'point' : isArea ? 'polygon' : 'line'] += 1;
      const look = styled?.({ type: entry.type, isArea, isClosed: isArea || isRing(geometry), tags: entry.tags });
      const name = rows.length < NAMED ? (look?.text ?? entry.name)?.slice(0, LONGEST) : undefined;
      // The zoom from which on a shape is larger than some pixels, and needs no point in its place. A line is seen as one from
      // two pixels on.
      const pixels = isArea ? 12 : 2;
      const extent = Math.max(own[2] - own[0], (own[3] - own[1]) * 1.3, 1e-9);
      const properties = clean({ i, z: isPoint ? 99 : Math.max(0, Math.log2((pixels * 360) / (512 * extent))), n: name, c: look?.color ?? colours[i], ...(look && drawn(look)) });
      const coordinates = isPoint ? geometry.coordinates : middle(geometry, own);
      points.push({ type: 'Feature', properties, geometry: { type: 'Point', coordinates } });
      if (!isPoint) shapes.push({ type: 'Feature', properties, geometry });
    });
    const options = { maxZoom: MAXZOOM, extent: EXTENT, buffer: 96, indexMaxZoom: 4, indexMaxPoints: 100_000 };
    const cluster = points.length > TOGETHER;
    this.points = new GeoJSONVT({ type: 'FeatureCollection', features: points }, { ...options, cluster, clusterOptions: { maxZoom: 13, minPoints: 3, extent: EXTENT, radius: (44 * EXTENT) / 512 } });
    this.shapes = new GeoJSONVT({ type: 'FeatureCollection', features: shapes }, options);
  }

  /** The tile, with the layers `points` and `shapes`. */
  tile(z: number, x: number, y: number): ArrayBuffer {
    const layers: Record<string, NonNullable<ReturnType<GeoJSONVT['getTile']>>> = {};
    const points = this.points.getTile(z, x, y);
    const shapes = this.shapes.getTile(z, x, y);
    if (points) layers.points = points;
    if (shapes) layers.shapes = shapes;
    const bytes = fromGeojsonVt(layers, { version: 2, extent: EXTENT });
    return bytes.slice().buffer;
  }

  /** The zoom at which what is drawn as one comes apart. */
  apart(cluster: number): number {
    return this.points.getClusterExpansionZoom(cluster) ?? MAXZOOM;
  }
}

/** How a style is told to the map: the names are those of `map/overlay.ts`. */
function drawn(look: Style): Record<string, unknown> {
  const width = look.width ?? 2;
  const casing = look.casingWidth ?? (look.casing ? 1 : 0);
  return {
    w: look.width,
    o: look.opacity,
    d: look.dashes && nearest(look.dashes[0] / Math.max(width, 0.5), look.dashes[1] / Math.max(width, 0.5)),
    b: casing > 0 ? width + 2 * casing : undefined,
    bc: casing > 0 ? (look.casing ?? '#000') : undefined,
    f: look.fill,
    p: look.fillOpacity,
    r: look.radius,
    s: look.stroke,
    sw: look.strokeWidth,
    m: look.icon,
    t: look.text === undefined ? undefined : 1,
    tc: look.textColor,
    ts: look.textSize,
    k: look.z,
  };
}

/** The place in `DASHES` of what is most like a dash and a gap, in widths of the line. */
function nearest(dash: number, gap: number): number {
  const apart = DASHES.map(([a, b]) => Math.abs(Math.log(a / dash)) + Math.abs(Math.log(b / Math.max(gap, 0.1))));
  return apart.indexOf(Math.min(...apart));
}

const isRing = (geometry: Geometry): boolean => {
  if (geometry.type !== 'LineString') return false;
  const [first, last] = [geometry.coordinates[0], geometry.coordinates.at(-1)];
  return geometry.coordinates.length > 3 && first?.[0] === last?.[0] && first?.[1] === last?.[1];
};

function clean(properties: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(properties).filter(([, value]) => value !== undefined && value !== ''));
}

const joined = (a: Box, b: Box): Box => [Math.min(a[0], b[0]), Math.min(a[1], b[1]), Math.max(a[2], b[2]), Math.max(a[3], b[3])];

/** Where the point of a shape is: halfway along a line, in the middle of all else. */
function middle(geometry: Geometry, box: Box): Position {
  if (geometry.type === 'LineString') return geometry.coordinates[geometry.coordinates.length >> 1] ?? [box[0], box[1]];
  if (geometry.type === 'MultiLineString') {
    const line = geometry.coordinates[geometry.coordinates.length >> 1] ?? [];
    return line[line.length >> 1] ?? [box[0], box[1]];
  }
  if (geometry.type === 'MultiPoint') return geometry.coordinates[0] ?? [box[0], box[1]];
  return [(box[0] + box[2]) / 2, (box[1] + box[3]) / 2];
}

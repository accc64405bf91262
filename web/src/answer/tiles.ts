// The answer as vector tiles, made when the map asks for one: a point for each feature, where many are close together one
// for all of them, and lines and areas, simplified for the zoom. So the map holds what is seen, whatever there is.

import { GeoJSONVT } from '@maplibre/geojson-vt';
import { fromGeojsonVt } from '@maplibre/vt-pbf';
import type { Feature, Geometry, Position } from 'geojson';
import { boxOf } from './geometry';
import { DASHES } from './dashes';
import { intensities } from './heat';
import { TOGETHER, type Look } from './look';
import { stylesheet, type Style } from './mapcss';
import type { Box, Layer, Summary } from './model';
import type { Entry } from './table';

/** The last zoom with tiles of its own. */
export const MAXZOOM = 16;
/** More names than that nobody reads. */
const NAMED = 20_000;
/** Letters of a name: with one of thousands the map draws nothing of its tile. */
const LONGEST = 80;
const EXTENT = 4096;

export class Drawing {
  box: Box | null = null;
  readonly geometries: Summary['geometries'] = { point: 0, line: 0, polygon: 0 };
  unplaced = 0;
  /** The style's colours and their rows. */
  readonly layers: Layer[];
  /** The scale of its heat map (`heat.ts`). */
  readonly heat: number[] | null;
  /** Points, and those of small areas. */
  private readonly points: GeoJSONVT;
  /** Points of lines, for those that are too short to be drawn. */
  private readonly beads: GeoJSONVT;
  private readonly shapes: GeoJSONVT;

  /** `colours` are those of rows of which no style says otherwise; `only` are the rows to draw. */
  constructor(rows: Entry[], look: Look, colours: (string | undefined)[] = [], only: Iterable<number> = rows.keys()) {
    const styled = look.css ? stylesheet(look.css) : null;
    const points: Feature[] = [];
    const beads: Feature[] = [];
    const shapes: Feature[] = [];
    const weigh = weights(rows, look.heat);
    const uses = styled ? new Uint32Array(styled.keys.length) : null;
    for (const i of only) {
      const entry = rows[i];
      if (!entry) continue;
      const { geometry } = entry;
      const own = geometry && boxOf(geometry);
      if (!geometry || !own) {
        this.unplaced += 1;
        continue;
      }
      this.box = this.box ? joined(this.box, own) : own;
      const isPoint = geometry.type === 'Point';
      const isArea = geometry.type === 'Polygon' || geometry.type === 'MultiPolygon';
      this.geometries[isPoint || geometry.type === 'MultiPoint' ? 'point' : isArea ? 'polygon' : 'line'] += 1;
      const style = styled?.style({ type: entry.type, isArea, isClosed: isArea || isRing(geometry), tags: entry.tags });
      if (uses && style?.rule !== undefined) uses[style.rule] = (uses[style.rule] ?? 0) + 1;
      const name = rows.length < NAMED ? (style?.text ?? entry.name)?.slice(0, LONGEST) : undefined;
      // The zoom from which on a shape is larger than some pixels, and needs no point in its place. A line stays a line: its
      // point is as wide as the line, and stands only where the line is shorter than it is wide.
      const pixels = isArea ? 12 : 2;
      const extent = Math.max(own[2] - own[0], (own[3] - own[1]) * 1.3, 1e-9);
      const z = isPoint ? 99 : Math.max(0, Math.log2((pixels * 360) / (512 * extent)));
      const told = Object.fromEntries((look.keys ?? []).map((key) => [key, Object.hasOwn(entry.tags, key) ? entry.tags[key] : undefined]));
      const properties = clean({ ...told, i, z, n: name, c: style?.color ?? colours[i], ...(style && drawn(style)), h: weigh?.(entry) });
      const point: Feature = { type: 'Feature', properties, geometry: { type: 'Point', coordinates: isPoint ? geometry.coordinates : middle(geometry, own) } };
      // A pasted style has points of its own for what are points.
      const isOfPoints = isPoint || geometry.type === 'MultiPoint' || (look.keys === null && (isArea || weigh !== null));
      (isOfPoints ? points : beads).push(point);
      if (!isPoint) shapes.push({ type: 'Feature', properties, geometry });
    }
    this.layers = (styled?.keys ?? []).map((key, i) => ({ ...key, rows: uses?.[i] ?? 0 })).filter(({ rows: number }) => number > 0);
    // What has no value is named last; ranges are in the order of their numbers.
    const place = ({ name }: Layer) => (name === 'other' ? Infinity : name.startsWith('≥') ? Number.MAX_VALUE : name.startsWith('<') ? -Number.MAX_VALUE : /–/.test(name) ? Number.parseFloat(name.replaceAll(',', '')) : 0);
    this.layers.sort((a, b) => (place(a) < place(b) ? -1 : place(a) > place(b) ? 1 : 0));
    this.heat = weigh && intensities(points.map(({ geometry, properties }) => ({ at: geometry.type === 'Point' ? geometry.coordinates : [], weight: Number(properties?.h ?? 0) })));
    const options = { maxZoom: MAXZOOM, extent: EXTENT, buffer: 96, indexMaxZoom: 4, indexMaxPoints: 100_000 };
    const cluster = !weigh && (look.cluster ?? points.length > TOGETHER);
    this.points = new GeoJSONVT({ type: 'FeatureCollection', features: points }, { ...options, cluster, clusterOptions: { maxZoom: 13, minPoints: 3, extent: EXTENT, radius: (44 * EXTENT) / 512 } });
    this.beads = new GeoJSONVT({ type: 'FeatureCollection', features: beads }, options);
    this.shapes = new GeoJSONVT({ type: 'FeatureCollection', features: shapes }, options);
  }

  /** The tile, with the layers `points`, `beads` and `shapes`. */
  tile(z: number, x: number, y: number): ArrayBuffer {
    const layers: Record<string, Tile> = {};
    const points = this.points.getTile(z, x, y);
    const beads = this.beads.getTile(z, x, y);
    const shapes = this.shapes.getTile(z, x, y);
    if (points) layers.points = points;
    if (beads) layers.beads = sparse(beads);
    if (shapes) layers.shapes = shapes;
    const bytes = fromGeojsonVt(layers, { version: 2, extent: EXTENT });
    return bytes.slice().buffer;
  }

  /** The zoom at which what is drawn as one comes apart. */
  apart(cluster: number): number {
    return this.points.getClusterExpansionZoom(cluster) ?? MAXZOOM;
  }
}

type Tile = NonNullable<ReturnType<GeoJSONVT['getTile']>>;

/** Units of a tile in which one point of a line is enough: a pixel. */
const BEAD = EXTENT / 512;

/** The tile with one feature for each pixel. */
function sparse(tile: Tile): Tile {
  const seen = new Set<number>();
  const features = tile.features.filter(({ geometry }) => {
    const [x = 0, y = 0] = (geometry as [number, number][])[0] ?? [];
    const at = Math.floor(x / BEAD) * 4096 + Math.floor(y / BEAD);
    return !seen.has(at) && seen.add(at);
  });
  return { ...tile, features } as Tile;
}

/** Returns the weight of a row on a heat map, from 0 to 1 by the largest number of the tag. */
function weights(rows: Entry[], key: string | null): ((entry: Entry) => number) | null {
  if (key === null) return null;
  if (!key) return () => 1;
  const numberOf = (entry: Entry): number => Math.max(0, Number(entry.tags[key] || NaN)) || 0;
  const most = rows.reduce((largest, entry) => Math.max(largest, numberOf(entry)), 0);
  return (entry) => (most ? numberOf(entry) / most : 1);
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

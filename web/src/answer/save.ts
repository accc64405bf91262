// The answer as files.

import type { Feature, FeatureCollection, Geometry, Position } from 'geojson';
import { each } from './geometry';
import type { Cell } from './model';

export interface Entry {
  title: string;
  properties: Record<string, unknown>;
  id?: string;
  geometry: Geometry | null;
}

export function geojson(entries: Entry[], about: Record<string, string>): string {
  const features = entries.map(({ properties, geometry, id }): Feature<Geometry | null> => ({ type: 'Feature', ...(id ? { id } : {}), properties, geometry }));
  const collection: FeatureCollection<Geometry | null> & Record<string, unknown> = { type: 'FeatureCollection', ...about, features };
  return JSON.stringify(collection);
}

export function csv(columns: string[], rows: Cell[][]): string {
  const field = (text: string) => (/[",\n\r]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text);
  return [columns.map(field), ...rows.map((row) => row.map((cell) => field(cell.text)))].map((line) => line.join(',')).join('\r\n') + '\r\n';
}

/** Points as waypoints, lines and borders as tracks. */
export function gpx(entries: Entry[], copyright: string): string {
  const points: string[] = [];
  const tracks: string[] = [];
  for (const entry of entries) {
    const texts = `<name>${escaped(entry.title)}</name><desc>${escaped(described(entry))}</desc>`;
    const lines: Position[][] = [];
    each(entry.geometry, (point) => points.push(`<wpt lat="${point[1]}" lon="${point[0]}">${texts}</wpt>`), (line) => lines.push(line));
    if (lines.length) {
      const segments = lines.map((line) => `<trkseg>${line.map(([lon, lat]) => `<trkpt lat="${lat}" lon="${lon}"/>`).join('')}</trkseg>`);
      tracks.push(`<trk>${texts}${segments.join('')}</trk>`);
    }
  }
  const head = `<metadata><copyright author="${escaped(copyright)}"/></metadata>`;
  return `<?xml version="1.0" encoding="UTF-8"?>\n<gpx xmlns="http://www.topografix.com/GPX/1/1" version="1.1" creator="Terrapin">\n${head}\n${points.join('\n')}\n${tracks.join('\n')}\n</gpx>\n`;
}

export function kml(entries: Entry[], copyright: string): string {
  const placemarks = entries.flatMap((entry) => {
    const geometry = entry.geometry && kmlGeometry(entry.geometry);
    if (!geometry) return [];
    const data = Object.entries(entry.properties).map(([name, value]) => `<Data name="${escaped(name)}"><value>${escaped(String(value))}</value></Data>`);
    return [`<Placemark><name>${escaped(entry.title)}</name><ExtendedData>${data.join('')}</ExtendedData>${geometry}</Placemark>`];
  });
  return `<?xml version="1.0" encoding="UTF-8"?>\n<kml xmlns="http://www.opengis.net/kml/2.2"><Document>\n<description>${escaped(copyright)}</description>\n${placemarks.join('\n')}\n</Document></kml>\n`;
}

function kmlGeometry(geometry: Geometry): string {
  const at = (positions: Position[]) => `<coordinates>${positions.map(([lon, lat]) => `${lon},${lat}`).join(' ')}</coordinates>`;
  const ring = (positions: Position[]) => `<LinearRing>${at(positions)}</LinearRing>`;
  const polygon = ([outer = [], ...holes]: Position[][]) => `<Polygon><outerBoundaryIs>${ring(outer)}</outerBoundaryIs>${holes.map((hole) => `<innerBoundaryIs>${ring(hole)}</innerBoundaryIs>`).join('')}</Polygon>`;
  const many = (all: string[]) => `<MultiGeometry>${all.join('')}</MultiGeometry>`;
  switch (geometry.type) {
    case 'Point':
      return `<Point>${at([geometry.coordinates])}</Point>`;
    case 'MultiPoint':
      return many(geometry.coordinates.map((position) => `<Point>${at([position])}</Point>`));
    case 'LineString':
      return `<LineString>${at(geometry.coordinates)}</LineString>`;
    case 'MultiLineString':
      return many(geometry.coordinates.map((line) => `<LineString>${at(line)}</LineString>`));
    case 'Polygon':
      return polygon(geometry.coordinates);
    case 'MultiPolygon':
      return many(geometry.coordinates.map(polygon));
    case 'GeometryCollection':
      return many(geometry.geometries.map(kmlGeometry));
  }
}

function described(entry: Entry): string {
  return Object.entries(entry.properties).map(([name, value]) => `${name}=${String(value)}`).join('\n');
}

/** Text in XML, without the control characters that XML has no way to write. */
function escaped(text: string): string {
  // eslint-disable-next-line no-control-regex
  return text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '').replace(/[&<>"]/g, (sign) => `&${{ '&': 'amp', '<': 'lt', '>': 'gt', '"': 'quot' }[sign]};`);
}

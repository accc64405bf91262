import { describe, expect, it } from 'vitest';
import { wkt } from '../src/answer/wkt';

// OGC 06-103r4 (Simple Features), 7.2; GeoSPARQL 1.1, 8.5.1 for the system of coordinates.
describe('well-known text', () => {
  it.each([
    ['POINT(14.5 35.9)', { type: 'Point', coordinates: [14.5, 35.9] }],
    ['Point Z (1 2 3)', { type: 'Point', coordinates: [1, 2] }],
    ['LINESTRING(1 2, 3 4)', { type: 'LineString', coordinates: [[1, 2], [3, 4]] }],
    ['POLYGON((0 0,1 0,1 1,0 0),(0.1 0.1,0.2 0.1,0.2 0.2,0.1 0.1))', { type: 'Polygon', coordinates: [[[0, 0], [1, 0], [1, 1], [0, 0]], [[0.1, 0.1], [0.2, 0.1], [0.2, 0.2], [0.1, 0.1]]] }],
    ['MULTIPOINT((1 2),(3 4))', { type: 'MultiPoint', coordinates: [[1, 2], [3, 4]] }],
    ['MULTIPOINT(1 2,3 4)', { type: 'MultiPoint', coordinates: [[1, 2], [3, 4]] }],
    ['MULTIPOLYGON(((0 0,1 0,1 1,0 0)))', { type: 'MultiPolygon', coordinates: [[[[0, 0], [1, 0], [1, 1], [0, 0]]]] }],
    ['GEOMETRYCOLLECTION(POINT(1 2),LINESTRING(1 2,3 4))', { type: 'GeometryCollection', geometries: [{ type: 'Point', coordinates: [1, 2] }, { type: 'LineString', coordinates: [[1, 2], [3, 4]] }] }],
    ['<http://www.opengis.net/def/crs/EPSG/0/4326> POINT(35.9 14.5)', { type: 'Point', coordinates: [14.5, 35.9] }],
    ['<http://www.opengis.net/def/crs/OGC/1.3/CRS84> POINT(14.5 35.9)', { type: 'Point', coordinates: [14.5, 35.9] }],
    ['<http://www.wikidata.org/entity/Q2> POINT(1e1 -2.5)', { type: 'Point', coordinates: [10, -2.5] }],
  ])('%s', (text, geometry) => expect(wkt(text)).toEqual(geometry));

  it.each(['', 'POINT(1)', 'POINT(1 2', 'CIRCLE(1 2)', 'POINT(1 2) POINT(3 4)', '<http://www.wikidata.org/entity/Q405> POINT(1 2)'])('is none: %s', (text) => expect(wkt(text)).toBeNull());
});

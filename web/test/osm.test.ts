import { describe, expect, it } from 'vitest';
import { assemble, readXml, type Element } from '../src/answer/osm';

const geometries = (elements: unknown[]) => assemble(elements as Element[]).map(({ geometry }) => geometry);
const way = (id: number, ...places: [number, number][]) => ({ type: 'way', ref: id, role: 'outer', geometry: places.map(([lon, lat]) => ({ lon, lat })) });

// https://wiki.openstreetmap.org/wiki/Overpass_API/Overpass_QL#Geometry_output
describe('geometries of elements', () => {
  it('of nodes, centres and boxes', () => {
    expect(geometries([{ type: 'node', id: 1, lat: 2, lon: 3 }])).toEqual([{ type: 'Point', coordinates: [3, 2] }]);
    expect(geometries([{ type: 'way', id: 1, center: { lat: 2, lon: 3 } }])).toEqual([{ type: 'Point', coordinates: [3, 2] }]);
    expect(geometries([{ type: 'way', id: 1, bounds: { minlat: 0, minlon: 1, maxlat: 2, maxlon: 3 } }])[0]).toMatchObject({ type: 'Polygon' });
    expect(geometries([{ type: 'way', id: 1 }])).toEqual([null]);
  });

  it('of ways by their nodes, which are then no rows', () => {
    const answer = [{ type: 'way', id: 9, nodes: [1, 2] }, { type: 'node', id: 1, lat: 0, lon: 0 }, { type: 'node', id: 2, lat: 1, lon: 1 }, { type: 'node', id: 3, lat: 5, lon: 5 }];
    expect(geometries(answer)).toEqual([{ type: 'LineString', coordinates: [[0, 0], [1, 1]] }, { type: 'Point', coordinates: [5, 5] }]);
  });

  it('of relations with a hole, in pieces that are laid end to end', () => {
    const outer = [way(1, [0, 0], [9, 0], [9, 9]), way(2, [0, 0], [0, 9], [9, 9])];
    const hole = { ...way(3, [1, 1], [2, 1], [2, 2], [1, 1]), role: 'inner' };
    const [found] = geometries([{ type: 'relation', id: 1, tags: { type: 'multipolygon' }, members: [...outer, hole] }]);
    expect(found).toMatchObject({ type: 'Polygon' });
    expect((found as unknown as { coordinates: unknown[] }).coordinates).toHaveLength(2);
    const [open] = geometries([{ type: 'relation', id: 1, tags: { type: 'multipolygon' }, members: outer.slice(0, 1) }]);
    expect(open).toMatchObject({ type: 'MultiLineString' });
  });

  it('of an element that is printed twice', () => {
    const both = assemble([{ type: 'node', id: 1, lat: 0, lon: 0 }, { type: 'node', id: 1, tags: { a: 'b' } }] as Element[]);
    expect(both).toHaveLength(1);
    expect(both[0]?.element.tags).toEqual({ a: 'b' });
  });
});

it('XML is read as JSON is', () => {
  const { elements, remark } = readXml('<?xml version="1.0"?>\n<osm>\n<remark> it stopped </remark>\n  <node id="1" lat="2" lon="3">\n    <tag k="name" v="A &amp; &#66;"/>\n  </node>\n  <way id="4"><nd ref="1" lat="2" lon="3"/><nd ref="2" lat="4" lon="5"/></way>\n</osm>');
  expect(remark).toBe('it stopped');
  expect(elements[0]).toMatchObject({ type: 'node', id: 1, lat: 2, lon: 3, tags: { name: 'A & B' } });
  expect(geometries(elements)[1]).toEqual({ type: 'LineString', coordinates: [[3, 2], [5, 4]] });
});

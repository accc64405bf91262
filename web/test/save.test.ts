import { describe, expect, it } from 'vitest';
import { csv, geojson, gpx, kml, type Entry } from '../src/answer/save';

const cafe: Entry = { title: 'Bean & <Leaf>', id: 'node/1', properties: { '@id': 'node/1', name: 'Bean' }, geometry: { type: 'Point', coordinates: [14.5, 35.9] } };
const square: Entry = { title: 'Square', properties: {}, geometry: { type: 'Polygon', coordinates: [[[0, 0], [1, 0], [1, 1], [0, 0]], [[0.1, 0.1], [0.2, 0.1], [0.2, 0.2], [0.1, 0.1]]] } };

describe('files', () => {
  it('CSV as RFC 4180 has it', () => expect(csv(['id', 'a "b"'], [[{ text: '1' }, { text: 'x,y' }], [{ text: '' }, { text: 'line\nbreak' }]])).toBe('id,"a ""b"""\r\n1,"x,y"\r\n,"line\nbreak"\r\n'));

  it('GeoJSON as RFC 7946 has it', () => {
    const file = JSON.parse(geojson([cafe], { copyright: 'ODbL' }));
    expect(file).toEqual({ type: 'FeatureCollection', copyright: 'ODbL', features: [{ type: 'Feature', id: 'node/1', properties: cafe.properties, geometry: cafe.geometry }] });
  });

  it('GPX 1.1: points are waypoints, borders tracks, in order of latitude first', () => {
    const file = gpx([cafe, square], 'ODbL');
    expect(file).toContain('<wpt lat="35.9" lon="14.5"><name>Bean &amp; &lt;Leaf&gt;</name>');
    expect(file.match(/<trkseg>/g)).toHaveLength(2);
    expect(file).toContain('xmlns="http://www.topografix.com/GPX/1/1"');
  });

  it('KML 2.2: holes are inner boundaries', () => {
    const file = kml([cafe, square], 'ODbL');
    expect(file).toContain('<Point><coordinates>14.5,35.9</coordinates></Point>');
    expect(file.match(/<innerBoundaryIs>/g)).toHaveLength(1);
    expect(file).toContain('<Data name="name"><value>Bean</value></Data>');
  });

  it('have no characters that XML does not allow', () => expect(gpx([{ ...cafe, title: 'a\u0000b\u001fc' }], '')).toContain('<name>abc</name>'));
});

import { PLAIN } from '../src/answer/look';
import { describe, expect, it } from 'vitest';
import { cellOfTag, cellOfTerm, read } from '../src/answer/table';
import type { Asked } from '../src/answer/model';

const asked = (language: Asked['language'], query = ''): Asked => ({ language, query, headers: {}, look: PLAIN, triples: true, languages: ['en'] });
const texts = (found: ReturnType<typeof read>) => found.rows.map((row) => found.columns.map((_, i) => row.cell(i, found.columns).text));

describe('answers as rows', () => {
  it('elements: the id, the name, then the most used keys', () => {
    const answer = { elements: [{ type: 'node', id: 1, lat: 0, lon: 0, tags: { shop: 'a' } }, { type: 'node', id: 2, lat: 0, lon: 0, tags: { amenity: 'x', shop: 'b', name: 'N' } }] };
    const found = read(JSON.stringify(answer), 'application/json', asked('overpassql'));
    expect(found.columns).toEqual(['id', 'name', 'shop', 'amenity']);
    expect(texts(found)).toEqual([['node/1', '', 'a', ''], ['node/2', 'N', 'b', 'x']]);
    expect(found.types).toEqual({ node: 2 });
  });

  it('keys beyond the fortieth have no column', () => {
    const tags = Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`k${i}`, 'v']));
    const found = read(JSON.stringify({ elements: [{ type: 'node', id: 1, tags }] }), 'application/json', asked('overpassql'));
    expect([found.columns.length, found.others.length]).toEqual([41, 20]);
  });

  it('keys and variables may be called as what every object has', () => {
    const found = read('{"elements":[{"type":"node","id":1,"tags":{"constructor":"a","__proto__":"b"}}]}', 'application/json', asked('overpassql'));
    expect(texts(found)[0]).toContain('a');
  });

  // https://www.w3.org/TR/sparql11-results-json/
  it('solutions, with a place by WKT or by two columns', () => {
    const wkt = { type: 'literal', value: 'Point(14.5 35.9)', datatype: 'http://www.opengis.net/ont/geosparql#wktLiteral' };
    const answer = (bindings: unknown[], vars = ['item', 'place']) => JSON.stringify({ head: { vars }, results: { bindings } });
    const found = read(answer([{ item: { type: 'uri', value: 'http://www.wikidata.org/entity/Q1' }, place: wkt }, {}]), 'application/sparql-results+json', asked('sparql'));
    expect(found.rows.map((row) => row.geometry)).toEqual([{ type: 'Point', coordinates: [14.5, 35.9] }, null]);
    expect(found.rows[0]?.href).toBe('/entity/Q1');
    const number = (value: string) => ({ type: 'literal', value });
    const pair = read(answer([{ lat: number('35.9'), lon: number('14.5') }], ['lat', 'lon']), 'application/sparql-results+json', asked('sparql'));
    expect(pair.rows[0]?.geometry).toEqual({ type: 'Point', coordinates: [14.5, 35.9] });
    expect(texts(read('{"head":{},"boolean":true}', 'application/sparql-results+json', asked('sparql')))).toEqual([['true']]);
  });

  it('lines by [out:csv]', () => {
    const query = '[out:csv(::type,::id,name,::lat,::lon;true;"|")];node;out;';
    const found = read('@type|@id|name|@lat|@lon\nnode|5|A|1|2\n', 'text/csv', asked('overpassql', query));
    expect(texts(found)).toEqual([['node', '5', 'A', '1', '2']]);
    expect(found.rows[0]?.geometry).toEqual({ type: 'Point', coordinates: [2, 1] });
    expect(found.rows[0]?.cell(1, found.columns).href).toBe('/node/5');
  });
});

describe('where values lead', () => {
  it.each([
    ['wikidata', 'Q42', '/entity/Q42'],
    ['operator:wikidata', 'Q42', '/entity/Q42'],
    ['website', 'https://example.org/', 'https://example.org/'],
    ['website', 'javascript:alert(1)', undefined],
    ['name', 'Q42', undefined],
  ])('%s=%s', (key, value, href) => expect(cellOfTag(key, value).href).toBe(href));

  it.each([
    ['http://www.wikidata.org/entity/Q42', 'Q42', '/entity/Q42'],
    ['http://www.wikidata.org/prop/direct/P31', 'P31', '/entity/P31'],
    ['https://www.openstreetmap.org/way/7', 'way/7', '/way/7'],
    ['https://osm2rdf.cs.uni-freiburg.de/rdf/geom#osm_rel_7', 'osm_rel_7', '/relation/7'],
    ['urn:x:y', 'urn:x:y', undefined],
  ])('%s', (value, text, href) => expect(cellOfTerm({ type: 'uri', value })).toEqual({ text, href }));
});

import { afterEach, describe, expect, it, vi } from 'vitest';
import { Unknown, expand } from '../src/shortcuts';

const around = { bbox: [35.8, 14.3, 36, 14.6] as [number, number, number, number], now: '2024-01-31T00:00:00Z' };
const text = async (query: string) => (await expand(query, around)).text;

afterEach(() => vi.unstubAllGlobals());

/** Answers of `/search`. */
function places(...found: Record<string, unknown>[]): void {
  vi.stubGlobal('fetch', async () => new Response(JSON.stringify(found), { headers: { 'content-type': 'application/json' } }));
}

// https://wiki.openstreetmap.org/wiki/Overpass_turbo/Extended_Overpass_Turbo_Queries
describe('shortcuts', () => {
  it('of the map', async () => {
    expect(await text('node({{bbox}});out;')).toBe('node(35.8,14.3,36,14.6);out;');
    expect(await text('{{wsen}}')).toBe('14.3,35.8,14.6,36');
    expect(await text('node(around:9,{{center}});')).toBe('node(around:9,35.9,14.45);');
    expect(await text('<bbox-query {{bbox}}/>')).toBe('<bbox-query s="35.8" w="14.3" n="36" e="14.6"/>');
  });

  it('of dates count from the time of the data', async () => {
    expect(await text('{{date}}')).toBe('2024-01-31T00:00:00Z');
    expect(await text('{{date:1 day}}')).toBe('2024-01-30T00:00:00Z');
    expect(await text('{{date:2 weeks}}')).toBe('2024-01-17T00:00:00Z');
    await expect(expand('{{date:soon}}', around)).rejects.toThrow(Unknown);
  });

  it('of definitions, which may use each other', async () => {
    expect(await text('{{key=amenity}}{{tag={{key}}=cafe}}node[{{tag}}];')).toBe('node[amenity=cafe];');
    await expect(expand('{{a={{a}}}}{{a}}', around)).rejects.toThrow(/definitions/);
  });

  it('of places', async () => {
    places({ name: 'Valletta', osm_type: 'relation', osm_id: 7510580, lat: '35.9', lon: '14.5', boundingbox: ['1', '2', '3', '4'] });
    expect(await text('{{geocodeArea:Valletta}}')).toBe('area(3607510580)');
    expect(await text('{{geocodeId:Valletta}}')).toBe('relation(7510580)');
    expect(await text('node({{geocodeBbox:Valletta}});')).toBe('node(1,3,2,4);');
    expect(await text('{{geocodeCoords:Valletta}}')).toBe('35.9,14.5');
    places({ name: 'Valletta', osm_type: 'relation', osm_id: 1, lat: '0', lon: '0', boundingbox: ['1', '2', '3', '4'] });
    expect((await expand('{{geocodeArea:Vallettaa}}', around)).guessed).toEqual([{ name: 'Vallettaa', place: 'Valletta' }]);
    places();
    await expect(expand('{{geocodeArea:Atlantis}}', around)).rejects.toThrow(/no place of this name/);
  });

  it('of styles are taken out, and of other servers remarked', async () => {
    expect(await expand('node(1);out;{{style: node { color: red }}}', around)).toMatchObject({ text: 'node(1);out;', style: 'node { color: red }' });
    expect((await expand('{{data:overpass,server=//example.org/}}node(1);', around)).elsewhere).toBe(true);
    await expect(expand('{{data:sql}}', around)).rejects.toThrow(Unknown);
  });

  it('that are unknown stay', async () => expect(await text('{{what}} {{bbox:x}}')).toBe('{{what}} {{bbox:x}}'));
});

it('places of the replaced text are found again', async () => {
  const query = 'node[a=b]({{bbox}});out;';
  const { text, origin } = await expand(query, around);
  expect(origin(text.indexOf('a=b'))).toBe(query.indexOf('a=b'));
  expect(origin(text.indexOf('35.8'))).toBe(query.indexOf('{{bbox}}'));
  expect(origin(text.indexOf(');out'))).toBe(query.indexOf(');out'));
});

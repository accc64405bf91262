import { describe, expect, it } from 'vitest';
import { looksLikeSparql, read, write } from '../src/link';

const at = (path: string) => read(new URL(path, 'http://localhost') as unknown as Location);

describe('links', () => {
  it('come back as they were written', () => {
    const link = { query: 'node[name="Café & Co"]({{bbox}});\nout;', language: 'overpassql' as const, view: [35.9, 14.5, 13] as [number, number, number], run: true, snapshot: '0e4326ec' };
    expect(at(write(link))).toMatchObject(link);
    expect(at(write({ query: 'SELECT * {}', language: 'sparql', run: false }))).toMatchObject({ query: 'SELECT * {}', language: 'sparql', run: false });
  });

  // https://wiki.openstreetmap.org/wiki/Overpass_turbo/Development#URL_Parameters
  it('of overpass-turbo are read', () => {
    expect(at('/?Q=node%5Bamenity%3Dcafe%5D%3Bout%3B&C=41.9;12.5;14&R')).toMatchObject({ query: 'node[amenity=cafe];out;', language: 'overpassql', view: [41.9, 12.5, 14], run: true });
    expect(at('/?lat=41.9&lon=12.5&zoom=14').view).toEqual([41.9, 12.5, 14]);
    expect(at('/?C=91;12;3').view).toBeUndefined();
    // The wizard's words are understood by the server.
    expect(at('/?w=amenity%3Dcafe').words).toBe('amenity=cafe');
    expect(at('/?w=amenity%3Dcafe').query).toBeUndefined();
    expect(at('/?template=unknown').problem).toContain('unknown');
  });

  it('of the Wikidata Query Service are read', () => {
    expect(at(`/#${encodeURIComponent('SELECT ?x WHERE { ?x wdt:P31 wd:Q146 }')}`)).toMatchObject({ query: 'SELECT ?x WHERE { ?x wdt:P31 wd:Q146 }', language: 'sparql' });
  });
});

describe('the language of a text', () => {
  it.each([
    ['# a comment\nPREFIX wd: <x> SELECT * {}', true],
    ['select ?x { }', true],
    ['node[amenity=cafe];out;', false],
    ['[out:json];node(1);out;', false],
    ['', false],
  ])('%s', (text, is) => expect(looksLikeSparql(text)).toBe(is));
});

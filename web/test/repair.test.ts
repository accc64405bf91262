import { describe, expect, it } from 'vitest';
import { otherLanguage } from '../src/repair/language';
import { repaired } from '../src/repair/repairs';
import { expand } from '../src/shortcuts';

const around = { bbox: [35.8, 14.3, 36, 14.6] as [number, number, number, number], now: '2024-01-31T00:00:00Z' };

/** The query with the text at `wanted`, in the query as it is sent, replaced. */
async function edited(text: string, wanted: string, by: string): Promise<string> {
  const { text: query, origin } = await expand(text, around);
  const bytes = (part: string) => new TextEncoder().encode(part).length;
  const start = bytes(query.slice(0, query.indexOf(wanted)));
  return repaired([{ start, end: start + bytes(wanted), text: by }], { language: 'overpassql', text, query, origin });
}

describe('repairs of a query that was sent without its shortcuts', () => {
  it('edit what the user wrote', async () => {
    expect(await edited('node[name="ż"][amenity=coffee]({{bbox}});out;', '[amenity=coffee]', '[shop=coffee]')).toBe('node[name="ż"][shop=coffee]({{bbox}});out;');
    expect(await edited('node[a=b]({{bbox}});out;', '(35.8,14.3,36,14.6)', '')).toBe('node[a=b];out;');
    expect(await edited('node[{{k=x}}a]({{bbox}})[b];out;', '[b]', '[c]')).toBe('node[{{k=x}}a]({{bbox}})[c];out;');
  });

  it('add an output before a style', async () => {
    const text = 'node[a=b];{{style: node { color: red } }}';
    const { text: query, origin } = await expand(text, around);
    expect(repaired([{ start: query.length, end: query.length, text: '\nout;' }], { language: 'overpassql', text, query, origin })).toBe('node[a=b];\nout;{{style: node { color: red } }}');
  });
});

describe('the language of a text', () => {
  it.each([
    ['SELECT * WHERE { ?x ?y ?z }', 'overpassql', 'sparql'],
    ['PREFIX a: <b> ASK { ?x ?y ?z }', 'overpassql', 'sparql'],
    ['SELECT name FROM cafes', 'overpassql', null],
    ['node[amenity=cafe];out;', 'overpassql', null],
    ['node[amenity=cafe];out;', 'sparql', 'overpassql'],
    ['// cafés\n[out:json];nwr(1);out;', 'sparql', 'overpassql'],
    ['<osm-script><query type="node"/></osm-script>', 'sparql', 'overpassql'],
    ['(node(1);way(2););out;', 'sparql', 'overpassql'],
    ['SELECT * { ?x ?y ?z }', 'sparql', null],
    ['', 'sparql', null],
  ] as const)('%s in the tab of %s', (text, chosen, other) => expect(otherLanguage(text, chosen)).toBe(other));
});

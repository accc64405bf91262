import { expect, test } from 'vitest';
import { PLAIN } from '../src/answer/look';
import { firstLook, lookOf } from '../src/style/written';

test('an answer is drawn as a heat map at once if its query says so', () => {
  const sparql = (options: string) => firstLook('sparql', `#defaultView:Map${options}\nSELECT * {}`, '');
  expect(sparql('{"heat":true,"palette":"viridis","size":"?n"}')).toEqual(lookOf('canvas { -x-heat: viridis; -x-weight: n; }').look);
  expect(sparql('{"heat":true}').heat).toBe('');
  const style = 'canvas { -x-heat: viridis; -x-cluster: no; }';
  expect(firstLook('overpassql', 'node(1);out;', style)).toEqual(lookOf(style).look);
});

test('colours and sizes wait for the values; what cannot be read is no look', () => {
  for (const text of ['#defaultView:Map{"colour":"?n"}', '#defaultView:Map{"heat":tru}', '#defaultView:Graph', 'SELECT * {}']) {
    expect(firstLook('sparql', text, '')).toEqual(PLAIN);
  }
});

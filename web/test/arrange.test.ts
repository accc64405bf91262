import { PLAIN } from '../src/answer/look';
import { describe, expect, it } from 'vitest';
import { arranged, facets } from '../src/answer/arrange';
import { conditionOn } from '../src/answer/filter';
import { read } from '../src/answer/table';

const places = [
  { name: 'Café Royal', cuisine: 'italian;pizza', seats: '12', opened: '1999-05-01' },
  { name: 'Royal Hotel', cuisine: 'italian', seats: '9' },
  { name: 'Bean', cuisine: 'coffee_shop', seats: '100', 'addr:street': 'Old Road' },
  { name: 'Leaf' },
];
const found = read(JSON.stringify({ elements: places.map((tags, i) => ({ type: 'node', id: i + 1, lat: 0, lon: 0, tags })) }), 'application/json', { language: 'overpassql', query: '', headers: {}, look: PLAIN, triples: false, languages: ['en'] });
const names = (filter: string, sort = '', descending = false) => [...arranged(found, { column: found.columns.indexOf(sort), descending, filter })].map((i) => found.rows[i]?.title);

describe('the filter of the table', () => {
  it.each([
    ['', ['Café Royal', 'Royal Hotel', 'Bean', 'Leaf']],
    ['royal', ['Café Royal', 'Royal Hotel']],
    ['royal pizza', ['Café Royal']],
    ['"old road"', ['Bean']],
    ['-royal', ['Bean', 'Leaf']],
    ['cuisine=italian', ['Royal Hotel']],
    ['cuisine=ITALIAN', ['Royal Hotel']],
    ['Cuisine=italian', ['Royal Hotel']],
    ['cuisine=italian*', ['Café Royal', 'Royal Hotel']],
    ['cuisine!=italian', ['Café Royal', 'Bean', 'Leaf']],
    ['cuisine:shop', ['Bean']],
    ['cuisine=""', ['Leaf']],
    ['addr:street="Old Road"', ['Bean']],
    ['seats>10', ['Café Royal', 'Bean']],
    ['seats<=12', ['Café Royal', 'Royal Hotel']],
    ['opened<2000', ['Café Royal']],
    ['-cuisine=italian* -leaf', ['Bean']],
    ['cuisine=', ['Café Royal', 'Royal Hotel', 'Bean', 'Leaf']],
    ['nothing=x', []],
    ['"half', []],
    ['id=node/3', ['Bean']],
  ])('%s', (filter, wanted) => expect(names(filter)).toEqual(wanted));

  it('takes a condition as it is written for a value', () => {
    for (const value of ['Old Road', 'a"b', 'x*y', '', 'plain']) expect(conditionOn('addr:street', value)).toMatch(/^addr:street=/);
    expect(names(conditionOn('addr:street', 'Old Road'))).toEqual(['Bean']);
    expect(names(conditionOn('cuisine', 'italian;pizza'))).toEqual(['Café Royal']);
  });
});

it('rows are sorted as numbers where they are, and what has no value is last', () => {
  expect(names('', 'seats')).toEqual(['Royal Hotel', 'Café Royal', 'Bean', 'Leaf']);
  expect(names('', 'seats', true)).toEqual(['Bean', 'Café Royal', 'Royal Hotel', 'Leaf']);
});

it('facets count the rows that are left', () => {
  const order = arranged(found, { column: -1, descending: false, filter: 'royal' });
  expect(facets(found, order, found.columns.indexOf('cuisine'))).toEqual({ values: [{ text: 'italian', rows: 1 }, { text: 'italian;pizza', rows: 1 }], others: 0, empty: 0 });
  expect(facets(found, Uint32Array.of(0, 1, 2, 3), found.columns.indexOf('cuisine')).empty).toBe(1);
});

import { describe, expect, it } from 'vitest';
import { columnsOf, commons, dataOf, imagesOf, timeOf, type ChartColumn } from '../src/answer/columns';
import { read } from '../src/answer/table';
import { datesOf } from '../src/answer/dates';
import { fitting, KINDS, NONE, optionsOf, rolesOf, ROWS, viewOf, withView, type Kind } from '../src/charts/kinds';
import { branches, inkOn } from '../src/charts/nested';
import { PLAIN } from '../src/answer/look';

const XSD = 'http://www.w3.org/2001/XMLSchema#';
const uri = (value: string) => ({ type: 'uri', value });
const text = (value: string) => ({ type: 'literal', value });
const typed = (value: string, type: string) => ({ type: 'literal', value, datatype: XSD + type });
const answer = (vars: string[], bindings: object[]) => read(JSON.stringify({ head: { vars }, results: { bindings } }), 'application/sparql-results+json', { language: 'sparql', query: '', headers: {}, look: PLAIN, triples: true, languages: ['en'] });
const order = (found: { rows: unknown[] }) => Uint32Array.from(found.rows, (_, i) => i);
const column = (index: number, name: string, type: ChartColumn['type'], distinct = 5, filled = 10): ChartColumn => ({ index, name, type, distinct, filled });

describe('columns', () => {
  const found = answer(['city', 'cityLabel', 'population', 'founded', 'year', 'picture', 'where'], [
    { city: uri('http://www.wikidata.org/entity/Q1'), cityLabel: text('A'), population: typed('10', 'integer'), founded: typed('1900-01-01T00:00:00Z', 'dateTime'), year: text('1999'), picture: uri('http://commons.wikimedia.org/wiki/Special:FilePath/A%20b.jpg'), where: { type: 'literal', value: 'Point(1 2)', datatype: 'http://www.opengis.net/ont/geosparql#wktLiteral' } },
    { city: uri('http://www.wikidata.org/entity/Q2'), cityLabel: text('B'), population: typed('20', 'integer'), year: text('2000') },
  ]);

  it('have types by their values', () => {
    expect(columnsOf(found).map(({ type }) => type)).toEqual(['thing', 'text', 'number', 'date', 'number', 'image', 'other']);
  });

  it('give numbers, and dates in milliseconds', () => {
    expect(dataOf(found, order(found), [1, 2, 3], false).rows.map(({ values }) => values)).toEqual([['A', 10, Date.UTC(1900, 0, 1)], ['B', 20, null]]);
  });

  it('are counted by their values', () => {
    const same = answer(['kind'], [{ kind: text('x') }, { kind: text('y') }, { kind: text('x') }]);
    expect(dataOf(same, order(same), [0], true).rows.map(({ values, index }) => [...values, index])).toEqual([['x', 2, 0], ['y', 1, 1]]);
  });

  it('name images of Commons', () => {
    const { images } = imagesOf(found, order(found), ['population']);
    expect(images).toEqual([{ index: 0, title: 'A', name: 'A b.jpg', page: 'https://commons.wikimedia.org/wiki/File:A_b.jpg', pairs: [['founded', '1900-01-01T00:00:00Z'], ['year', '1999']] }]);
    expect(commons('File:X.svg', 'wikimedia_commons')).toBe('X.svg');
    expect(commons('https://upload.wikimedia.org/wikipedia/commons/thumb/a/a9/X_y.png/300px-X_y.png')).toBe('X y.png');
    expect(commons('http://commons.wikimedia.org/wiki/Special:FilePath/Sound.ogg')).toBeNull();
    expect(commons('https://example.org/X.jpg')).toBeNull();
    expect(commons('http://commons.wikimedia.org/wiki/Special:FilePath/100%.jpg')).toBe('100%.jpg');
  });

  it('have the types of the whole answer in any order and under any filter', () => {
    const mixed = answer(['n', 'when', 'late'], [
      ...Array.from({ length: 19 }, (_, i) => ({ n: text(String(i)), when: typed(`2001-01-${10 + i}T00:00:00Z`, 'dateTime') })),
      { n: text('unknown'), when: text('soon'), late: typed('2001-01-01T00:00:00Z', 'dateTime') },
    ]);
    const whole = columnsOf(mixed);
    for (const rows of [Uint32Array.of(19), order(mixed).reverse(), Uint32Array.of()]) {
      const { rows: read } = dataOf(mixed, rows, [0, 1], false);
      expect(read.filter(({ index }) => index === 19).map(({ values }) => values)).toEqual(rows.length ? [[null, null]] : []);
      expect(columnsOf(mixed)).toBe(whole);
      expect(datesOf(mixed, rows)?.column).toBe('when');
    }
    expect(datesOf(mixed, Uint32Array.of(0, 19))).toMatchObject({ rows: [{ index: 0 }], left: { valueless: 1 } });
  });

  it('leave out rows by the reason', () => {
    const numbers = answer(['n'], Array.from({ length: 5003 }, (_, i) => ({ n: text(String(i)) })));
    expect(dataOf(numbers, order(numbers), [0], false)).toMatchObject({ rows: { length: 5000 }, left: { overRows: 3 } });
    const twice = answer(['n'], [...Array.from({ length: 10_005 }, (_, i) => ({ n: text(`${i >> 1}`) })), {}]);
    // Two rows of each group but of the last one, and one row without a value.
    expect(dataOf(twice, order(twice), [0], true).left).toEqual({ overRows: 5, valueless: 1 });
  });

  it('keep long texts apart', () => {
    const long = (end: string) => ({ n: text('x'.repeat(200) + end) });
    const values = (counted: boolean) => dataOf(answer(['n'], [long('a'), long('b'), long('a')]), Uint32Array.of(0, 1, 2), [0], counted).rows.map((one) => one.values);
    expect(new Set(values(false).map(([value]) => value)).size).toBe(2);
    expect(values(true).map((one) => one[1])).toEqual([2, 1]);
  });

  it('have dates before the year 1 and without a day', () => {
    expect(new Date(timeOf('-0043-03-15T00:00:00Z') ?? 0).toISOString()).toBe('-000043-03-15T00:00:00.000Z');
    expect(timeOf('1969-00-00T00:00:00Z')).toBe(Date.UTC(1969, 0, 1));
    expect(timeOf('2001')).toBe(Date.UTC(2001, 0, 1));
    expect(timeOf('unknown')).toBeNull();
  });
});

// The columns of each view: Wikidata:SPARQL query service/Wikidata Query Help/Result Views.
describe('charts', () => {
  const [thing, label, number, second, date] = [column(0, 'city', 'thing'), column(1, 'cityLabel', 'text'), column(2, 'population', 'number'), column(3, 'area', 'number'), column(4, 'founded', 'date')];

  it('fit columns', () => {
    expect(fitting([label, number])).toEqual(['bar', 'bubble', 'treemap']);
    expect(fitting([number, second])).toEqual(['bar', 'line', 'area', 'scatter']);
    expect(fitting([label, number, date])).toEqual(['bar', 'line', 'area', 'scatter', 'bubble', 'treemap', 'dimensions']);
    expect(fitting([column(0, 'a', 'text'), column(1, 'b', 'text')])).toEqual(['bar', 'tree', 'treemap']);
    expect(fitting([column(0, 'name', 'text', 10, 10)])).toEqual([]);
    expect(fitting([column(0, 'picture', 'image'), column(1, 'where', 'other')])).toEqual([]);
  });

  it('take the first number across, the second up, a text as the colour', () => {
    expect(rolesOf('scatter', [number, second, label])).toMatchObject({ x: 2, y: 3, colour: 1 });
    expect(rolesOf('line', [date, number, label])).toMatchObject({ x: 4, y: 2, colour: 1 });
  });

  it('take names across where there is one number', () => {
    expect(rolesOf('bar', [thing, label, number])).toMatchObject({ x: 1, y: 2, colour: NONE });
    expect(rolesOf('bar', [number, label])).toMatchObject({ x: 1, y: 2 });
  });

  it('count rows where there is no number', () => {
    expect(rolesOf('bar', [label])).toMatchObject({ x: 1, y: ROWS });
    expect(rolesOf('treemap', [label])).toMatchObject({ y: ROWS, levels: [1] });
  });

  it('give bars names across and amounts as lengths', () => {
    const [year, id] = [column(5, 'year', 'number'), column(6, 'cityId', 'number')];
    expect(rolesOf('bar', [number, date, label])).toMatchObject({ x: 1, y: 2 });
    expect(rolesOf('bar', [number, second, label])).toMatchObject({ x: 1, y: 2 });
    expect(rolesOf('bar', [number, second, date])).toMatchObject({ x: 4, y: 2 });
    expect(rolesOf('bar', [number, second])).toMatchObject({ x: 2, y: 3 });
    // `SELECT *` has groups before the names of single rows.
    const island = column(7, 'island', 'text', 2, 4);
    const town = column(8, 'town', 'text', 4, 4);
    expect(rolesOf('bar', [second, island, number, town])).toMatchObject({ x: 8, y: 3, colour: 7 });
    // Years and identifiers are names.
    expect(rolesOf('bar', [year, number, label])).toMatchObject({ x: 5, y: 2, colour: 1 });
    expect(rolesOf('bar', [label, id, year, number])).toMatchObject({ x: 1, y: 2 });
    expect(rolesOf('bubble', [label, id, number])).toMatchObject({ x: 1, y: 2 });
    expect(rolesOf('treemap', [label, id, number])).toMatchObject({ y: 2, levels: [1] });
    // What the query names comes first, also for what is chosen after it.
    expect(rolesOf('bar', [number, second, label], { x: 'population' })).toMatchObject({ x: 2, y: 3, colour: 1 });
    expect(rolesOf('bar', [number, second, label], { x: 'cityLabel' })).toMatchObject({ x: 1, y: 2, colour: NONE });
  });

  it('are the same after all choices are written into the query and read', () => {
    const columns = [label, number, second, date, column(7, 'kindLabel', 'text')];
    const choices = [ROWS, NONE, ...columns.map(({ index }) => index)];
    let tried = 0;
    for (const kind of Object.keys(KINDS) as Kind[])
      for (const hide of [[], ['area']])
        for (const part of ['x', 'y', 'colour'] as const)
          for (const choice of choices) {
            // What the selectors of the view offer: rows are counted by bars and areas, and only a colour can be missing.
            const own = rolesOf(kind, columns, { hide });
            const isOffered = choice === ROWS ? part === 'y' && (kind === 'bar' || kind === 'treemap') : choice === NONE ? part === 'colour' : columns.some(({ index, name }) => index === choice && !hide.includes(name));
            if (!isOffered || (own[part] === NONE && (part !== 'colour' || kind === 'tree' || kind === 'treemap')) || (kind === 'treemap' && part !== 'y')) continue;
            const roles = { ...own, [part]: choice };
            const written = withView('SELECT * {}', KINDS[kind], optionsOf(kind, roles, columns, hide));
            expect(rolesOf(kind, columns, viewOf(written)), written).toEqual(roles);
            expect(viewOf(written).hide).toEqual(hide);
            tried += 1;
          }
    expect(tried).toBeGreaterThan(150);
    expect(withView('SELECT', 'BarChart', optionsOf('bar', { x: 1, y: ROWS, colour: NONE, levels: [] }, columns, []))).toBe('#defaultView:BarChart{"y":null,"colour":null}\nSELECT');
  });

  it('follow the options of a query', () => {
    const options = viewOf('#defaultView:ScatterChart{"hide":["?city"],"y":"?population","x":"?area","colour":"?founded"}\nSELECT * {}');
    expect(options).toEqual({ view: 'scatterchart', hide: ['city'], x: 'area', y: 'population', colour: 'founded' });
    expect(rolesOf('scatter', [label, number, second], options)).toMatchObject({ x: 3, y: 2 });
    expect(viewOf('# defaultView:Tree{"hide":"?a"}')).toMatchObject({ view: 'tree', hide: ['a'] });
    expect(viewOf('#defaultView:Tree{oops}\nSELECT').hide).toEqual([]);
    expect(viewOf('SELECT').view).toBe('');
  });

  it('are written into the query', () => {
    expect(withView('#defaultView:Map{"layer":"?x"}\nSELECT', 'BarChart', { hide: ['?a'] })).toBe('#defaultView:BarChart{"hide":["?a"]}\nSELECT');
  });
});

describe('trees', () => {
  const levels = [column(0, 'a', 'text'), column(1, 'b', 'text')];
  const row = (index: number, ...values: (string | number)[]) => ({ index, title: '', values });
  const names = (branch: ReturnType<typeof branches>['root']): unknown => (branch.children.length ? { [branch.name]: branch.children.map(names) } : branch.name);

  it('join rows with the same beginning', () => {
    expect(names(branches([row(0, 'x', 'y'), row(1, 'x', 'z'), row(2, 'w', 'y')], levels, false).root)).toEqual({ '': [{ x: ['y', 'z'] }, { w: ['y'] }] });
  });

  it('put a child that is a parent elsewhere below its parent', () => {
    expect(names(branches([row(0, 'b', 'c'), row(1, 'a', 'b')], levels, false).root)).toEqual({ '': [{ a: [{ b: ['c'] }] }] });
  });

  it('end where a thing is above itself', () => {
    expect(names(branches([row(0, 'a', 'b'), row(1, 'b', 'a')], levels, false).root)).toEqual({ '': [{ a: ['b'] }] });
  });
});

it('writes on colours with the higher contrast', () => {
  expect([inkOn('#0072b2'), inkOn('#f0e442')]).toEqual(['#ffffff', '#000000']);
});

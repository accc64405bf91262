// What charts draw, and what they say about the rest.

import { beforeAll, describe, expect, it } from 'vitest';
import type { ChartColumn, ChartRow, ChartValue, LeftRows } from '../src/answer/columns';
import { draw } from '../src/charts/draw';
import { KINDS, type Kind } from '../src/charts/kinds';
import { uniqueLabels } from '../src/charts/labels';
import { branches, firstNodes } from '../src/charts/nested';
import { useFakeDom, type FakeElement } from './fake-dom';

beforeAll(useFakeDom);

const SIZE = { width: 900, height: 500 };
const column = (index: number, name: string, type: ChartColumn['type']): ChartColumn => ({ index, name, type, distinct: 9, filled: 10 });
const [NAME, KIND, NUMBER, OTHER, DATE] = [column(0, 'place', 'text'), column(1, 'kind', 'text'), column(2, 'population', 'number'), column(3, 'area', 'number'), column(4, 'founded', 'date')];
const row = (index: number, ...values: ChartValue[]): ChartRow => ({ index, title: `row ${index}`, values });
const drawing = (kind: Kind, columns: (ChartColumn | undefined)[], rows: ChartRow[], left: LeftRows = {}) => {
  const { element, note } = draw({ kind, columns, rows, left }, SIZE);
  return { element: element as unknown as FakeElement, note };
};
const marks = (element: FakeElement) => [...element.all('rect'), ...element.all('circle'), ...element.all('path')].filter((one) => one.getAttribute('class') === 'mark');
/** The sum of the numbers of rows in a note. */
const numberIn = (note: string): number => [...note.replace(/\([^)]*\)/g, '').matchAll(/([\d,]+) rows?/g)].reduce((sum, [, number = '']) => sum + Number(number.replace(/,/g, '')), 0);
const many = <T>(length: number, make: (i: number) => T): T[] => Array.from({ length }, (_, i) => make(i));

describe('every row is drawn or counted as left out', () => {
  // Values, none, zero, negative numbers: in all combinations, more than any limit.
  const numbers: ChartValue[] = [5, null, 0, -3, 8, 2];
  const mixed = (i: number): ChartValue => numbers[i % numbers.length] ?? null;
  const name = (i: number): ChartValue => (i % 7 === 3 ? null : `n${i}`);

  it.each([
    ['scatter', [OTHER, NUMBER, KIND], (i: number) => row(i, mixed(i), mixed(i * 5 + 1), name(i))],
    ['bubble', [NAME, NUMBER, undefined], (i: number) => row(i, name(i), mixed(i))],
    ['dimensions', [NUMBER, OTHER, NAME], (i: number) => row(i, mixed(i), i % 3 ? null : i, i % 5 ? null : 'x')],
  ] as const)('%s', (kind, columns, make) => {
    const { element, note } = drawing(kind, [...columns], many(4000, make));
    expect(marks(element).length + numberIn(note)).toBe(4000);
  });

  it('bar', () => {
    const rows = many(4000, (i) => row(i, i % 9 ? `bar ${i % 900}` : null, i % 4 ? 1 : null));
    const { element, note } = drawing('bar', [NAME, NUMBER, undefined], rows);
    const drawn = marks(element).reduce((sum, mark) => sum + Number(mark.textContent.split(': ').at(-1)), 0);
    expect(marks(element)).toHaveLength(200);
    expect(drawn + numberIn(note)).toBe(4000);
    expect(note).toMatch(/^Not drawn: [\d,]+ rows without a usable value and [\d,]+ rows over the limit \(200 bars\)\. The table has all rows\.$/);
  });

  it('treemap', () => {
    const rows = many(3000, (i) => row(i, i % 9 ? `a${i % 3}` : null, i % 5 ? `b${i}` : null, mixed(i)));
    const { root, left } = branches(rows, [NAME, KIND], true);
    const ends = (branch: typeof root): number => (branch.children.length ? branch.children.reduce((sum, child) => sum + ends(child), 0) : branch.rows);
    expect(ends(root) + Object.values(left).reduce((sum, number) => sum + number, 0)).toBe(3000);
    // Of very different sizes the smallest have less than a pixel.
    const sizes = many(3000, (i) => row(i, `a${i % 3}`, `b${i}`, i % 7 ? 10 ** (i % 12) : null));
    const { element, note } = drawing('treemap', [NAME, KIND, NUMBER], sizes);
    expect(note).toMatch(/without a usable value and .* too small an area/);
    expect(marks(element).length + numberIn(note)).toBe(3000);
  });

  it('rows of groups', () => {
    const groups = many(300, (i) => ({ ...row(i, `g${i}`, 3), rows: 3 }));
    expect(drawing('bar', [NAME, NUMBER, undefined], groups).note).toContain('300 rows over the limit (200 bars)');
  });

  it('rows that the worker left out', () => {
    expect(drawing('scatter', [OTHER, NUMBER, undefined], [row(0, 1, 2), row(1, 2, 3)], { overRows: 1 }).note).toBe('Not drawn: 1 row over the limit (5,000). The table has all rows.');
    expect(drawing('scatter', [OTHER, NUMBER, undefined], [row(0, 1, 2), row(1, 2, 3)]).note).toBe('');
  });

  it('with the note in the description and for files', () => {
    const { element, note } = drawing('scatter', [OTHER, NUMBER, undefined], [row(0, 1, 2), row(1, 2, null)]);
    expect(element.all('desc')[0]?.textContent).toContain(note);
    expect(element.dataset.note).toBe(note);
  });

  it.each(Object.keys(KINDS) as Kind[])('%s without rows that fit', (kind) => {
    const nothing = many(3, (i) => row(i, null, null, null));
    const { element, note } = drawing(kind, [NAME, kind === 'tree' ? KIND : NUMBER, NUMBER], nothing);
    expect(element).toBeNull();
    expect(numberIn(note)).toBe(3);
    expect(drawing(kind, [NAME, NUMBER, undefined], []).element).toBeNull();
  });
});

describe('bars', () => {
  it('of different values with the same text have places of their own', () => {
    // Six digits are shown; dates are shown by their day.
    for (const [x, first] of [[NUMBER, 1], [DATE, Date.UTC(2020, 4, 5)]] as const) {
      const step = x === NUMBER ? 1e-8 : 3_600_000;
      const bars = marks(drawing('bar', [x, OTHER, undefined], many(5, (i) => row(i, first + i * step, i + 1))).element);
      expect(new Set(bars.map((bar) => bar.number('x'))).size).toBe(5);
    }
  });

  it('of one place and colour are one, of several colours end where the next begins', () => {
    const bars = marks(drawing('bar', [NAME, NUMBER, KIND], [row(0, 'a', 1, 'x'), row(1, 'a', 2, 'y'), row(2, 'a', 3, 'x'), row(3, 'a', -1, 'z')]).element);
    expect(bars.map((bar) => bar.textContent)).toEqual(['a, x: 4', 'row 1: a, y: 2', 'row 3: a, z: -1']);
    const [first, second, negative] = bars;
    expect(second?.number('x')).toBeCloseTo((first?.number('x') ?? 0) + (first?.number('width') ?? 0));
    expect((negative?.number('x') ?? 0) + (negative?.number('width') ?? 0)).toBeCloseTo(first?.number('x') ?? 0);
  });

  it('of items with the same label have the item in it', () => {
    expect([...uniqueLabels([['Q1', 'Springfield'], ['Q2', 'Springfield'], ['Q3', 'Rome']])]).toEqual([['Q1', 'Springfield (Q1)'], ['Q2', 'Springfield (Q2)'], ['Q3', 'Rome']]);
  });

  it('are grey in the legend if they have no value', () => {
    expect(drawing('bar', [NAME, NUMBER, KIND], [row(0, 'a', 1, 'x'), row(1, 'b', 2, null)]).element.all('text').map((one) => one.textContent)).toContain('others');
  });
});

describe('areas and lines', () => {
  it('are at most one for each colour and one for the others', () => {
    // 5,000 series of 5,000 places each would take minutes, and the test would be stopped.
    const rows = many(5000, (i) => row(i, i, 1, `kind ${i}`));
    const paths = drawing('area', [OTHER, NUMBER, KIND], rows).element.all('path');
    expect(paths).toHaveLength(8);
    expect(paths.at(-1)?.textContent).toBe('others');
  });

  it('are as many as the legend has, also if a value is called as the others are', () => {
    const rows = many(90, (i) => row(i, i % 10, 1, i < 45 ? 'others' : i < 50 ? null : `kind ${i % 20}`));
    const { element } = drawing('area', [OTHER, NUMBER, KIND], rows);
    const names = element.all('path').map((path) => path.textContent);
    expect(names).toHaveLength(8);
    expect(names.filter((name) => name === 'others')).toHaveLength(2);
  });

  it('add up to the sum of the rows', () => {
    const { element, note } = drawing('area', [OTHER, NUMBER, KIND], [row(0, 1, 10, 'a'), row(1, 2, 20, 'a'), row(2, 1, 5, 'b'), row(3, 1, 5, 'b'), row(4, 2, -7, 'b')]);
    // The scale ends at the sum of both: 20.
    const ys = element.all('path').flatMap((path) => [...(path.getAttribute('d') ?? '').matchAll(/[ML][\d.]+,([\d.]+)/g)].map(([, y]) => Number(y)));
    const [zero, twenty] = [Math.max(...ys), Math.min(...ys)];
    const ten = (zero + twenty) / 2;
    expect(new Set(ys.map((y) => Math.round(y)))).toEqual(new Set([zero, twenty, ten].map((y) => Math.round(y))));
    expect(note).toBe('Not drawn: 1 row with a negative number. The table has all rows.');
  });

  it('of many rows are drawn', () => {
    const { element } = drawing('line', [OTHER, NUMBER, KIND], many(100_000, (i) => row(i, i, i % 100, 'one')));
    expect(element.all('path').length).toBeGreaterThan(0);
  });
});

describe('trees', () => {
  const levels = [NAME, KIND];
  const chain = (length: number) => many(length, (i) => row(i, `n${i}`, `n${i + 1}`));

  it('have at most 600 nodes, whatever their shape', () => {
    const star = many(5000, (i) => row(i, 'root', `leaf ${i}`));
    const wide = many(5000, (i) => row(i, `a${i}`, `b${i}`));
    for (const rows of [star, wide, chain(5000), [...star, ...chain(5000)]]) {
      const { element, note } = drawing('tree', levels, rows);
      expect(marks(element)).toHaveLength(600);
      expect(note).toMatch(/over the limit \(600 nodes\)/);
    }
  });

  it('count the rows that end in nodes beyond the limit', () => {
    const { root, beyond } = firstNodes(branches([row(0, 'a', 'b'), row(1, 'a', 'c'), row(2, 'a', 'd'), row(3, 'd', 'e')], levels, false).root, 4);
    expect(root.children[0]?.children.map(({ name }) => name)).toEqual(['b', 'c']);
    expect(beyond).toBe(2);
  });

  it('of chains end, in any order and with circles', () => {
    const ends = (length: number) => [...chain(length), row(length, `n${length}`, 'n0')];
    for (const rows of [chain(20_000), chain(20_000).reverse(), ends(20_000), ends(20_000).reverse()]) expect(branches(rows, levels, false).root.children).toHaveLength(1);
  });

  it('skip levels without a value and tell levels apart', () => {
    const three = [NAME, KIND, column(2, 'part', 'text')];
    const names = (branch: ReturnType<typeof branches>['root']): unknown => (branch.children.length ? [branch.name, branch.children.map(names)] : branch.name);
    const { root, left } = branches([row(0, 'a', null, 'c'), row(1, 'a', 'c', null), row(2, null, 'b', 'c'), row(3, 'a', null, null), row(4, null, null, null)], three, false);
    expect(names(root)).toEqual(['', [['a', ['c', 'c']], ['b', ['c']]]]);
    expect(left).toEqual({ valueless: 1 });
  });

  it('give rows that end early an area of their own', () => {
    const { root } = branches([row(0, 'a', 'b', 1), row(1, 'a', null, 2), row(2, 'c', null, 4)], levels, true);
    expect(root.children.map(({ name, children }) => [name, children.map((child) => [child.name, child.size])])).toEqual([['a', [['b', 1], ['no value', 2]]], ['c', []]]);
    const { element } = drawing('treemap', [...levels, NUMBER], [row(0, 'a', 'b', 1), row(1, 'a', null, 2), row(2, 'c', null, 4)]);
    expect(marks(element).map((mark) => mark.textContent).sort()).toEqual(['a › b: 1', 'a › no value: 2', 'c: 4']);
  });
});

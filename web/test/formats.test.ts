import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { textOf } from '../src/charts/frame';
import { duration, oncePerFrame, size } from '../src/dom';
import { shown } from '../src/table/values';
import { dateText, isNaming, listText, numberText } from '../src/text/formats';
import { en } from '../src/text/en';
import { useCatalogue } from '../src/text/lookup';

const NAMES = ['NumberFormat', 'DateTimeFormat', 'ListFormat', 'PluralRules'] as const;
const own = Object.fromEntries(NAMES.map((name) => [name, Intl[name]]));
let created = 0;

beforeEach(() => {
  created = 0;
  const construct = (format: unknown, given: unknown[]): object => {
    created += 1;
    return Reflect.construct(format as (...of: unknown[]) => object, given) as object;
  };
  Object.assign(Intl, Object.fromEntries(NAMES.map((name) => [name, new Proxy(Intl[name], { construct })])));
});

afterEach(() => {
  Object.assign(Intl, own);
  useCatalogue({ tag: 'en', texts: en });
});

it('formats are created once for a language, not for each value', () => {
  const column = { index: 0, name: 'population', type: 'number', filled: 1, distinct: 1 } as const;
  const day = { ...column, type: 'date' } as const;
  const all = (i: number) => [textOf(i, column), textOf(i, column, 1e6), textOf(i * 864e5, day), textOf(i * 864e5, day, 3e10), shown({ text: String(i), note: 'integer', numeric: true }, 'n'), shown({ text: '2001-02-03', note: 'date' }, 'd'), size(i * 1e5), duration(i * 1e3), numberText(i / 9, 'percent'), dateText(new Date(i), 'local'), listText(['a', String(i)])];
  for (let i = 1; i < 200; i++) all(i);
  const inEnglish = created;
  expect(inEnglish).toBeLessThan(15);
  useCatalogue({ tag: 'de', texts: en });
  for (let i = 1; i < 200; i++) all(i);
  expect(created - inEnglish).toBeLessThan(18);
});

it('follow the language', () => {
  expect(numberText(12345.5, 'value')).toBe('12,345.5');
  useCatalogue({ tag: 'de', texts: en });
  expect(numberText(12345.5, 'value')).toBe('12.345,5');
  expect(listText(['a', 'b'])).toBe('a und b');
  expect(dateText(new Date(Date.UTC(2001, 1, 3)), 'day')).toBe('03.02.2001');
  expect(dateText(new Date('never'), 'day')).toBe('');
});

it('years and codes are names', () => {
  expect(['year', 'birthYear', 'cityId', '@id', 'addr:postcode', 'ref', 'année', 'house_number'].filter((name) => !isNaming(name))).toEqual([]);
  expect(['population', 'years_old', 'idle', 'area', 'paid', 'preference'].filter(isNaming)).toEqual([]);
});

it('a drawing is made once in a frame', () => {
  const frames: (() => void)[] = [];
  vi.stubGlobal('requestAnimationFrame', (act: () => void) => frames.push(act));
  let drawn = 0;
  const draw = oncePerFrame(() => (drawn += 1));
  for (let i = 0; i < 10; i++) draw();
  expect([drawn, frames.length]).toEqual([0, 1]);
  frames.shift()?.();
  draw();
  expect([drawn, frames.length]).toEqual([1, 1]);
  vi.unstubAllGlobals();
});

import { describe, expect, it } from 'vitest';
import { shown } from '../src/table/values';

const cell = (text: string, note?: string, numeric = false) => ({ text, note, numeric });

// Node has the locale en-US, unless it is told another one.
describe('values as the reader sees them', () => {
  it.each([
    [cell('1443497378', 'integer', true), 'people', '1,443,497,378'],
    [cell('2024', 'integer', true), 'when', '2024'],
    [cell('20240', 'integer', true), 'year', '20240'],
    [cell('12345', 'integer', true), 'itemId', '12345'],
    [cell('12345.5', 'decimal', true), 'metres', '12,345.5'],
    [cell('12345', undefined, true), 'addr:housenumber', '12345'],
    [cell('12345', undefined, true), 'population', '12,345'],
    [cell('1e5', 'double', true), 'n', '1e5'],
    [cell('1949-10-01T00:00:00Z', 'dateTime'), 'begun', 'Oct 1, 1949'],
    [cell('00000001871-01-18T00:00:00Z', 'dateTime'), 'begun', 'Jan 18, 1871'],
    [cell('-0043-01-01T00:00:00Z', 'dateTime'), 'begun', '-0043-01-01'],
    [cell('2024-02-30', 'other'), 'x', '2024-02-30'],
    [cell('Point(14.5 35.9)', 'wktLiteral'), 'place', '35.90000, 14.50000'],
    [cell('LINESTRING(1 2,3 4)', 'wktLiteral'), 'line', 'LINESTRING(1 2,3 4)'],
    [cell('plain'), 'name', 'plain'],
  ])('%o in %s', (value, column, text) => expect(shown(value, column)).toBe(text));
});

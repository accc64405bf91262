// Rows as the table has them: filtered and sorted, and the most frequent values of a column.

import { parseFilter, type FilteredRow } from './filter';
import { locale } from '../text/lookup';
import type { Facet } from './model';
import type { Entry, Read } from './table';

/** Most values of a column that are listed. */
const FACETS = 50;

/** Returns the rows that pass a filter, sorted by a column; `column` is -1 for the order of the answer. */
export function arranged(found: Read, { column, descending, filter }: { column: number; descending: boolean; filter: string }): Uint32Array<ArrayBuffer> {
  const order = passing(found, filter);
  return found.columns[column] === undefined ? order : sorted(found, order, column, descending);
}

function passing(found: Read, filter: string): Uint32Array<ArrayBuffer> {
  const passes = parseFilter(filter);
  const order = new Uint32Array(found.rows.length);
  let length = 0;
  found.rows.forEach((entry, i) => {
    if (passes && !passes(filtered(entry, found.columns))) return;
    order[length] = i;
    length += 1;
  });
  return order.slice(0, length);
}

function filtered(entry: Entry, columns: string[]): FilteredRow {
  return {
    value: (key) => valueOf(entry, columns, key),
    texts: () => entry.pairs().map(([, cell]) => cell.text),
  };
}

/** The text of a column, by its name in any case, or of a tag without a column. */
function valueOf(entry: Entry, columns: string[], key: string): string | undefined {
  const exact = columns.indexOf(key);
  const place = exact >= 0 ? exact : columns.findIndex((name) => name.toLowerCase() === key.toLowerCase());
  if (place < 0) return entry.tags[key];
  const { text } = entry.cell(place, columns);
  return text === '' ? undefined : text;
}

function sorted(found: Read, order: Uint32Array<ArrayBuffer>, column: number, descending: boolean): Uint32Array<ArrayBuffer> {
  const texts = Array.from<string>({ length: found.rows.length });
  const numbers = new Float64Array(found.rows.length);
  for (const i of order) {
    const text = found.rows[i]?.cell(column, found.columns).text ?? '';
    texts[i] = text;
    numbers[i] = text.trim() === '' ? NaN : Number(text.replace(/^(node|way|relation)\//, ''));
  }
  const collator = new Intl.Collator(locale(), { numeric: true });
  const sign = descending ? -1 : 1;
  return order.sort((a, b) => {
    const [x = '', y = ''] = [texts[a], texts[b]];
    // What has no value is last either way.
    if ((x === '') !== (y === '')) return x === '' ? 1 : -1;
    const [n = NaN, m = NaN] = [numbers[a], numbers[b]];
    const both = Number.isFinite(n) && Number.isFinite(m);
    return sign * (both ? n - m : collator.compare(x, y)) || a - b;
  });
}

/** Returns the most frequent values of a column among some rows, the number of others, and that of rows without one. */
export function facets(found: Read, order: Uint32Array, column: number): Facet {
  const counts = new Map<string, number>();
  let empty = 0;
  for (const i of order) {
    const text = found.rows[i]?.cell(column, found.columns).text ?? '';
    if (text === '') empty += 1;
    else counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  const all = [...counts].sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1));
  return { values: all.slice(0, FACETS).map(([text, rows]) => ({ text, rows })), others: Math.max(0, all.length - FACETS), empty };
}

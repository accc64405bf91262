// Rows by a date, for the timeline.

import type { LeftRows } from './columns';
import type { Dates } from './model';
import type { Read } from './table';

/** Most dots of a timeline. */
export const DATED = 5000;
/** Letters of a title. */
const TITLE = 200;

/** Returns the rows with a date, the earliest first, or `null` if no column has two. The column is that of the whole answer, whatever the filter. */
export function datesOf(found: Read, order: Uint32Array): Dates | null {
  if (found.kind !== 'solutions') return null;
  const column = found.columns.findIndex((_, i) => hasSeveral(found, i));
  if (column < 0) return null;
  const rows: Dates['rows'] = [];
  for (const index of order) {
    const entry = found.rows[index];
    const cell = entry?.cell(column, found.columns);
    const year = cell && yearOf(cell);
    if (entry && cell && year !== null && year !== undefined) rows.push({ index, title: entry.title.slice(0, TITLE), text: cell.text.replace(/T00:00:00Z$/, ''), year });
  }
  rows.sort((a, b) => a.year - b.year);
  const left: LeftRows = {};
  if (rows.length < order.length) left.valueless = order.length - rows.length;
  if (rows.length > DATED) left.overMarks = rows.length - DATED;
  return { column: found.columns[column] ?? '', rows: rows.slice(0, DATED), left };
}

function hasSeveral(found: Read, column: number): boolean {
  let number = 0;
  return found.rows.some((entry) => {
    if (yearOf(entry.cell(column, found.columns)) !== null) number += 1;
    return number > 1;
  });
}

/** Returns a date in years, with the days as their fraction. */
function yearOf({ text, note }: { text: string; note?: string }): number | null {
  const match = note === 'dateTime' || note === 'date' ? /^(-?\d+)-(\d\d)-(\d\d)/.exec(text) : null;
  return match ? Number(match[1]) + (Number(match[2]) - 1) / 12 + (Number(match[3]) - 1) / 366 : null;
}

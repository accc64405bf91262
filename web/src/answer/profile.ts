// The values of a column or tag of an answer, from which colours and sizes are chosen.

import type { Entry } from './table';

export interface Profile {
  column: string;
  /** Rows with a value. */
  filled: number;
  /** Number of different values, and the most frequent of them with their rows. */
  distinct: number;
  values: [value: string, rows: number][];
  /** If nearly all values are numbers: the smallest, the 5-quantiles between, and the largest. */
  quantiles: number[] | null;
}

/** Values that are listed. */
const LISTED = 40;
/** Share of values that are numbers from which a column is one of numbers. */
const NUMERIC = 0.9;

export function profile(rows: Entry[], column: string): Profile {
  const counts = new Map<string, number>();
  const numbers: number[] = [];
  let filled = 0;
  for (const { tags } of rows) {
    const value = Object.hasOwn(tags, column) ? tags[column] : undefined;
    if (value === undefined || value === '') continue;
    filled += 1;
    counts.set(value, (counts.get(value) ?? 0) + 1);
    const number = value.trim() === '' ? NaN : Number(value);
    if (Number.isFinite(number)) numbers.push(number);
  }
  const values = [...counts].sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1)).slice(0, LISTED);
  const isNumeric = numbers.length > 0 && numbers.length >= NUMERIC * filled && new Set(numbers).size > 1;
  return { column, filled, distinct: counts.size, values, quantiles: isNumeric ? quantiles(numbers) : null };
}

function quantiles(numbers: number[]): number[] {
  numbers.sort((a, b) => a - b);
  return [0, 0.2, 0.4, 0.6, 0.8, 1].map((share) => numbers[Math.round(share * (numbers.length - 1))] ?? 0);
}

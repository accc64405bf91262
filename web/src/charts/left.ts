// The rows that a chart does not draw, and the sentence about them.

import { MARKS, type ChartRow, type LeftReason, type LeftRows } from '../answer/columns';
import { count } from '../dom';
import { listText } from '../text/formats';
import { t } from '../text/lookup';

/** Returns the number of the answer's rows in a row of a chart. */
export const weightOf = ({ rows = 1 }: ChartRow): number => rows;

/** Adds rows to those that are left out for a reason. */
export function leave(left: LeftRows, why: LeftReason, number: number): void {
  if (number > 0) left[why] = (left[why] ?? 0) + number;
}

/** Returns the sum of two counts of rows that are left out. */
export function together(one: LeftRows, other: LeftRows): LeftRows {
  const sum = { ...one };
  for (const [why, number] of Object.entries(other) as [LeftReason, number][]) leave(sum, why, number);
  return sum;
}

/** Returns how many rows a chart leaves out and why, or nothing if it has all. `limit` is the most marks that it draws, as text. */
export function leftText(left: LeftRows, limit: string): string {
  const texts: Record<LeftReason, (n: number) => string> = {
    valueless: (n) => t('rowsWithoutUsableValue', { n }),
    fewValues: (n) => t('rowsWithFewValues', { n }),
    negative: (n) => t('rowsWithNegativeNumber', { n }),
    notPositive: (n) => t('rowsWithoutPositiveNumber', { n }),
    tooSmall: (n) => t('rowsTooSmall', { n }),
    overRows: (n) => t('rowsOverLimit', { n, limit: count(MARKS) }),
    overMarks: (n) => t('rowsOverLimit', { n, limit }),
  };
  const reasons = (Object.keys(texts) as LeftReason[]).flatMap((why) => (left[why] ? [texts[why](left[why])] : []));
  return reasons.length ? t('chartLeavesOut', { reasons: listText(reasons) }) : '';
}

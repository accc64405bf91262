// Numbers and dates in the language of the page. Creating a format of `Intl` takes far longer than using it, so each is created
// once for a language.

import { locale } from './lookup';

const digits = (number: number): Intl.NumberFormatOptions => ({ minimumFractionDigits: number, maximumFractionDigits: number });

const NUMBERS = {
  /** Values of a table and of a chart. */
  value: { maximumFractionDigits: 12, useGrouping: 'min2' },
  mark: { maximumFractionDigits: 6, useGrouping: 'min2' },
  /** Large numbers where there is little room, and limits of colours. */
  compact: { notation: 'compact', maximumFractionDigits: 2 },
  limit: { maximumFractionDigits: 6 },
  percent: { style: 'percent', ...digits(1) },
  digits0: digits(0),
  digits1: digits(1),
  digits2: digits(2),
} as const satisfies Record<string, Intl.NumberFormatOptions>;

const DATES = {
  day: { dateStyle: 'medium', timeZone: 'UTC' },
  moment: { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' },
  month: { month: 'short', year: 'numeric', timeZone: 'UTC' },
  /** In the time zone of the reader. */
  long: { dateStyle: 'long' },
  local: { year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric', second: 'numeric' },
} as const satisfies Record<string, Intl.DateTimeFormatOptions>;

let tag = '';
const created = new Map<string, unknown>();

/** Returns the format of a name, created for the language of the page unless it is there. */
function formatOf<T>(name: string, create: (tag: string) => T): T {
  if (tag !== locale()) {
    tag = locale();
    created.clear();
  }
  const known = created.get(name) as T | undefined;
  if (known) return known;
  const format = create(tag);
  created.set(name, format);
  return format;
}

export const numberText = (value: number, style: keyof typeof NUMBERS): string => formatOf(style, (tag) => new Intl.NumberFormat(tag, NUMBERS[style])).format(value);

/** Returns a date as text; nothing if it is invalid. */
export const dateText = (value: Date, style: keyof typeof DATES): string => (Number.isNaN(value.getTime()) ? '' : formatOf(style, (tag) => new Intl.DateTimeFormat(tag, DATES[style])).format(value));

/** Returns texts as a list, such as `a, b and c`. */
export const listText = (parts: string[]): string => formatOf('list', (tag) => new Intl.ListFormat(tag)).format(parts);

/** Returns whether the numbers of a column name something, such as a year or a code: they are written without separators. */
export const isNaming = (column: string): boolean => /(^|[_:.\s])(id|year|code|ref|number|zip|postcode)s?$|^(jahr|année|año|anno|ano)$/i.test(column) || /(Year|Id)$|@id/.test(column);

// How values are shown: numbers and dates as the reader's language writes them, positions in degrees, items by their labels.
// The value itself is in the title, in filters and in files.

import type { Cell } from '../answer/model';
import { h } from '../dom';
import { dateText, isNaming, numberText } from '../text/formats';

const DATES = new Set(['dateTime', 'date']);
const DATE = /^0*(\d{4})-(\d\d)-(\d\d)(?:T(\d\d:\d\d)(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)?)?Z?$/;

/** Returns the text of a value for the reader; the value itself if nothing is known of it. */
export function shown({ text, note, numeric }: Cell, column: string): string {
  if (note && DATES.has(note)) return dateOf(text);
  if (note === 'wktLiteral') return positionOf(text);
  // Tags have texts, which need not be amounts even where they are numerals.
  const isAmount = numeric === true && (note !== undefined || column === 'population') && !isNaming(column);
  return isAmount && /^[-+]?\d+(\.\d+)?$/.test(text) && text.length < 16 ? numberText(Number(text), 'value') : text;
}

function dateOf(text: string): string {
  const match = DATE.exec(text);
  if (!match) return text.replace(/T00:00:00Z$/, '');
  const date = new Date(`${match[1]}-${match[2]}-${match[3]}T${match[4] ?? '00:00'}:00Z`);
  if (Number.isNaN(date.getTime())) return text;
  return dateText(date, (match[4] ?? '00:00') === '00:00' ? 'day' : 'moment');
}

function positionOf(text: string): string {
  const match = /^\s*Point\s*\(\s*(-?[\d.]+(?:e-?\d+)?)\s+(-?[\d.]+(?:e-?\d+)?)\s*\)\s*$/i.exec(text);
  const [lon, lat] = [Number(match?.[1]), Number(match?.[2])];
  return match && Number.isFinite(lon) && Number.isFinite(lat) ? `${lat.toFixed(5)}, ${lon.toFixed(5)}` : text;
}

/** Returns a value with where it leads, and the label of an item before its number. */
export function content(cell: Cell, column = '', label?: string): Node | string {
  const text = shown(cell, column);
  if (!cell.href) return cell.note && cell.note.length < 6 && cell.note !== 'metadata' && text === cell.text ? h('span', {}, text, h('span', { class: 'note' }, cell.note)) : text;
  const away = !cell.href.startsWith('/');
  const link = h('a', { href: cell.href, tabindex: '-1', ...(away ? { target: '_blank', rel: 'noopener noreferrer' } : { 'data-view': '' }) }, label ?? text);
  return label === undefined ? link : h('span', {}, link, h('span', { class: 'note' }, text));
}

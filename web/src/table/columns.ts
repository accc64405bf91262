// The columns of the table: which are shown, in which order and how wide. What a user sets for a column is kept by its name, for
// other answers that have it.

import type { Cell, Row } from '../answer/model';

/** The longest text in letters that a column is widened for. */
const LONGEST = 42;
const LEAST = 48;
const MOST = 320;
const WIDEST = 1200;

export class Columns {
  names: string[] = [];
  /** Columns whose values are numbers, as far as one sees. */
  numeric: boolean[] = [];
  private readonly hidden = new Set<string>();
  private readonly pinned = new Set<string>();
  private readonly set = new Map<string, number>();
  /** The length in letters of the longest text of each column so far. */
  private letters: number[] = [];

  begin(names: string[], sample: Row[]): void {
    this.names = names;
    this.letters = names.map((name) => name.length + 4);
    this.numeric = names.map((_, i) => sample.some((row) => row.cells[i]?.numeric) && sample.every((row) => row.cells[i]?.numeric || !row.cells[i]?.text));
  }

  /** Makes columns wide enough for rows; whether one became wider. They never become narrower, so that they stay in place. */
  widen(rows: Row[], textOf: (cell: Cell, column: number) => string): boolean {
    const length = (cell: Cell | undefined, column: number) => (cell ? Math.min(LONGEST, textOf(cell, column).length) : 0);
    const letters = this.letters.map((known, i) => Math.max(known, ...rows.map((row) => length(row.cells[i], i))));
    const wider = letters.some((length, i) => length !== this.letters[i]);
    this.letters = letters;
    return wider;
  }

  /** The places of the columns that are shown, pinned ones first. */
  get visible(): number[] {
    const all = [...this.names.keys()].filter((i) => !this.hidden.has(this.names[i] ?? ''));
    return [...all.filter((i) => this.isPinned(i)), ...all.filter((i) => !this.isPinned(i))];
  }

  isPinned = (column: number): boolean => this.pinned.has(this.names[column] ?? '');
  isHidden = (column: number): boolean => this.hidden.has(this.names[column] ?? '');

  pin(column: number, on: boolean): void {
    toggle(this.pinned, this.names[column], on);
  }

  hide(column: number, on: boolean): void {
    toggle(this.hidden, this.names[column], on);
  }

  width(column: number): number {
    return this.set.get(this.names[column] ?? '') ?? Math.round(Math.min(MOST, Math.max(64, (this.letters[column] ?? 0) * 7.6 + 24)));
  }

  resize(column: number, width: number): void {
    const name = this.names[column];
    if (name !== undefined) this.set.set(name, Math.round(Math.max(LEAST, Math.min(WIDEST, width))));
  }

  /** Widths for a grid; the last column takes what is left. */
  get template(): string {
    const visible = this.visible;
    return visible.map((column, i) => (i === visible.length - 1 ? `minmax(${this.width(column)}px, 1fr)` : `${this.width(column)}px`)).join(' ') || '1fr';
  }

  get total(): number {
    return this.visible.reduce((sum, column) => sum + this.width(column), 0);
  }

  /** Pixels to the left of a pinned column; nothing for others. */
  offset(column: number): number | null {
    if (!this.isPinned(column)) return null;
    const before = this.visible.slice(0, this.visible.indexOf(column));
    return before.reduce((sum, other) => sum + this.width(other), 0);
  }
}

function toggle(set: Set<string>, name: string | undefined, on: boolean): void {
  if (name === undefined) return;
  if (on) set.add(name);
  else set.delete(name);
}

// The rows of the answer. Only visible rows are in the document. For screen readers and keys it is a grid: the arrows go from row
// to row, or from column to column in the header, and Enter selects or sorts.

import type { Answers } from '../answer/client';
import type { Cell, Row, Summary } from '../answer/model';
import { count, h, rows } from '../dom';

const HEIGHT = 26;
const BEFORE = 12;
/** The longest text in letters that a column is widened for. */
const LONGEST = 42;
/** Browsers draw no element higher than about 33 million pixels. Rows beyond are reached by the filter. */
const MOST = 1_000_000;

export class Table {
  readonly element: HTMLElement;
  private readonly scroller = h('div', { class: 'table-scroll' });
  private readonly head = h('div', { role: 'row', class: 'table-row table-head', 'aria-rowindex': '1' });
  private readonly body = h('div', { role: 'rowgroup', class: 'table-body' });
  private readonly grid: HTMLElement;
  private readonly filter = h('input', { type: 'search', placeholder: 'Filter rows', 'aria-label': 'Filter rows', class: 'field small' });
  private readonly shown = h('span', { class: 'muted' });
  private columns: string[] = [];
  /** The length in letters of the longest text of each column so far. */
  private letters: number[] = [];
  /** Columns whose values are numbers, as far as one sees. */
  private numeric: boolean[] = [];
  private others = 0;
  private rows = 0;
  private total = 0;
  private sort = { column: -1, descending: false };
  private selected = -1;
  /** The column whose header Tab reaches. */
  private sortable = 0;
  /** The row that keys go from. */
  private at = 0;
  private drawn: { from: number; to: number; rows: Row[] } = { from: 0, to: 0, rows: [] };
  private asked = 0;

  constructor(private readonly answers: Answers, private readonly picked: (index: number) => void) {
    this.grid = h('div', { role: 'grid', tabindex: '0', class: 'table', 'aria-label': 'Rows of the answer', onkeydown: (event: KeyboardEvent) => this.key(event) }, h('div', { role: 'rowgroup' }, this.head), this.body);
    this.scroller.append(this.grid);
    this.scroller.addEventListener('scroll', () => void this.draw(), { passive: true });
    new ResizeObserver(() => void this.draw()).observe(this.scroller);
    let waiting = 0;
    this.filter.addEventListener('input', () => {
      clearTimeout(waiting);
      waiting = window.setTimeout(() => void this.arrange(), 120);
    });
    this.element = h('div', { class: 'table-view' }, h('div', { class: 'table-tools' }, this.filter, this.shown), this.scroller);
  }

  async show(summary: Summary | null): Promise<void> {
    this.columns = summary?.columns ?? [];
    this.others = summary?.others.length ?? 0;
    this.total = this.rows = summary?.rows ?? 0;
    this.sort = { column: -1, descending: false };
    this.selected = -1;
    this.at = 0;
    this.filter.value = '';
    this.scroller.scrollTop = this.scroller.scrollLeft = 0;
    const sample = this.rows ? await this.answers.ask({ do: 'rows', from: 0, to: 60 }) : [];
    this.letters = this.columns.map((name) => name.length + 2);
    this.sortable = 0;
    this.numeric = this.columns.map((_, i) => sample.some((row) => row.cells[i]?.numeric) && sample.every((row) => row.cells[i]?.numeric || !row.cells[i]?.text));
    this.widen(sample, true);
    this.grid.setAttribute('aria-colcount', String(this.columns.length));
    this.header();
    this.counted();
    await this.draw(true);
  }

  /** Makes columns wide enough for rows. They never become narrower, so that they stay in place while one scrolls. */
  private widen(rows: Row[], anew = false): void {
    const letters = this.letters.map((known, i) => Math.max(known, ...rows.map((row) => Math.min(LONGEST, row.cells[i]?.text.length ?? 0))));
    if (!anew && letters.every((length, i) => length === this.letters[i])) return;
    this.letters = letters;
    const widths = letters.map((length) => Math.round(Math.min(320, Math.max(64, length * 7.6 + 24))));
    this.grid.style.minWidth = `${widths.reduce((sum, width) => sum + width, 0)}px`;
    this.grid.style.setProperty('--columns', widths.map((width, i) => (i === widths.length - 1 ? `minmax(${width}px, 1fr)` : `${width}px`)).join(' ') || '1fr');
  }

  /** More rows of the same answer have come. */
  async grow(summary: Summary): Promise<void> {
    this.total = summary.rows;
    if (this.sort.column >= 0 || this.filter.value) return this.arrange();
    this.rows = summary.rows;
    this.counted();
    await this.draw(true);
  }

  /** Marks the row of what was selected elsewhere, and brings it into view. */
  async select(index: number, scroll: boolean): Promise<void> {
    this.selected = index;
    if (scroll && index >= 0) {
      const place = await this.answers.ask({ do: 'place', index });
      if (place >= 0) {
        this.at = place;
        const top = place * HEIGHT;
        const { scrollTop, clientHeight } = this.scroller;
        if (top < scrollTop || top > scrollTop + clientHeight - 2 * HEIGHT) this.scroller.scrollTop = Math.max(0, top - clientHeight / 2);
      }
    }
    await this.draw(true);
  }

  private header(): void {
    this.head.replaceChildren(
      ...this.columns.map((name, i) => {
        const state = this.sort.column !== i ? 'none' : this.sort.descending ? 'descending' : 'ascending';
        const button = h('button', { type: 'button', tabindex: i === this.sortable ? '0' : '-1', title: `Sort by ${name}`, onclick: () => this.order(i) }, name, h('span', { 'aria-hidden': 'true', class: 'sort' }, state === 'none' ? '' : state === 'ascending' ? '↑' : '↓'));
        return h('div', { role: 'columnheader', 'aria-sort': state, class: this.numeric[i] ? 'cell number' : 'cell' }, button);
      }),
    );
  }

  private order(column: number): void {
    this.sortable = column;
    this.sort = this.sort.column === column ? (this.sort.descending ? { column: -1, descending: false } : { column, descending: true }) : { column, descending: false };
    const focused = this.head.contains(document.activeElement);
    this.header();
    if (focused) this.head.children[column]?.querySelector('button')?.focus();
    void this.arrange();
  }

  private async arrange(): Promise<void> {
    this.rows = await this.answers.ask({ do: 'arrange', column: this.sort.column, descending: this.sort.descending, filter: this.filter.value });
    this.at = 0;
    this.scroller.scrollTop = 0;
    this.counted();
    await this.draw(true);
  }

  private counted(): void {
    const all = this.rows === this.total ? rows(this.total) : `${count(this.rows)} of ${rows(this.total)}`;
    // What has no column is beside a selected row, and in files.
    this.shown.textContent = this.others ? `${all}, ${count(this.others)} rarer keys without a column` : all;
    this.grid.setAttribute('aria-rowcount', String(this.rows + 1));
    this.body.style.height = `${Math.min(this.rows, MOST) * HEIGHT}px`;
  }

  /** Draws the rows that are seen, and some around them. */
  private async draw(anew = false): Promise<void> {
    const { scrollTop, clientHeight } = this.scroller;
    const from = Math.max(0, Math.floor(scrollTop / HEIGHT) - BEFORE);
    const to = Math.min(this.rows, MOST, Math.ceil((scrollTop + clientHeight) / HEIGHT) + BEFORE);
    if (!anew && from >= this.drawn.from && to <= this.drawn.to && to > 0) return;
    const turn = (this.asked += 1);
    const [first, last] = [Math.max(0, from - BEFORE), Math.min(this.rows, to + BEFORE)];
    const rows = last > first ? await this.answers.ask({ do: 'rows', from: first, to: last }) : [];
    if (turn !== this.asked) return;
    this.drawn = { from: first, to: last, rows };
    this.widen(rows);
    this.body.replaceChildren(...rows.map((row, i) => this.row(row, first + i)));
    this.active();
  }

  private row(row: Row, place: number): HTMLElement {
    const element = h(
      'div',
      {
        role: 'row',
        id: `row-${row.index}`,
        'aria-rowindex': place + 2,
        'aria-selected': String(row.index === this.selected),
        class: `table-row${row.placed ? '' : ' unplaced'}`,
        onclick: (event: MouseEvent) => {
          if ((event.target as HTMLElement).closest('a')) return;
          this.at = place;
          this.picked(row.index);
        },
      },
      ...row.cells.map((cell) => h('div', { role: 'gridcell', class: cell.numeric ? 'cell number' : 'cell', title: cell.text.length > 30 ? cell.text : undefined }, content(cell))),
    );
    element.style.top = `${place * HEIGHT}px`;
    return element;
  }

  private active(): void {
    const row = this.drawn.rows[this.at - this.drawn.from];
    for (const other of this.body.querySelectorAll('.at')) other.classList.remove('at');
    if (!row) return this.grid.removeAttribute('aria-activedescendant');
    this.grid.setAttribute('aria-activedescendant', `row-${row.index}`);
    document.getElementById(`row-${row.index}`)?.classList.add('at');
  }

  /** Goes from header to header. */
  private headerKey(event: KeyboardEvent): void {
    const last = this.columns.length - 1;
    const next = { ArrowRight: this.sortable + 1, ArrowLeft: this.sortable - 1, Home: 0, End: last }[event.key];
    if (next === undefined || next < 0 || next > last) return;
    event.preventDefault();
    const button = (column: number) => this.head.children[column]?.querySelector('button');
    button(this.sortable)?.setAttribute('tabindex', '-1');
    this.sortable = next;
    button(next)?.setAttribute('tabindex', '0');
    button(next)?.focus();
  }

  private key(event: KeyboardEvent): void {
    if (this.head.contains(event.target as Node)) return this.headerKey(event);
    if (event.target !== this.grid) return;
    const page = Math.max(1, Math.floor(this.scroller.clientHeight / HEIGHT) - 2);
    const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -this.rows, End: this.rows };
    const step = steps[event.key];
    if (event.key === 'Enter' || event.key === ' ') {
      const row = this.drawn.rows[this.at - this.drawn.from];
      if (row) this.picked(row.index);
      event.preventDefault();
      return;
    }
    if (step === undefined) return;
    event.preventDefault();
    this.at = Math.max(0, Math.min(this.rows - 1, MOST - 1, this.at + step));
    const top = this.at * HEIGHT;
    const { scrollTop, clientHeight } = this.scroller;
    if (top < scrollTop) this.scroller.scrollTop = top;
    else if (top > scrollTop + clientHeight - 3 * HEIGHT) this.scroller.scrollTop = top - clientHeight + 3 * HEIGHT;
    void this.draw().then(() => this.active());
  }
}

/** A value, with where it leads. */
export function content(cell: Cell): Node | string {
  if (!cell.href) return cell.note && cell.note.length < 6 && cell.note !== 'metadata' ? h('span', {}, cell.text, h('span', { class: 'note' }, cell.note)) : cell.text;
  const away = !cell.href.startsWith('/');
  return h('a', { href: cell.href, tabindex: '-1', ...(away ? { target: '_blank', rel: 'noopener noreferrer' } : { 'data-view': '' }) }, cell.text);
}

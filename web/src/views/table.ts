// The rows of the answer. Only visible rows are in the document. For screen readers and keys it is a grid: the arrows go from row
// to row, or from column to column in the header, and Enter selects or sorts. In the header Down opens what a column offers, and
// Alt with Left and Right changes its width.

import '../table/table.css';
import type { Answers } from '../answer/client';
import { conditionOn } from '../answer/filter';
import type { Arranged, Cell, Row, Summary } from '../answer/model';
import { announce, h, popover, rows } from '../dom';
import { isNarrow } from '../layout';
import { Columns } from '../table/columns';
import { ColumnMenu } from '../table/menu';
import { content, shown } from '../table/values';
import { labelLanguages } from '../text/languages';
import { isRtl, sideKeys, t } from '../text/lookup';

export { content } from '../table/values';

const BEFORE = 12;
/** Browsers draw no element higher than about 33 million pixels. Rows beyond are reached by the filter. */
const HIGHEST = 26_000_000;
/** Pixels by which a key changes the width of a column. */
const STEP = 16;
/** Labels that are asked for at once. */
const LABELS = 50;

export interface TableWiring {
  picked: (index: number) => void;
  /** A filter was set; null if all rows are shown again. */
  filtered: (left: Arranged | null) => void;
  /** Whether items have labels in the snapshot. */
  triples: boolean;
}

export class Table {
  readonly element: HTMLElement;
  private readonly scroller = h('div', { class: 'table-scroll' });
  private readonly head = h('div', { role: 'row', class: 'table-row table-head', 'aria-rowindex': '1' });
  private readonly body = h('div', { role: 'rowgroup', class: 'table-body' });
  private readonly grid: HTMLElement;
  private readonly filter = h('input', { type: 'search', placeholder: t('filterWordsKeyValue'), title: t('wordsThatAllOccurAText'), 'aria-label': t('filterRows'), class: 'field small' });
  private readonly shown = h('span', { class: 'muted' });
  private readonly columns = new Columns();
  private readonly menu = new ColumnMenu();
  private readonly labels = new Map<string, string>();
  private others = 0;
  private rows = 0;
  private total = 0;
  private sort = { column: -1, descending: false };
  private selected = -1;
  /** The column whose header Tab reaches. */
  private reached = 0;
  /** The row that keys go from. */
  private at = 0;
  private drawn: { from: number; to: number; rows: Row[] } = { from: 0, to: 0, rows: [] };
  private asked = 0;
  private arranging = 0;

  constructor(private readonly answers: Answers, private readonly wiring: TableWiring) {
    this.grid = h('div', { role: 'grid', tabindex: '0', class: 'table', 'aria-label': t('rowsOfTheAnswer'), onkeydown: (event: KeyboardEvent) => this.key(event) }, h('div', { role: 'rowgroup' }, this.head), this.body);
    this.scroller.append(this.grid);
    this.scroller.addEventListener('scroll', () => void this.draw(), { passive: true });
    new ResizeObserver(() => void this.draw()).observe(this.scroller);
    matchMedia('(max-width: 760px)').addEventListener('change', () => (this.counted(), void this.draw(true)));
    let waiting = 0;
    this.filter.addEventListener('input', () => {
      clearTimeout(waiting);
      waiting = window.setTimeout(() => void this.arrange(), 120);
    });
    this.element = h('div', { class: 'table-view' }, h('div', { class: 'table-tools' }, this.filter, this.shown, this.columnsButton()), this.scroller);
  }

  /** Pixels of a row. */
  private get height(): number {
    return isNarrow() ? 40 : 26;
  }

  private get most(): number {
    return Math.floor(HIGHEST / this.height);
  }

  async show(summary: Summary | null): Promise<void> {
    this.others = summary?.others.length ?? 0;
    this.total = this.rows = summary?.rows ?? 0;
    this.sort = { column: -1, descending: false };
    this.selected = -1;
    this.at = 0;
    this.filter.value = '';
    this.scroller.scrollTop = this.scroller.scrollLeft = 0;
    const sample = this.rows ? await this.answers.ask({ do: 'rows', from: 0, to: 60 }) : [];
    this.columns.begin(summary?.columns ?? [], sample);
    this.columns.widen(sample, this.textOf);
    this.reached = 0;
    this.lay();
    this.counted();
    await this.draw(true);
  }

  /** Lays the columns out. */
  private lay(): void {
    this.grid.style.minWidth = `${this.columns.total}px`;
    this.grid.style.setProperty('--columns', this.columns.template);
    this.grid.setAttribute('aria-colcount', String(this.columns.visible.length));
    this.header();
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
        const top = place * this.height;
        const { scrollTop, clientHeight } = this.scroller;
        if (top < scrollTop || top > scrollTop + clientHeight - 2 * this.height) this.scroller.scrollTop = Math.max(0, top - clientHeight / 2);
      }
    }
    await this.draw(true);
  }

  private header(): void {
    this.head.replaceChildren(...this.columns.visible.map((column) => this.headerCell(column)));
  }

  private headerCell(column: number): HTMLElement {
    const { columns, sort } = this;
    const name = columns.names[column] ?? '';
    const state = sort.column !== column ? 'none' : sort.descending ? 'descending' : 'ascending';
    const button = h('button', { type: 'button', tabindex: column === this.reached ? '0' : '-1', title: t('sortByValuesAndMoreAlt', { name }), onclick: () => this.order(column), onfocus: () => (this.reached = column) }, name, h('span', { 'aria-hidden': 'true', class: 'sort' }, state === 'none' ? '' : state === 'ascending' ? '↑' : '↓'));
    const more = h('button', { type: 'button', tabindex: '-1', class: 'column-button', 'aria-label': t('columnNamed', { name }), title: t('valuesAndMore'), onclick: () => this.openMenu(column) }, '⋮');
    const grip = h('span', { class: 'grip', 'aria-hidden': 'true', onpointerdown: (down: PointerEvent) => this.drag(down, column) });
    const cell = h('div', { role: 'columnheader', 'aria-sort': state, 'data-column': column, class: columns.numeric[column] ? 'cell number' : 'cell' }, button, more, grip);
    return this.pinned(cell, column);
  }

  private pinned(cell: HTMLElement, column: number): HTMLElement {
    const offset = this.columns.offset(column);
    if (offset === null) return cell;
    cell.classList.add('pinned');
    cell.style.setProperty('--offset', `${offset}px`);
    return cell;
  }

  private headerButton(column: number): HTMLElement | null {
    return this.head.querySelector(`[data-column="${column}"] > button`);
  }

  private drag(down: PointerEvent, column: number): void {
    down.preventDefault();
    const grip = down.currentTarget as HTMLElement;
    grip.setPointerCapture(down.pointerId);
    grip.classList.add('held');
    const from = this.columns.width(column);
    const move = (event: PointerEvent) => this.resize(column, from + (isRtl() ? -1 : 1) * (event.clientX - down.clientX), false);
    grip.addEventListener('pointermove', move);
    grip.addEventListener('pointerup', () => (grip.removeEventListener('pointermove', move), this.lay(), void this.draw(true)), { once: true });
  }

  private resize(column: number, width: number, anew = true): void {
    this.columns.resize(column, width);
    if (anew) {
      this.lay();
      void this.draw(true);
    } else {
      this.grid.style.minWidth = `${this.columns.total}px`;
      this.grid.style.setProperty('--columns', this.columns.template);
    }
  }

  /** Lays the columns out after one was pinned, hidden or shown. */
  private changed(): void {
    const visible = this.columns.visible;
    if (!visible.includes(this.reached)) this.reached = visible[0] ?? 0;
    this.lay();
    void this.draw(true);
  }

  private openMenu(column: number): void {
    const opener = this.headerButton(column);
    if (!opener) return;
    const name = this.columns.names[column] ?? '';
    void this.menu.open(opener, {
      name,
      pinned: this.columns.isPinned(column),
      sort: (descending) => this.sortBy(column, descending),
      pin: (on) => (this.columns.pin(column, on), this.changed(), this.headerButton(column)?.focus()),
      hide: () => (this.columns.hide(column, true), this.changed(), this.grid.focus()),
      facets: () => this.answers.ask({ do: 'facets', column }),
      only: (value) => {
        this.filter.value = `${this.filter.value} ${conditionOn(name, value)}`.trim();
        this.filter.focus();
        void this.arrange();
      },
    });
  }

  /** The list of all columns, to hide and to show them. */
  private columnsButton(): HTMLElement {
    const button = h('button', { type: 'button', class: 'button quiet small' }, t('columns'));
    const list = h('div', { class: 'shelf narrow column-list', role: 'dialog', 'aria-label': t('columns') });
    list.addEventListener('beforetoggle', (event) => {
      if ((event as ToggleEvent).newState !== 'open') return;
      list.replaceChildren(
        h('h2', {}, t('columns')),
        ...this.columns.names.map((name, column) => {
          const box = h('input', { type: 'checkbox', checked: !this.columns.isHidden(column), onchange: () => (this.columns.hide(column, !box.checked), this.changed()) });
          return h('label', {}, box, name);
        }),
      );
    });
    popover(button, list);
    return button;
  }

  private order(column: number): void {
    if (this.sort.column !== column) return this.sortBy(column, false);
    if (!this.sort.descending) return this.sortBy(column, true);
    this.sortBy(-1, false, column);
  }

  private sortBy(column: number, descending: boolean, focus = column): void {
    this.reached = focus;
    this.sort = { column, descending };
    const focused = this.head.contains(document.activeElement) || document.activeElement === document.body;
    this.header();
    if (focused) this.headerButton(focus)?.focus();
    void this.arrange();
  }

  private async arrange(): Promise<void> {
    const turn = (this.arranging += 1);
    const filter = this.filter.value.trim();
    const left = await this.answers.ask({ do: 'arrange', column: this.sort.column, descending: this.sort.descending, filter });
    if (turn !== this.arranging) return;
    const before = this.rows;
    this.rows = left.rows;
    this.at = 0;
    this.scroller.scrollTop = 0;
    this.counted();
    if (left.rows !== before || filter) announce(t('nOfRows', { n: left.rows, rows: rows(this.total) }));
    this.wiring.filtered(left.rows === this.total ? null : left);
    await this.draw(true);
  }

  private counted(): void {
    const all = this.rows === this.total ? rows(this.total) : t('nOfRows', { n: this.rows, rows: rows(this.total) });
    // What has no column is beside a selected row, and in files.
    this.shown.replaceChildren(all, this.others ? h('span', { class: 'rarer' }, t('rarerKeysWithoutAColumn', { n: this.others })) : '');
    this.grid.setAttribute('aria-rowcount', String(this.rows + 1));
    this.body.style.height = `${Math.min(this.rows, this.most) * this.height}px`;
  }

  /** Draws the rows that are seen, and some around them. */
  private async draw(anew = false): Promise<void> {
    const { scrollTop, clientHeight } = this.scroller;
    const from = Math.max(0, Math.floor(scrollTop / this.height) - BEFORE);
    const to = Math.min(this.rows, this.most, Math.ceil((scrollTop + clientHeight) / this.height) + BEFORE);
    if (!anew && from >= this.drawn.from && to <= this.drawn.to && to > 0) return;
    const turn = (this.asked += 1);
    const [first, last] = [Math.max(0, from - BEFORE), Math.min(this.rows, to + BEFORE)];
    const rows = last > first ? await this.answers.ask({ do: 'rows', from: first, to: last }) : [];
    if (turn !== this.asked) return;
    this.drawn = { from: first, to: last, rows };
    this.widen(rows);
    this.paint();
    void this.label(rows, turn);
  }

  /** The text that is shown of a value, by which columns have their widths. */
  private readonly textOf = (cell: Cell, column: number): string => {
    const label = this.labelOf(cell, column);
    const text = shown(cell, this.columns.names[column] ?? '');
    return label === undefined ? text : `${label} ${text}`;
  };

  private widen(rows: Row[]): void {
    if (!this.columns.widen(rows, this.textOf)) return;
    const focused = this.head.contains(document.activeElement) ? this.reached : -1;
    this.lay();
    if (focused >= 0) this.headerButton(focused)?.focus();
  }

  private paint(): void {
    const visible = this.columns.visible;
    this.body.replaceChildren(...this.drawn.rows.map((row, i) => this.row(row, this.drawn.from + i, visible)));
    this.active();
  }

  private row(row: Row, place: number, visible: number[]): HTMLElement {
    const cellOf = (column: number) => {
      const cell = row.cells[column] ?? { text: '' };
      const name = this.columns.names[column] ?? '';
      const hint = cell.text.length > 30 || shown(cell, name) !== cell.text ? cell.text : undefined;
      return this.pinned(h('div', { role: 'gridcell', class: cell.numeric ? 'cell number' : 'cell', title: hint }, content(cell, name, this.labelOf(cell, column))), column);
    };
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
          this.wiring.picked(row.index);
        },
      },
      ...visible.map(cellOf),
    );
    element.style.top = `${place * this.height}px`;
    return element;
  }

  /** The label of an item, where the answer has no column for it. */
  private labelOf({ href, text }: Cell, column: number): string | undefined {
    if (!href?.startsWith('/entity/') || this.columns.names.includes(`${this.columns.names[column]}Label`)) return undefined;
    return this.labels.get(text);
  }

  /** Asks for the labels of the items that are seen, in the language of labels. */
  private async label(rows: Row[], turn: number): Promise<void> {
    if (!this.wiring.triples) return;
    const named = new Set(this.columns.names);
    const ids = rows.flatMap((row) => row.cells.flatMap(({ href, text }, i) => (href?.startsWith('/entity/') && !named.has(`${this.columns.names[i]}Label`) && !this.labels.has(text) ? [text] : [])));
    const wanted = [...new Set(ids)].slice(0, LABELS);
    if (!wanted.length) return;
    const found = await this.answers.ask({ do: 'labels', ids: wanted, languages: labelLanguages() }).catch(() => []);
    // What has no label is not asked for again.
    for (const id of wanted) this.labels.set(id, id);
    for (const [id, label] of found) this.labels.set(id, label);
    for (const id of wanted) if (this.labels.get(id) === id) this.labels.delete(id);
    if (turn !== this.asked || !found.length) return;
    this.widen(rows);
    this.paint();
  }

  private active(): void {
    const row = this.drawn.rows[this.at - this.drawn.from];
    for (const other of this.body.querySelectorAll('.at')) other.classList.remove('at');
    if (!row) return this.grid.removeAttribute('aria-activedescendant');
    this.grid.setAttribute('aria-activedescendant', `row-${row.index}`);
    document.getElementById(`row-${row.index}`)?.classList.add('at');
  }

  /** Goes from header to header; Down opens what a column offers. */
  private headerKey(event: KeyboardEvent): void {
    const visible = this.columns.visible;
    const at = visible.indexOf(this.reached);
    const [before, after] = sideKeys();
    const wide = { [after]: STEP, [before]: -STEP }[event.key];
    if (event.altKey && wide !== undefined) {
      event.preventDefault();
      this.resize(this.reached, this.columns.width(this.reached) + wide);
      this.headerButton(this.reached)?.focus();
      announce(t('nPixels', { n: this.columns.width(this.reached) }));
      return;
    }
    if (event.key === 'ArrowDown') {
      event.preventDefault();
      return this.openMenu(this.reached);
    }
    const next = { [after]: visible[at + 1], [before]: visible[at - 1], Home: visible[0], End: visible.at(-1) }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    this.headerButton(this.reached)?.setAttribute('tabindex', '-1');
    this.reached = next;
    this.headerButton(next)?.setAttribute('tabindex', '0');
    this.headerButton(next)?.focus();
  }

  private key(event: KeyboardEvent): void {
    if (this.head.contains(event.target as Node)) return this.headerKey(event);
    if (event.target !== this.grid) return;
    const page = Math.max(1, Math.floor(this.scroller.clientHeight / this.height) - 2);
    const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -this.rows, End: this.rows };
    const step = steps[event.key];
    if (event.key === 'Enter' || event.key === ' ') {
      const row = this.drawn.rows[this.at - this.drawn.from];
      if (row) this.wiring.picked(row.index);
      event.preventDefault();
      return;
    }
    if (step === undefined) return;
    event.preventDefault();
    this.at = Math.max(0, Math.min(this.rows - 1, this.most - 1, this.at + step));
    const top = this.at * this.height;
    const { scrollTop, clientHeight } = this.scroller;
    if (top < scrollTop) this.scroller.scrollTop = top;
    else if (top > scrollTop + clientHeight - 3 * this.height) this.scroller.scrollTop = top - clientHeight + 3 * this.height;
    void this.draw().then(() => this.active());
  }
}

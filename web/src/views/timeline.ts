// Rows along the time: a dot a row, stacked where dates are close. The table has the same in text.

import type { Dates } from '../answer/model';
import { DATED } from '../answer/dates';
import { leftText } from '../charts/left';
import { h, oncePerFrame, svg } from '../dom';
import { t } from '../text/lookup';

const RADIUS = 4;
const MARGIN = 16;
const AXIS = 24;
/** Height of the note about rows that are left out. */
const NOTE = 24;

export class Timeline {
  readonly element = h('div', { class: 'timeline-view', tabindex: '0', role: 'region', 'aria-label': t('timeline') });
  private dates: Dates | null = null;
  private selected = -1;

  constructor(private readonly picked: (index: number) => void) {
    new ResizeObserver(oncePerFrame(() => this.draw())).observe(this.element);
    this.element.addEventListener('click', (event) => {
      const index = (event.target as Element).getAttribute('data-index');
      if (index !== null) this.picked(Number(index));
    });
  }

  show(dates: Dates | null): void {
    this.dates = dates;
    this.selected = -1;
    this.draw();
  }

  /** Marks the dot of a row. */
  mark(index: number): void {
    this.selected = index;
    for (const dot of this.element.querySelectorAll('circle')) dot.classList.toggle('on', dot.dataset.index === String(index));
  }

  /** Draws it as large as there is room. */
  draw(): void {
    const { clientWidth: width, clientHeight: all } = this.element;
    const { dates } = this;
    if (!dates || width < 80 || all < 80) return this.element.replaceChildren();
    const note = leftText(dates.left, t('marksPoints', { n: DATED }));
    const height = all - (note ? NOTE : 0);
    if (!dates.rows.length) return this.element.replaceChildren(h('p', { class: 'muted pad' }, note));
    const years = dates.rows.map((row) => row.year);
    const first = Math.min(...years);
    const last = Math.max(...years);
    const span = Math.max(last - first, 1e-6);
    const x = (year: number) => MARGIN + ((year - first) / span) * (width - 2 * MARGIN);
    const bottom = height - AXIS - RADIUS;
    const heights = new Map<number, number>();
    const dots = dates.rows.map((row) => {
      const column = Math.round(x(row.year) / (2 * RADIUS));
      const level = heights.get(column) ?? 0;
      heights.set(column, level + 1);
      return { row, x: column * 2 * RADIUS, level };
    });
    const most = Math.max(...heights.values());
    const step = Math.min(2 * RADIUS + 1, (bottom - RADIUS - 6) / Math.max(1, most - 1));
    const ticks = marks(first, last, Math.max(2, Math.floor(width / 90)));
    const picture = svg(
      'svg',
      { width, height, role: 'img', 'aria-label': t('rowsByDate', { n: dates.rows.length, column: dates.column, first: text(first), last: text(last) }) },
      ...ticks.flatMap((year) => [
        svg('line', { x1: x(year), x2: x(year), y1: 4, y2: height - AXIS + 4, class: 'grid' }),
        svg('text', { x: x(year), y: height - 6, 'text-anchor': 'middle' }, text(year)),
      ]),
      dots.map(({ row, x: at, level }) => svg('circle', { cx: at, cy: bottom - level * step, r: RADIUS - 0.5, 'data-index': row.index }, svg('title', {}, `${row.title}: ${row.text}`))),
    );
    if (note) picture.dataset.note = note;
    this.element.replaceChildren(...(note ? [h('p', { class: 'muted timeline-note', dir: 'auto', title: note }, note)] : []), picture);
    this.mark(this.selected);
  }
}

/** Round years, at most so many. */
function marks(first: number, last: number, most: number): number[] {
  const span = Math.max(last - first, 1);
  const unit = 10 ** Math.floor(Math.log10(span / most));
  const step = Math.max(1, [1, 2, 5, 10].map((factor) => factor * unit).find((size) => span / size <= most) ?? 10 * unit);
  const all: number[] = [];
  for (let year = Math.ceil(first / step) * step; year <= last; year += step) all.push(year);
  return all;
}

const text = (year: number): string => (year < 1 ? t('yearBCE', { year: String(1 - Math.floor(year)) }) : String(Math.floor(year)));

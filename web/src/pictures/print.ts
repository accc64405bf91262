// The page on paper: the query, the answer as it is seen, the attribution. The browser gives no time to fetch when it prints, so the
// first rows are kept at hand.

import './print.css';
import type { Answers } from '../answer/client';
import type { Row, Summary } from '../answer/model';
import { count, h } from '../dom';
import { printedNotice, siteName } from '../identity/identity';
import type { AnswerMap } from '../map/map';
import { TEXTS } from './texts';

/** Rows on paper. */
const ROWS = 200;
const COLUMNS = 8;

export interface PrintWiring {
  answers: Answers;
  map: () => AnswerMap | null;
  summary: () => (Summary & { isFiltered: boolean }) | null;
  /** The view that is open, such as `table`. */
  view: () => string;
  query: () => string;
  digest: string;
}

export class PrintedPage {
  private readonly element = h('section', { class: 'printed', hidden: true, 'aria-hidden': 'true' });
  private rows: Row[] = [];

  constructor(private readonly wiring: PrintWiring) {
    document.body.append(this.element);
    addEventListener('beforeprint', () => this.fill());
    addEventListener('afterprint', () => {
      this.element.hidden = true;
      this.element.replaceChildren();
    });
  }

  /** Keeps the first rows of an answer, in the order of the table. */
  async keep(): Promise<void> {
    this.rows = await this.wiring.answers.ask({ do: 'rows', from: 0, to: ROWS }).catch(() => []);
  }

  /** Opens the browser's dialog with the rows as they are sorted now. */
  async print(): Promise<void> {
    await this.keep();
    print();
  }

  private fill(): void {
    const { map, summary, view, query, digest } = this.wiring;
    const shown = summary();
    const chart = document.querySelector<SVGSVGElement>('.panel:not([hidden]) svg.chart, .panel:not([hidden]) svg.network, .panel:not([hidden]) .timeline-view svg');
    const picture = shown && shown.box ? map()?.copy() : null;
    const legend = document.querySelector('.legend-host .legend')?.cloneNode(true);
    const parts = view() === 'table' || !chart ? this.table(shown) : [chart.cloneNode(true), ...(chart.dataset.note ? [h('p', {}, chart.dataset.note)] : [])];
    this.element.replaceChildren(h('h1', {}, siteName()), ...printedNotice(), h('h2', {}, TEXTS.query), h('pre', {}, query()), h('h2', {}, TEXTS.answer), ...(picture ? [picture] : []), ...(legend && picture ? [legend] : []), ...parts, h('footer', {}, h('p', {}, TEXTS.attribution), h('p', {}, TEXTS.snapshot(digest))));
    this.element.hidden = false;
  }

  private table(shown: (Summary & { isFiltered: boolean }) | null): HTMLElement[] {
    if (!shown || !this.rows.length) return [];
    const used = shown.columns.map((name, i) => ({ name, i })).filter(({ i }) => this.rows.some(({ cells }) => cells[i]?.text)).slice(0, COLUMNS);
    const body = this.rows.map(({ cells }) => h('tr', {}, ...used.map(({ i }) => h('td', {}, cells[i]?.text ?? ''))));
    const note = shown.rows > this.rows.length ? [h('p', {}, TEXTS.first(count(this.rows.length), count(shown.rows)))] : [];
    return [h('table', {}, h('thead', {}, h('tr', {}, ...used.map(({ name }) => h('th', {}, name)))), h('tbody', {}, ...body)), ...note];
  }
}

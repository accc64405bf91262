// The views of an answer: a table, a timeline, a graph, the raw answer, statistics, and a card for the selected row. What is
// selected in one of them or on the map is selected in all.

import type { Answers } from '../answer/client';
import type { Arranged, Summary } from '../answer/model';
import { ImageGrid, IMAGE_TEXTS } from '../charts/images';
import { viewOf, type ViewOptions } from '../charts/kinds';
import { TEXTS as CHART_TEXTS } from '../charts/texts';
import { ChartView } from '../charts/view';
import { h } from '../dom';
import type { AnswerMap } from '../map/map';
import { t } from '../text/lookup';
import { Card } from './card';
import { GraphView } from './graph';
import { Raw } from './raw';
import { statistics } from './statistics';
import { Table } from './table';
import { Tabs } from './tabs';
import { Timeline } from './timeline';

/** What the views need of the page. */
export interface ViewsWiring {
  map: () => AnswerMap | null;
  /** The answer that is shown. */
  summary: () => Summary | null;
  /** Whether the snapshot has triples. */
  triples: boolean;
  /** Puts another text into the editor; missing if there is none. */
  rewrite?: (change: (text: string) => string) => void;
  go: (href: string) => void;
  /** A filter leaves these rows; null for all of them. */
  filtered: (left: Arranged | null) => void;
  /** The rows of the table or their order changed. */
  arranged?: () => void;
  /** Is told which view is seen. */
  opened: (view: string) => void;
  focusMap: () => void;
}

export class Views {
  readonly card = new Card(() => this.close(), (by) => void this.step(by));
  readonly tabs: Tabs;
  /** The selected row; -1 if none is. */
  chosen = -1;
  private timelineOffered = false;
  private readonly table: Table;
  private readonly raw: Raw;
  private readonly timeline: Timeline;
  private readonly graph: GraphView;
  private readonly chart: ChartView;
  private readonly images: ImageGrid;
  private readonly numbers = h('div', { class: 'statistics-view' });

  constructor(private readonly answers: Answers, private readonly wiring: ViewsWiring) {
    this.table = new Table(answers, { picked: (index) => void this.select(index, 'table'), filtered: (left) => this.filtered(left), triples: wiring.triples });
    this.raw = new Raw(answers);
    this.timeline = new Timeline((index) => void this.select(index, 'timeline'));
    this.graph = new GraphView(answers, (index) => void this.select(index, 'graph'), wiring.go);
    this.chart = new ChartView({ answers, picked: (index) => void this.select(index, 'graph'), rewrite: wiring.rewrite ?? null });
    this.images = new ImageGrid(answers, (index) => void this.select(index, 'graph'));
    this.tabs = new Tabs([['table', t('table'), this.table.element], ['chart', CHART_TEXTS.tab, this.chart.element], ['images', IMAGE_TEXTS.region, this.images.element], ['timeline', t('timeline'), this.timeline.element], ['graph', t('graph'), this.graph.element], ['raw', t('raw'), this.raw.element], ['statistics', t('statistics'), this.numbers]], (view) => this.seen(view));
  }

  /** Opens the table, which every answer has. */
  reset(): void {
    for (const id of ['chart', 'images', 'timeline', 'graph']) this.tabs.offer(id, false);
    this.tabs.open('table');
  }

  private seen(view: string): void {
    this.wiring.opened(view);
    if (view === 'raw' && this.wiring.summary()) void this.raw.show();
    if (view === 'graph') void this.graph.open();
    if (view === 'chart') void this.chart.open();
    if (view === 'images') void this.images.open();
    if (view === 'timeline') this.timeline.draw();
  }

  /** Shows the first rows of an answer while others still come. */
  begin(): void {
    this.chosen = -1;
    this.card.hide();
    this.graph.clear();
    this.chart.clear();
    this.raw.clear();
    this.reset();
  }

  /** Shows rows, which are more of those of `before`, if there are some. The columns of rows that come may be others. */
  rows(summary: Summary, before: Summary | null): void {
    void (before !== null && before.columns.join() === summary.columns.join() ? this.table.grow(summary) : this.table.show(summary));
    this.wiring.arranged?.();
  }

  /** Shows a whole answer. Resolves when it is known which views it has. */
  async show(summary: Summary, before: Summary | null, text = ''): Promise<void> {
    this.close();
    this.raw.clear();
    this.graph.clear();
    this.rows(summary, before);
    this.tabs.offer('graph', summary.linked);
    this.numbers.replaceChildren(statistics(summary));
    this.tabs.open(summary.kind === 'text' ? 'raw' : 'table');
    // A timeline where a column has dates.
    const dates = summary.kind === 'solutions' ? await this.answers.ask({ do: 'dates' }) : null;
    this.timeline.show(dates);
    this.timelineOffered = dates !== null;
    this.tabs.offer('timeline', dates !== null);
    await this.showCharts(summary, viewOf(summary.kind === 'solutions' ? text : ''));
  }

  /** Offers the charts that fit the columns, and the images that rows name. */
  private async showCharts(summary: Summary, options: ViewOptions): Promise<void> {
    const columns = summary.rows > 0 && summary.kind !== 'text' ? await this.answers.ask({ do: 'columns' }) : [];
    this.tabs.offer('chart', this.chart.show(columns, summary.kind === 'elements', options, summary.kind === 'solutions'));
    this.images.show(options.hide);
    this.tabs.offer('images', columns.some(({ type }) => type === 'image'));
  }

  /** Opens the view that a query names (in lower case, such as `barchart`). Returns whether the answer has it. */
  openNamed(name: string): boolean {
    const id = this.chart.has(name) ? 'chart' : name === 'imagegrid' ? 'images' : name;
    if (!this.tabs.has(id)) return false;
    this.tabs.open(id);
    return true;
  }

  /** Shows no answer. */
  clear(): void {
    this.chosen = -1;
    void this.table.show(null);
  }

  async select(index: number, from: 'map' | 'table' | 'graph' | 'timeline'): Promise<void> {
    this.chosen = index;
    const details = await this.answers.ask({ do: 'details', index });
    if (index !== this.chosen) return;
    // Of a country there is a point, too, which is not looked at from near.
    this.wiring.map()?.select(details.geometry, details.box, from !== 'map', details.href?.startsWith('/entity/') ? 9 : 16);
    if (from !== 'graph') this.graph.mark(details.nodes);
    this.timeline.mark(index);
    this.chart.mark(index);
    this.images.mark(index);
    await this.table.select(index, from !== 'table');
    this.card.show(details, this.wiring.summary()?.kind === 'solutions', this.wiring.triples);
  }

  /** A filter was set: the other views have its rows alone. */
  private filtered(left: Arranged | null): void {
    this.wiring.filtered(left);
    this.wiring.arranged?.();
    this.graph.clear();
    this.chart.refresh();
    this.images.refresh();
    if (this.timelineOffered) void this.answers.ask({ do: 'dates' }).then((dates) => this.timeline.show(dates));
  }

  /** Selects the row before or after the selected one, in the order of the table; after the last comes the first. */
  private async step(by: -1 | 1): Promise<void> {
    const index = await this.answers.ask({ do: 'beside', index: this.chosen, by });
    if (index >= 0) await this.select(index, 'graph');
  }

  /** Selects nothing. */
  close(): void {
    const focused = this.card.element.contains(document.activeElement);
    this.chosen = -1;
    this.card.hide();
    this.wiring.map()?.select(null, null, false);
    this.graph.mark([]);
    this.timeline.mark(-1);
    this.chart.mark(-1);
    this.images.mark(-1);
    void this.table.select(-1, false);
    if (focused) this.wiring.focusMap();
  }
}

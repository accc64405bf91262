// The views of an answer: a table, a timeline, a graph, the raw answer, statistics, and a card for the selected row. What is
// selected in one of them or on the map is selected in all.

import type { Answers } from '../answer/client';
import type { Summary } from '../answer/model';
import { h } from '../dom';
import type { AnswerMap } from '../map/map';
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
  go: (href: string) => void;
  /** Is told which view is seen. */
  opened: (view: string) => void;
  focusMap: () => void;
}

export class Views {
  readonly card = new Card(() => this.close());
  readonly tabs: Tabs;
  /** The selected row; -1 if none is. */
  chosen = -1;
  private readonly table: Table;
  private readonly raw: Raw;
  private readonly timeline: Timeline;
  private readonly graph: GraphView;
  private readonly numbers = h('div', { class: 'statistics-view' });

  constructor(private readonly answers: Answers, private readonly wiring: ViewsWiring) {
    this.table = new Table(answers, (index) => void this.select(index, 'table'));
    this.raw = new Raw(answers);
    this.timeline = new Timeline((index) => void this.select(index, 'timeline'));
    this.graph = new GraphView(answers, (index) => void this.select(index, 'graph'), wiring.go);
    this.tabs = new Tabs([['table', 'Table', this.table.element], ['timeline', 'Timeline', this.timeline.element], ['graph', 'Graph', this.graph.element], ['raw', 'Raw', this.raw.element], ['statistics', 'Statistics', this.numbers]], (view) => this.seen(view));
  }

  /** Opens the table, which every answer has. */
  reset(): void {
    for (const id of ['timeline', 'graph']) this.tabs.offer(id, false);
    this.tabs.open('table');
  }

  private seen(view: string): void {
    this.wiring.opened(view);
    if (view === 'raw' && this.wiring.summary()) void this.raw.show();
    if (view === 'graph') void this.graph.open();
    if (view === 'timeline') this.timeline.draw();
  }

  /** Shows the first rows of an answer while others still come. */
  begin(): void {
    this.chosen = -1;
    this.card.hide();
    this.graph.clear();
    this.raw.clear();
    this.reset();
  }

  /** Shows rows, which are more of those of `before`, if there are some. The columns of rows that come may be others. */
  rows(summary: Summary, before: Summary | null): void {
    void (before !== null && before.columns.join() === summary.columns.join() ? this.table.grow(summary) : this.table.show(summary));
  }

  /** Shows a whole answer. Resolves when it is known which views it has. */
  async show(summary: Summary, before: Summary | null): Promise<void> {
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
    this.tabs.offer('timeline', dates !== null);
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
    await this.table.select(index, from !== 'table');
    this.card.show(details, this.wiring.summary()?.kind === 'solutions', this.wiring.triples);
  }

  /** Selects nothing. */
  close(): void {
    const focused = this.card.element.contains(document.activeElement);
    this.chosen = -1;
    this.card.hide();
    this.wiring.map()?.select(null, null, false);
    this.graph.mark([]);
    this.timeline.mark(-1);
    void this.table.select(-1, false);
    if (focused) this.wiring.focusMap();
  }
}

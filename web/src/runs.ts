// Runs of a query: from the text in the editor to the answer in its views, or to the reason why there is none.

import { Answers } from './answer/client';
import type { Arranged, Summary } from './answer/model';
import { defaultView } from './default-view';
import { ICONS, announce, duration, h, icon, rows, size } from './dom';
import type { Editor } from './editor/editor';
import { remember } from './history';
import { isNarrow, type Layout } from './layout';
import type { Language } from './link';
import type { AnswerMap } from './map/map';
import type { Notices } from './notices';
import './repair/repair.css';
import { explain, type RepairWiring, type RunQuery } from './repair/repairs';
import { Refused, headers } from './service';
import { expand, type Surroundings } from './shortcuts';
import { firstLook } from './style/written';
import { labelLanguages } from './text/languages';
import { t } from './text/lookup';
import { legend } from './views/legend';
import type { Views } from './views/views';

/** What a run needs of the page. */
export interface RunWiring {
  editor: Editor;
  views: Views;
  layout: Layout;
  notices: Notices;
  map: () => AnswerMap | null;
  around: () => Surroundings;
  /** Whether the snapshot has triples. */
  triples: boolean;
  /** Says what is wrong with the link that led here. */
  warn: () => void;
  askToken: () => void;
  /** Is told of each whole answer, with the style of its query. */
  drawn?: (summary: Summary, language: Language, text: string, style: string) => void;
  /** What repairs of a query do; without it queries are not explained. */
  repairs?: RepairWiring;
  /** An answer of the user's own query is shown. */
  answered?: () => void;
  /** Whether queries are not the user's own: they are not remembered, and the part of the page that is seen stays. */
  isBackground?: boolean;
}

export class Runs {
  readonly answers = new Answers((bytes) => this.progress(bytes), (summary) => this.sofar(summary));
  readonly runButton = h('button', { type: 'button', class: 'button primary', onclick: () => void this.run() }, icon(ICONS.run), t('run'), h('kbd', {}, 'Ctrl ↵'));
  readonly stopButton = h('button', { type: 'button', class: 'button stop', hidden: true, onclick: () => void this.stop() }, icon(ICONS.stop), t('stop'));
  readonly allButton = h('button', { type: 'button', class: 'button only-icon all', hidden: true, title: t('allOfTheAnswer'), 'aria-label': t('allOfTheAnswer'), onclick: () => this.exported?.box && this.page?.map()?.fit(this.exported.box) }, icon(ICONS.target));
  summary: Summary | null = null;
  /** What a filter of the table leaves of the answer; null for all of it. */
  private left: Arranged | null = null;
  running = false;
  /** The text of the query whose answer is shown; what was asked last may have failed. */
  shownText = '';
  /** What was asked last. */
  sent: RunQuery | null = null;
  private page!: RunWiring;
  /** What is shown of an answer that still comes. */
  private begun: Summary | null = null;
  /** When the query that runs began, by the clock of the page, and bytes of its answer so far. */
  private began = 0;
  private received = 0;
  /** The view of the map that the answer belongs to, if its query depends on the view. */
  private asked: string | null = null;
  /** Counts runs, so that what comes late is not taken for what came after. */
  private turn = 0;

  /** Is called once, before the first run. */
  wire(page: RunWiring): void {
    this.page = page;
  }

  async run(): Promise<void> {
    const { editor, notices } = this.page;
    const { language, text } = editor;
    if (!text.trim()) return;
    await this.stop();
    const turn = (this.turn += 1);
    this.running = true;
    this.runButton.hidden = true;
    this.stopButton.hidden = false;
    if (document.activeElement === this.runButton || document.activeElement === document.body) this.stopButton.focus();
    this.began = performance.now();
    this.received = 0;
    // Readers of the screen hear of the end, not of each tick.
    notices.status.setAttribute('aria-live', 'off');
    notices.say(t('running'), 'running');
    const clock = window.setInterval(() => this.tick(), 500);
    notices.clear();
    this.page.warn();
    this.begun = null;
    this.asked = null;
    try {
      const view = isOfView(text) && !this.page.isBackground ? this.viewKey() : null;
      const expanded = language === 'overpassql' ? await expand(text, this.page.around()) : { text, style: '', elsewhere: false, guessed: [], origin: (at: number) => at };
      if (turn !== this.turn) return;
      this.sent = { language, text, query: expanded.text, origin: expanded.origin };
      const ask = (query: string) => this.answers.ask({ do: 'run', asked: { language, query, headers: headers(), look: firstLook(language, text, expanded.style), triples: this.page.triples, languages: labelLanguages() } });
      let summary = await ask(expanded.text);
      // The text of such a query is not the user's to change, so its elements get their places without a question.
      const placing = this.page.isBackground && turn === this.turn && lacksPlaces(summary, language) ? withGeometry(expanded.text) : expanded.text;
      if (placing !== expanded.text) summary = await ask(placing);
      if (turn !== this.turn) return;
      this.answered(summary, language, text, view);
      this.page.drawn?.(summary, language, text, expanded.style);
      for (const { name, place } of expanded.guessed) notices.add('guessed', t('wasTakenFor', { name, place }));
      if (expanded.elsewhere) notices.add('elsewhere', t('theQueryNamesAnotherServer'));
    } catch (problem) {
      if (turn === this.turn) this.failed(problem as Error);
    } finally {
      clearInterval(clock);
      if (turn === this.turn) this.ended();
    }
  }

  private ended(): void {
    this.running = false;
    this.moved();
    this.page.notices.status.removeAttribute('aria-live');
    const focused = document.activeElement === this.stopButton;
    this.runButton.hidden = false;
    this.stopButton.hidden = true;
    if (focused) this.runButton.focus();
  }

  async stop(): Promise<void> {
    if (!this.running || !(await this.answers.stop())) return;
    const { layout, views } = this.page;
    // The worker that kept the answer has ended.
    this.summary = this.begun = null;
    layout.stretch('none');
    layout.legend.replaceChildren();
    this.allButton.hidden = layout.exportButton.disabled = true;
    this.page.map()?.show(null, false);
    views.clear();
  }

  /** The answer as files have it: with the rows that pass the filter. */
  get exported(): (Summary & { isFiltered: boolean }) | null {
    return this.summary && { ...this.summary, ...this.left, isFiltered: this.left !== null };
  }

  /** A filter of the table leaves these rows; null for all of them. */
  filtered(left: Arranged | null): void {
    const shown = this.summary ?? this.begun;
    this.left = left;
    if (!shown) return;
    const { layout } = this.page;
    const placed = onMap({ ...shown, ...left });
    layout.tally.textContent = left ? t('filteredRowsOnMap', { n: left.rows, rows: rows(shown.rows), placed }) : t('rowsOnMap', { rows: rows(shown.rows), n: placed });
    this.page.map()?.show({ ...shown, ...left }, false);
  }

  /** The map was moved: a query with its box has another answer now. */
  moved(resized = false): void {
    if (this.asked === null) return;
    const { notices } = this.page;
    // At the lowest zooms a map of another size cannot keep its view.
    if (resized && notices.stale.hidden) this.asked = this.viewKey();
    else if (this.summary && !this.running) notices.markStale(this.viewKey() === this.asked ? '' : t('ofAnotherView'));
  }

  /** Centre and zoom of the map as a text. */
  private viewKey(): string | null {
    return this.page.map()?.view.map((number) => number.toFixed(5)).join() ?? null;
  }

  /** Shows how long a query has been running, and what of its answer has come. */
  private tick(): void {
    const since = duration(performance.now() - this.began);
    this.page.notices.say(this.received ? t('receivedIn', { size: size(this.received), since }) : t('runningSince', { since }), 'running');
  }

  private progress(bytes: number): void {
    this.received = bytes;
    if (this.running) this.tick();
  }

  /** Shows rows while others still come. */
  private sofar(summary: Summary): void {
    if (!this.running) return;
    const { layout, views } = this.page;
    const first = this.begun === null;
    const before = this.begun;
    this.begun = this.summary = summary;
    this.left = null;
    this.shownText = this.sent?.text ?? '';
    layout.exportButton.disabled = true;
    const placed = onMap(summary);
    layout.tally.textContent = t('soFarOnTheMap', { rows: rows(summary.rows), n: placed });
    if (first) {
      views.begin();
      layout.stretch(placed ? 'split' : 'full');
    }
    views.rows(summary, before);
    this.page.map()?.show(summary, first && !isOfView(this.page.editor.text));
  }

  /** Shows an answer. `view` is the view of the map when its query was sent, if it depends on it. */
  private answered(summary: Summary, language: Language, text: string, view: string | null): void {
    const { layout, notices, views } = this.page;
    const map = this.page.map();
    this.summary = summary;
    this.left = null;
    this.shownText = text;
    const placed = onMap(summary);
    const what = summary.kind === 'text' ? t('text') : rows(summary.rows);
    notices.say(`${what} · ${duration(summary.total)} · ${size(summary.bytes)}`);
    announce(t('rowsOnMap', { rows: what, n: placed }));
    layout.tally.textContent = summary.kind === 'text' ? size(summary.bytes) : t('rowsOnMap', { rows: rows(summary.rows), n: placed });
    this.allButton.hidden = summary.box === null;
    layout.legend.replaceChildren(legend(summary.layers));
    layout.exportButton.disabled = false;
    notices.markStale('');
    void views.show(summary, this.begun, text).then(() => this.openNamedView(language, text));
    const seen = map?.seen;
    const grows = layout.main.dataset.dock === 'none' || this.begun !== null;
    layout.stretch(placed === 0 && (summary.rows > 0 || summary.kind === 'text') ? 'full' : 'split');
    this.asked = view;
    map?.show(summary, view === null);
    // The box of the query stays in view when the rows take a part of the map's place.
    if (view !== null && view === this.viewKey()) {
      if (seen && grows) map?.showAgain(seen);
      this.asked = this.viewKey();
    }
    notices.clear();
    this.page.warn();
    this.remarks(summary, language, text, placed);
    // Where one part is seen at a time, that with the answer, unless there is something to be read first.
    if (isNarrow() && notices.isEmpty() && !this.page.isBackground) layout.pane(placed ? 'map' : 'answer');
    this.page.answered?.();
    if (!this.page.isBackground) remember({ query: text, language, at: Date.now(), rows: summary.rows, ms: summary.total });
  }

  /** Says what an answer lacks. */
  private remarks(summary: Summary, language: Language, text: string, placed: number): void {
    const { editor, notices } = this.page;
    const isNothing = summary.rows === 0 && summary.kind !== 'text';
    if (isNothing) {
      notices.add('empty', t('nothingWasFound'));
      void this.explain('empty');
    }
    if (!this.page.isBackground && lacksPlaces(summary, language) && withGeometry(text) !== text) {
      const run = h('button', { type: 'button', class: 'button small', onclick: () => ((editor.text = withGeometry(editor.text)), void this.run()) }, t('askWithGeometry'));
      notices.add('unplaced', placed ? t('ofElementsTheAnswerDoesNot', { n: summary.unplaced }) : t('theAnswerSaysNowhereWhere'), run);
    }
    if (summary.remark) notices.add('remark', summary.remark);
    if (summary.part && summary.kind !== 'text') notices.add('part', t('theAnswerHasTheseAreIts', { size: size(summary.bytes), rows: rows(summary.rows) }));
    if (summary.unasked) notices.add('unasked', t('rowsAreNotOnTheMap', { n: summary.unasked }));
  }

  /** Explains why a query has no results or fails, and offers what would repair it. */
  private async explain(notice: string): Promise<void> {
    const { turn, sent } = this;
    const { repairs, notices } = this.page;
    if (!repairs || !sent) return;
    const why = await explain(sent, repairs);
    if (why && turn === this.turn) notices.explain(notice, why);
  }

  /** Opens the view that a query names in a comment (`#defaultView:Graph`), where there is one. */
  private openNamedView(language: Language, text: string): void {
    const { layout, notices, views } = this.page;
    const name = language === 'sparql' ? defaultView(text).view : '';
    if (!name || name === 'map') return;
    if (!views.openNamed(name)) return notices.add('view', t('thereIsNoViewOfThis', { name }));
    layout.stretch('full');
    if (isNarrow()) layout.pane('answer');
  }

  private failed(problem: Error): void {
    const { editor, notices } = this.page;
    if (problem.message === 'stopped') return this.stopped();
    // What is shown is not what was asked for now.
    notices.markStale(this.summary ? t('ofAnEarlierQuery') : '');
    if (problem instanceof Refused && problem.status === 401) return this.page.askToken();
    const [first = ''] = problem.message.split('\n');
    // The notice has the message.
    notices.say(t('failedAfter', { duration: duration(performance.now() - this.began) }), 'error');
    announce(first);
    notices.clear();
    const line = /^line (\d+)/.exec(first)?.[1];
    const go = line && h('button', { type: 'button', class: 'button small', onclick: () => editor.show(editor.text.split('\n').slice(0, Number(line) - 1).join('\n').length + (line === '1' ? 0 : 1)) }, t('lineN', { line }));
    notices.add('error', problem.message, go || undefined);
    if (problem instanceof Refused && problem.status === 400) void this.explain('error');
    editor.check();
  }

  /** Keeps the rows that had come before a query was stopped. */
  private stopped(): void {
    const { layout, notices } = this.page;
    notices.say(this.begun ? t('stoppedHadCome', { rows: rows(this.begun.rows) }) : t('stopped'));
    if (!this.begun) return notices.markStale(this.summary ? t('ofAnEarlierQuery') : '');
    layout.tally.textContent = t('theFirstOnTheMap', { rows: rows(this.begun.rows), n: onMap(this.begun) });
    layout.exportButton.disabled = false;
    notices.markStale('');
  }
}

/** Number of rows with a geometry. */
const onMap = ({ geometries }: Pick<Summary, 'geometries'>): number => geometries.point + geometries.line + geometries.polygon;

/** Whether elements of an answer came without their geometry. */
const lacksPlaces = (summary: Summary, language: Language): boolean =>
  language === 'overpassql' && summary.kind === 'elements' && summary.unplaced > 0 && Boolean(summary.types.way || summary.types.relation || summary.types.node);

/** Whether the answer to a query depends on the view of the map. */
const isOfView = (text: string): boolean => /\{\{(bbox|wsen|center)\}\}/.test(text);

/** Adds `geom` to the outputs of a query. */
function withGeometry(text: string): string {
  return text.replace(/\bout\b((?:\s+[\w.]+)*)\s*;/g, (whole, modes: string) => (/\b(geom|center|bb|count|ids)\b/.test(modes) ? whole : `out${modes} geom;`));
}

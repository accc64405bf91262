// The page: an editor, the answer on a map and as a table, and what leads from one to the other.

import { Answers } from './answer/client';
import type { Summary } from './answer/model';
import { ICONS, announce, count, duration, h, icon, popover, rows, size } from './dom';
import { Editor } from './editor/editor';
import { fitting } from './examples';
import { drafts, keepDrafts, remember, setSetting } from './history';
import { LANGUAGES, read as readLink, type Language, type Link } from './link';
import type { AnswerMap } from './map/map';
import { settled, wholeView } from './map/whole';
import { Refused, headers, json, type Snapshot } from './service';
import { expand, type Surroundings } from './shortcuts';
import { separator } from './split';
import { applyTheme, theme } from './theme';
import { Ask } from './views/ask';
import { Card } from './views/card';
import { address, look } from './views/element';
import { finder } from './views/finder';
import { GraphView } from './views/graph';
import { Raw } from './views/raw';
import { exportShelf } from './views/exports';
import { legend } from './views/legend';
import { about, exampleShelf, help, historyShelf, shareShelf } from './views/shelves';
import { statistics } from './views/statistics';
import { Table } from './views/table';
import { Tabs } from './views/tabs';
import { Timeline } from './views/timeline';
import { askToken } from './views/token';

class Page {
  private readonly answers = new Answers((bytes) => this.progress(bytes), (summary) => this.sofar(summary));
  private readonly editor: Editor;
  private readonly table = new Table(this.answers, (index) => void this.select(index, 'table'));
  private readonly raw = new Raw(this.answers);
  private readonly ask = new Ask({ show: ({ language, query }) => this.adopt(language, query), unknown: (again) => askToken(again) });
  private readonly timeline = new Timeline((index) => void this.select(index, 'timeline'));
  private readonly graph = new GraphView(this.answers, (index) => void this.select(index, 'graph'), (href) => this.go(href));
  private map: AnswerMap | null = null;
  /** What is shown of an answer that still comes. */
  private begun: Summary | null = null;
  private summary: Summary | null = null;
  private running = false;
  /** When the query that runs began, by the clock of the page, and bytes of its answer so far. */
  private began = 0;
  private received = 0;
  /** The view of the map that the answer belongs to, if its query depends on the view. */
  private asked: string | null = null;
  /** The selected row; -1 if none is. */
  private chosen = -1;
  /** Counts runs and what addresses led to, so that what comes late is not taken for what came after. */
  private runs = 0;
  private routes = 0;
  /** What was asked last, as it was written and as it was sent. */
  private sent: { language: Language; text: string; query: string } | null = null;
  private texts: Record<Language, string>;
  private link: Link;

  private readonly status = h('p', { class: 'status', role: 'status' });
  private readonly runButton = h('button', { type: 'button', class: 'button primary', onclick: () => void this.run() }, icon(ICONS.run), 'Run', h('kbd', {}, 'Ctrl ↵'));
  private readonly stopButton = h('button', { type: 'button', class: 'button stop', hidden: true, onclick: () => void this.stop() }, icon(ICONS.stop), 'Stop');
  private readonly languages = h('div', { class: 'segments', role: 'radiogroup', 'aria-label': 'How to ask' });
  private readonly mapElement = h('div', { class: 'map' });
  private readonly notices = h('div', { class: 'notices' });
  private readonly card = new Card(() => this.close());
  private readonly dock: HTMLElement;
  private readonly numbers = h('div', { class: 'statistics-view' });
  private readonly tabs = new Tabs([['table', 'Table', this.table.element], ['timeline', 'Timeline', this.timeline.element], ['graph', 'Graph', this.graph.element], ['raw', 'Raw', this.raw.element], ['statistics', 'Statistics', this.numbers]], (view) => this.seen(view));
  private readonly tally = h('p', { class: 'tally muted' });
  private readonly stale = h('span', { class: 'stale', hidden: true });
  private readonly expandButton = h('button', { type: 'button', class: 'button quiet', onclick: () => this.stretch(this.main.dataset.dock === 'full' ? 'split' : 'full') });
  private readonly query = h('section', { class: 'query', 'aria-label': 'Query' });
  private readonly entity = h('section', { class: 'entity-pane', 'aria-label': 'Element', hidden: true });
  private readonly main = h('main', { class: 'layout', id: 'main' });
  private readonly panes = h('nav', { class: 'panes', 'aria-label': 'Parts of the page' });
  private readonly exportButton = h('button', { type: 'button', class: 'button quiet', disabled: true }, icon(ICONS.save), h('span', {}, 'Export'));
  private readonly allButton = h('button', { type: 'button', class: 'button only-icon all', hidden: true, title: 'All of the answer', 'aria-label': 'All of the answer', onclick: () => this.summary?.box && this.map?.fit(this.summary.box) }, icon(ICONS.target));
  private readonly legend = h('div', { class: 'legend-host' });

  constructor(private readonly snapshot: Snapshot) {
    this.link = readLink(location);
    const kept = drafts();
    const first = (language: Language) => kept[language] ?? fitting(snapshot).find((example) => example.language === language)?.query ?? '';
    this.texts = { overpassql: first('overpassql'), sparql: first('sparql') };
    this.editor = new Editor({
      around: () => this.around(),
      run: () => void this.run(),
      leave: () => (this.running ? void this.stop() : this.runButton.focus()),
      changed: (text) => this.changed(text),
      checked: (problems) => {
        const errors = problems.filter((problem) => problem.severity === 'error').length;
        this.query.dataset.problems = errors ? 'errors' : problems.length ? 'warnings' : '';
        // The first problem of a draft never replaces the outcome of a run.
        const draft = this.status.dataset.kind === 'draft' || !this.status.textContent;
        if (!this.running && draft) this.say(errors ? (problems[0]?.message ?? '').split('\n')[0] ?? '' : '', 'draft');
      },
    });
    this.dock = this.makeDock();
    this.build();
    const language = this.link.language ?? kept.language ?? 'overpassql';
    if (this.link.query !== undefined) this.texts[language] = this.link.query;
    this.speak(language);
    this.theme();
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.theme());
    addEventListener('popstate', () => void this.route());
    addEventListener('hashchange', () => this.follow());
    addEventListener('keydown', (event) => this.key(event));
    document.addEventListener('click', (event) => this.click(event));
    void this.start();
  }

  /** What can wait until the page is seen. */
  private async start(): Promise<void> {
    this.warn();
    await new Promise(requestAnimationFrame);
    await this.draw().catch((problem: Error) => this.mapElement.replaceChildren(h('p', { class: 'muted pad', role: 'status' }, `There is no map in this browser: ${problem.message}`)));
    await this.route();
    if (this.link.run && this.link.query !== undefined) void this.run();
  }

  private async draw(): Promise<void> {
    const { AnswerMap } = await import('./map/map');
    const box = this.snapshot.bounding_box;
    const view = this.link.view;
    this.map = new AnswerMap(
      this.mapElement,
      { picked: (index) => void (index === null ? this.close() : this.select(index, 'map')), tile: (z, x, y) => this.answers.ask({ do: 'tile', z, x, y }), apart: (cluster) => this.answers.ask({ do: 'apart', cluster }), moved: (resized) => this.moved(resized) },
      theme(),
      view ? { center: [view[1], view[0]], zoom: view[2] } : { center: [0, 20], zoom: 1 },
    );
    if (!view && box) this.map.view = wholeView((await settled()) ?? box, this.mapElement);
  }

  private build(): void {
    const { snapshot } = this;
    const [source] = snapshot.sources;
    const name = (source?.name ?? 'snapshot').replace(/\.(osm\.pbf|osm|pbf|nt\.gz|nt|json.*)$/, '');
    const chip = h('button', { type: 'button', class: 'chip', title: 'What is served' }, h('span', { class: 'chip-name' }, name), h('span', { class: 'chip-date' }, snapshot.data_time.slice(0, 10)), h('code', {}, snapshot.digest.slice(0, 8)));
    popover(chip, about(snapshot));
    const themeButton = h('button', { type: 'button', class: 'button quiet only-icon', title: 'Light, dark or as the system', 'aria-label': 'Colours: light, dark or as the system', onclick: () => this.nextTheme() }, icon(ICONS.theme));
    const helpButton = h('button', { type: 'button', class: 'button quiet only-icon', title: 'Keys', 'aria-label': 'Keys' }, icon(ICONS.help));
    popover(helpButton, help());
    const examplesButton = h('button', { type: 'button', class: 'button quiet', 'aria-label': 'Examples' }, icon(ICONS.book), h('span', {}, 'Examples'));
    exampleShelf(examplesButton, fitting(snapshot), () => this.around(), (example) => this.take(example.language, example.query, true));
    const formatButton = h('button', { type: 'button', class: 'button quiet', 'aria-label': 'Lay out', title: 'Lay the query out (Shift+Alt+F)', onclick: () => this.editor.format() }, icon(ICONS.format));
    const historyButton = h('button', { type: 'button', class: 'button quiet', 'aria-label': 'History' }, icon(ICONS.clock), h('span', {}, 'History'));
    historyShelf(historyButton, (entry) => this.take(entry.language, entry.query, false));
    const shareButton = h('button', { type: 'button', class: 'button quiet', 'aria-label': 'Share' }, icon(ICONS.link), h('span', {}, 'Share'));
    shareShelf(shareButton, {
      shared: () => ({ language: this.editor.language, text: this.editor.text, view: this.map?.view, snapshot: snapshot.digest.slice(0, 16) }),
      sent: async () => {
        const { language, text } = this.editor;
        if (this.sent?.language === language && this.sent.text === text) return this.sent.query;
        return language === 'overpassql' ? (await expand(text, this.around())).text : text;
      },
    });
    exportShelf(this.exportButton, this.answers, () => this.summary, (problem) => this.notice('error', problem));
    for (const language of Object.keys(LANGUAGES) as Language[]) {
      this.languages.append(h('button', { type: 'button', role: 'radio', 'data-language': language, onclick: () => (this.mode(false), this.speak(language)) }, LANGUAGES[language]));
    }
    if (snapshot.ask) this.languages.append(h('button', { type: 'button', role: 'radio', 'data-language': 'ask', title: 'In plain language', onclick: () => (this.mode(true), this.ask.focus()) }, 'Ask'));
    this.languages.addEventListener('keydown', (event) => {
      if (!/^Arrow/.test(event.key)) return;
      event.preventDefault();
      const all = [...this.languages.querySelectorAll<HTMLElement>('button:not([disabled])')];
      const at = all.findIndex((button) => button.getAttribute('aria-checked') === 'true');
      const next = all[(at + (/Right|Down/.test(event.key) ? 1 : all.length - 1)) % all.length];
      next?.click();
      next?.focus();
    });
    this.query.append(
      h('div', { class: 'tools' }, this.languages, h('span', { class: 'grow' }), formatButton, examplesButton, historyButton, shareButton),
      this.editor.element,
      this.notices,
      h('div', { class: 'runbar' }, this.runButton, this.stopButton, this.status),
      ...(snapshot.ask ? [this.ask.element] : []),
    );
    const moved = () => this.map?.resize();
    const right = h('div', { class: 'right' });
    right.append(
      h('section', { class: 'map-pane', 'aria-label': 'Map' }, this.mapElement, h('div', { class: 'map-tools' }, finder((box) => this.map?.fit(box)), this.allButton), this.legend),
      separator(right, '--map', 'Height of the map', false, 62, moved),
      this.dock,
      this.card.element,
    );
    this.main.append(h('div', { class: 'left' }, this.query, this.entity), separator(this.main, '--left', 'Width of the query', true, 38, moved), right);
    this.main.dataset.pane = 'query';
    this.main.dataset.dock = 'none';
    for (const [pane, label] of [['query', 'Query'], ['map', 'Map'], ['answer', 'Answer']] as const) {
      this.panes.append(h('button', { type: 'button', 'data-pane': pane, 'aria-pressed': String(pane === 'query'), onclick: () => this.pane(pane) }, label));
    }
    document.body.append(
      h(
        'header',
        { class: 'bar' },
        h('a', { class: 'skip', href: '#main', onclick: (event: Event) => (event.preventDefault(), this.editor.focus()) }, 'To the query'),
        h('h1', {}, h('a', { href: '/', class: 'brand', 'data-view': '' }, h('img', { src: '/page/icon.svg', alt: '', width: 22, height: 22 }), h('span', {}, 'Terrapin'))),
        chip, h('span', { class: 'grow' }),
        themeButton,
        helpButton,
      ),
      this.main,
      this.panes,
      h('div', { id: 'live', class: 'unseen', 'aria-live': 'polite' }),
    );
    new ResizeObserver(moved).observe(this.mapElement);
  }

  private makeDock(): HTMLElement {
    const { list, panels } = this.tabs;
    const dock = h('section', { class: 'dock', 'aria-label': 'Answer' }, h('div', { class: 'dock-head' }, list, this.tally, this.stale, h('span', { class: 'grow' }), this.exportButton, this.expandButton), panels);
    this.tabs.open('table');
    for (const id of ['timeline', 'graph']) this.tabs.offer(id, false);
    this.stretch('none');
    return dock;
  }

  private seen(view: string): void {
    this.main.dataset.tab = view;
    if (view === 'raw' && this.summary) void this.raw.show();
    if (view === 'graph') void this.graph.open();
    if (view === 'timeline') this.timeline.draw();
  }

  /** How much of the page the answer's rows take. */
  private stretch(how: 'none' | 'split' | 'full'): void {
    this.main.dataset.dock = how;
    const full = how === 'full';
    this.expandButton.replaceChildren(icon(full ? ICONS.down : ICONS.up));
    this.expandButton.setAttribute('aria-label', full ? 'Show the map, too' : 'Rows only');
    this.expandButton.title = full ? 'Show the map, too' : 'Rows only';
    this.map?.resize();
  }

  private pane(name: string): void {
    this.main.dataset.pane = name;
    for (const button of this.panes.children) button.setAttribute('aria-pressed', String((button as HTMLElement).dataset.pane === name));
    this.map?.resize();
  }

  private around(): Surroundings {
    const box = this.map?.box ?? this.snapshot.bounding_box ?? [-90, -180, 90, 180];
    return { bbox: box, now: this.snapshot.data_time };
  }

  private speak(language: Language): void {
    this.editor.language = language;
    this.editor.text = this.texts[language];
    this.mark();
  }

  /** Shows in which language is asked. */
  private mark(): void {
    const wanted = this.query.dataset.mode === 'ask' ? 'ask' : this.editor.language;
    for (const button of this.languages.querySelectorAll<HTMLElement>('button')) {
      const on = button.dataset.language === wanted;
      button.setAttribute('aria-checked', String(on));
      button.tabIndex = on ? 0 : -1;
    }
  }

  private changed(text: string): void {
    this.texts[this.editor.language] = text;
    // What a link brought is looked at: what was being written before is kept.
    if (text !== this.link.query) keepDrafts({ language: this.editor.language, ...this.texts });
  }

  /** Puts a query into the editor. */
  private take(language: Language, query: string, run: boolean): void {
    this.mode(false);
    this.texts[language] = query;
    this.speak(language);
    this.editor.focus();
    if (run) void this.run();
  }

  /** Asks in plain language, or by a query. */
  private mode(asks: boolean): void {
    this.query.dataset.mode = asks ? 'ask' : 'query';
    this.ask.element.hidden = !asks;
    this.editor.element.hidden = asks;
    this.mark();
  }

  /** Runs a query that was written elsewhere, and leaves the focus where it is. */
  private adopt(language: Language, query: string): void {
    this.texts[language] = query;
    this.speak(language);
    void this.run();
  }

  /** The map was moved: a query with its box has another answer now. */
  private moved(resized = false): void {
    if (this.asked === null) return;
    // At the lowest zooms a map of another size cannot keep its view.
    if (resized && this.stale.hidden) this.asked = this.viewKey();
    else if (this.summary && !this.running) this.markStale(this.viewKey() === this.asked ? '' : 'of another view');
  }

  /** Centre and zoom of the map as a text. */
  private viewKey(): string | null {
    return this.map?.view.map((number) => number.toFixed(5)).join() ?? null;
  }

  /** Says of the answer that is shown why it is not that of the query and the map; nothing if it is. */
  private markStale(why: string): void {
    this.stale.hidden = why === '';
    this.stale.textContent = why;
    this.dock.toggleAttribute('data-stale', why !== '');
  }

  /** Shows how long a query has been running, and what of its answer has come. */
  private tick(): void {
    const since = duration(performance.now() - this.began);
    this.say(this.received ? `${size(this.received)} in ${since} …` : `Running … ${since}`, 'running');
  }

  private say(text: string, kind = ''): void {
    this.status.textContent = text;
    this.status.dataset.kind = kind;
  }

  private progress(bytes: number): void {
    this.received = bytes;
    if (this.running) this.tick();
  }

  /** Shows rows while others still come. */
  private sofar(summary: Summary): void {
    if (!this.running) return;
    const first = this.begun === null;
    const shown = this.begun ?? this.summary;
    this.begun = this.summary = summary;
    this.exportButton.disabled = true;
    const placed = summary.geometries.point + summary.geometries.line + summary.geometries.polygon;
    this.tally.textContent = `${rows(summary.rows)} so far, ${count(placed)} on the map`;
    if (first) {
      this.chosen = -1;
      this.card.hide();
      this.graph.clear();
      this.raw.clear();
      for (const id of ['timeline', 'graph']) this.tabs.offer(id, false);
      this.tabs.open('table');
      this.stretch(placed ? 'split' : 'full');
    }
    // The columns of rows that come may be others than of those before.
    void (first || shown?.columns.join() !== summary.columns.join() ? this.table.show(summary) : this.table.grow(summary));
    this.map?.show(summary, first && !isOfView(this.editor.text));
  }

  async run(): Promise<void> {
    const language = this.editor.language;
    const text = this.editor.text;
    if (!text.trim()) return;
    await this.stop();
    const turn = (this.runs += 1);
    this.running = true;
    this.runButton.hidden = true;
    this.stopButton.hidden = false;
    if (document.activeElement === this.runButton || document.activeElement === document.body) this.stopButton.focus();
    this.began = performance.now();
    this.received = 0;
    // Readers of the screen hear of the end, not of each tick.
    this.status.setAttribute('aria-live', 'off');
    this.say('Running …', 'running');
    const clock = window.setInterval(() => this.tick(), 500);
    this.notices.replaceChildren();
    this.warn();
    this.begun = null;
    this.asked = null;
    try {
      const view = isOfView(text) ? this.viewKey() : null;
      const expanded = language === 'overpassql' ? await expand(text, this.around()) : { text, style: '', elsewhere: false, guessed: [] };
      if (turn !== this.runs) return;
      this.sent = { language, text, query: expanded.text };
      const summary = await this.answers.ask({ do: 'run', asked: { language, query: expanded.text, headers: headers(), style: expanded.style, triples: this.snapshot.triples !== null } });
      if (turn !== this.runs) return;
      this.answered(summary, language, text, view);
      for (const { name, place } of expanded.guessed) this.notice('guessed', `"${name}" was taken for ${place}.`);
      if (expanded.elsewhere) this.notice('elsewhere', 'The query names another server to be asked: this is what the snapshot here answers.');
    } catch (problem) {
      if (turn === this.runs) this.failed(problem as Error);
    } finally {
      clearInterval(clock);
      if (turn !== this.runs) return;
      this.running = false;
      this.moved();
      this.status.removeAttribute('aria-live');
      const focused = document.activeElement === this.stopButton;
      this.runButton.hidden = false;
      this.stopButton.hidden = true;
      if (focused) this.runButton.focus();
    }
  }

  /** Shows an answer. `view` is the view of the map when its query was sent, if it depends on it. */
  private answered(summary: Summary, language: Language, text: string, view: string | null): void {
    this.summary = summary;
    const placed = summary.geometries.point + summary.geometries.line + summary.geometries.polygon;
    const what = summary.kind === 'text' ? 'text' : rows(summary.rows);
    this.say(`${what} · ${duration(summary.total)} · ${size(summary.bytes)}`);
    announce(`${what}, ${count(placed)} on the map`);
    this.tally.textContent = summary.kind === 'text' ? size(summary.bytes) : `${rows(summary.rows)}, ${count(placed)} on the map`;
    this.allButton.hidden = summary.box === null;
    this.legend.replaceChildren(legend(summary));
    this.exportButton.disabled = false;
    this.markStale('');
    this.close();
    this.raw.clear();
    this.graph.clear();
    const same = this.begun !== null && this.begun.columns.join() === summary.columns.join();
    void (same ? this.table.grow(summary) : this.table.show(summary));
    this.tabs.offer('graph', summary.linked);
    this.numbers.replaceChildren(statistics(summary));
    this.tabs.open(summary.kind === 'text' ? 'raw' : 'table');
    void this.dated(summary).then(() => this.wanted(language, text));
    const seen = this.map?.seen;
    const grows = this.main.dataset.dock === 'none' || this.begun !== null;
    this.stretch(placed === 0 && (summary.rows > 0 || summary.kind === 'text') ? 'full' : 'split');
    this.asked = view;
    this.map?.show(summary, view === null);
    // The box of the query stays in view when the rows take a part of the map's place.
    if (view !== null && view === this.viewKey()) {
      if (seen && grows) this.map?.showAgain(seen);
      this.asked = this.viewKey();
    }
    this.notices.replaceChildren();
    this.warn();
    if (summary.rows === 0 && summary.kind !== 'text') this.notice('empty', 'Nothing was found.');
    const unplaced = language === 'overpassql' && summary.kind === 'elements' && summary.unplaced > 0 && (summary.types.way || summary.types.relation || summary.types.node);
    if (unplaced && withGeometry(text) !== text) {
      const run = h('button', { type: 'button', class: 'button small', onclick: () => ((this.editor.text = withGeometry(this.editor.text)), void this.run()) }, 'Ask with geometry');
      this.notice('unplaced', placed ? `Of ${count(summary.unplaced)} elements the answer does not say where they are.` : 'The answer says nowhere where its elements are.', run);
    }
    if (summary.remark) this.notice('remark', summary.remark);
    if (summary.part && summary.kind !== 'text') this.notice('part', `The answer has ${size(summary.bytes)}: these are its first ${rows(summary.rows)}. Export, As it came, has all of it.`);
    if (summary.unasked) this.notice('unasked', `${count(summary.unasked)} rows are not on the map: ask for their coordinates to have them there.`);
    // Where one part is seen at a time, that with the answer, unless there is something to be read first.
    if (matchMedia(NARROW).matches && !this.notices.firstChild) this.pane(placed ? 'map' : 'answer');
    remember({ query: text, language, at: Date.now(), rows: summary.rows, ms: summary.total });
  }

  /** Opens the view that a query names in a comment (`#defaultView:Graph`), where there is one. */
  private wanted(language: Language, text: string): void {
    const name = language === 'sparql' ? /^\s*#\s*defaultView\s*:\s*(\w+)/im.exec(text)?.[1]?.toLowerCase() : undefined;
    if (name && !this.tabs.has(name)) this.notice('view', `There is no view "${name}" of this answer; it is shown as a table.`);
    if (!name || !this.tabs.has(name)) return;
    this.tabs.open(name);
    this.stretch('full');
    if (matchMedia(NARROW).matches) this.pane('answer');
  }

  /** A timeline where a column has dates. */
  private async dated(summary: Summary): Promise<void> {
    const dates = summary.kind === 'solutions' ? await this.answers.ask({ do: 'dates' }) : null;
    this.timeline.show(dates);
    this.tabs.offer('timeline', dates !== null);
  }

  private failed(problem: Error): void {
    if (problem.message === 'stopped') return this.stopped();
    // What is shown is not what was asked for now.
    this.markStale(this.summary ? 'of an earlier query' : '');
    if (problem instanceof Refused && problem.status === 401) return this.askToken();
    const [first = ''] = problem.message.split('\n');
    // The notice has the message.
    this.say(`Failed after ${duration(performance.now() - this.began)}.`, 'error');
    announce(first);
    this.notices.replaceChildren();
    const line = /^line (\d+)/.exec(first)?.[1];
    const go = line && h('button', { type: 'button', class: 'button small', onclick: () => this.editor.show(this.editor.text.split('\n').slice(0, Number(line) - 1).join('\n').length + (line === '1' ? 0 : 1)) }, `Line ${line}`);
    this.notice('error', problem.message, go || undefined);
    this.editor.check();
  }

  /** Keeps the rows that had come before a query was stopped. */
  private stopped(): void {
    this.say(this.begun ? `Stopped: ${rows(this.begun.rows)} had come.` : 'Stopped.');
    if (!this.begun) return this.markStale(this.summary ? 'of an earlier query' : '');
    const { geometries, rows: number } = this.begun;
    this.tally.textContent = `the first ${rows(number)}, ${count(geometries.point + geometries.line + geometries.polygon)} on the map`;
    this.exportButton.disabled = false;
    this.markStale('');
  }

  private async stop(): Promise<void> {
    if (!this.running || !(await this.answers.stop())) return;
    // The worker that kept the answer has ended.
    this.summary = this.begun = null;
    this.chosen = -1;
    this.stretch('none');
    this.legend.replaceChildren();
    this.allButton.hidden = this.exportButton.disabled = true;
    this.map?.show(null, false);
    void this.table.show(null);
  }

  /** A line under the query; without a text the line of this kind goes. */
  private notice(kind: string, text?: string, ...more: (Node | undefined)[]): void {
    this.notices.querySelector(`[data-kind="${kind}"]`)?.remove();
    if (!text) return;
    const close = h('button', { type: 'button', class: 'button quiet only-icon', 'aria-label': 'Dismiss', onclick: () => this.notice(kind) }, icon(ICONS.close));
    this.notices.append(h('div', { class: 'notice', role: kind === 'error' ? 'alert' : 'status', 'data-kind': kind }, h('p', {}, text), ...more.filter((node) => node !== undefined), close));
  }

  /** Says so where a link was made over another snapshot. */
  private warn(): void {
    const { snapshot: made, problem } = this.link;
    if (problem) this.notice('link', problem);
    if (made && !this.snapshot.digest.startsWith(made)) this.notice('snapshot', `This link was made over another snapshot (${made.slice(0, 8)}): answers may differ.`);
  }

  private async select(index: number, from: 'map' | 'table' | 'graph' | 'timeline'): Promise<void> {
    this.chosen = index;
    const details = await this.answers.ask({ do: 'details', index });
    if (index !== this.chosen) return;
    // Of a country there is a point, too, which is not looked at from near.
    this.map?.select(details.geometry, details.box, from !== 'map', details.href?.startsWith('/entity/') ? 9 : 16);
    if (from !== 'graph') this.graph.mark(details.nodes);
    this.timeline.mark(index);
    await this.table.select(index, from !== 'table');
    this.card.show(details, this.summary?.kind === 'solutions', this.snapshot.triples !== null);
  }

  private close(): void {
    const focused = this.card.element.contains(document.activeElement);
    this.chosen = -1;
    this.card.hide();
    this.map?.select(null, null, false);
    this.graph.mark([]);
    this.timeline.mark(-1);
    void this.table.select(-1, false);
    if (focused) this.mapElement.querySelector<HTMLElement>('canvas')?.focus();
  }

  /** What the address shows: the query, or an element. */
  private async route(): Promise<void> {
    const turn = (this.routes += 1);
    const shown = address(location.pathname);
    this.query.hidden = shown !== null;
    this.entity.hidden = shown === null;
    if (!shown) {
      document.title = 'Terrapin';
      this.map?.select(null, null, false);
      // The row that was selected before is selected again, on the map and in its card.
      if (this.summary && this.chosen >= 0) void this.select(this.chosen, 'table');
      return;
    }
    this.pane('query');
    const back = h('a', { href: '/', class: 'button quiet', 'data-view': '' }, icon(ICONS.back), 'Query');
    this.entity.replaceChildren(h('div', { class: 'tools' }, back), h('p', { class: 'muted pad' }, 'Looking …'));
    try {
      const found = await look(location.pathname, this.snapshot);
      if (turn !== this.routes) return;
      this.entity.replaceChildren(h('div', { class: 'tools' }, back), found.element);
      document.title = `${found.title.slice(0, 80)} · Terrapin`;
      found.element.querySelector('h2')?.focus();
      this.card.hide();
      this.map?.select(found.geometry, null, false);
      if (found.box) this.map?.fit(found.box, found.pointZoom);
    } catch (problem) {
      if (turn !== this.routes) return;
      if (problem instanceof Refused && problem.status === 401) askToken(() => void this.route());
      this.entity.replaceChildren(h('div', { class: 'tools' }, back), h('div', { class: 'entity' }, h('h2', { tabindex: '-1', class: 'title' }, 'Not here'), h('p', {}, (problem as Error).message)));
    }
  }

  /** Links within the page are followed without loading it again. */
  private click(event: MouseEvent): void {
    const link = (event.target as HTMLElement).closest?.<HTMLAnchorElement>('a[data-view]');
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    this.go(link.getAttribute('href') ?? '/');
  }

  /** Shows what an address of the page leads to. */
  private go(href: string): void {
    history.pushState(null, '', href);
    void this.route();
  }

  /** Another link of this page was opened in it. */
  private follow(): void {
    const link = readLink(location);
    if (link.view && this.map) this.map.view = link.view;
    if (link.query === undefined) return;
    this.link = link;
    const language = link.language ?? 'overpassql';
    this.texts[language] = link.query;
    this.speak(language);
    this.notices.replaceChildren();
    this.warn();
    if (link.run) void this.run();
  }

  private key(event: KeyboardEvent): void {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey) && !event.defaultPrevented) {
      event.preventDefault();
      void this.run();
    } else if (event.key === 'Escape' && !event.defaultPrevented && !document.querySelector(':popover-open')) {
      if (this.running) void this.stop();
      else if (this.ask.stop()) return;
      else if (this.card.open) this.close();
    } else if (event.key === 'F6') {
      event.preventDefault();
      this.onward(event.shiftKey ? -1 : 1);
    }
  }

  /** Goes to the next part that is there: the query or what is in its place, the map, the answer. */
  private onward(step: number): void {
    const narrow = matchMedia(NARROW).matches;
    const parts: [pane: string, host: HTMLElement, focus: () => void][] = [
      ['query', this.query.hidden ? this.entity : this.query, () => (this.query.hidden ? this.entity.querySelector<HTMLElement>('h2')?.focus() : this.query.dataset.mode === 'ask' ? this.ask.focus() : this.editor.focus())],
      ['map', this.mapElement, () => this.mapElement.querySelector<HTMLElement>('canvas')?.focus()],
      ['answer', this.dock, () => this.tabs.focus()],
    ];
    const at = parts.findIndex(([, host]) => host.contains(document.activeElement));
    for (let i = 1; i <= parts.length; i += 1) {
      const [pane = '', host, focus] = parts[(at + step * i + 2 * parts.length + (at < 0 && step < 0 ? 1 : 0)) % parts.length] ?? [];
      if (narrow) this.pane(pane);
      if (!host?.checkVisibility({ visibilityProperty: true })) continue;
      focus?.();
      return;
    }
  }

  private theme(): void {
    const shown = applyTheme();
    if (this.map) this.map.dark = shown;
  }

  private nextTheme(): void {
    setSetting('theme', theme() === 'dark' ? 'light' : 'dark');
    this.theme();
    announce(`${theme()} colours`);
  }

  private askToken(): void {
    askToken(() => void this.run());
  }
}

/** Where one part is seen at a time. */
const NARROW = '(max-width: 760px)';

/** Whether the answer to a query depends on the view of the map. */
const isOfView = (text: string): boolean => /\{\{(bbox|wsen|center)\}\}/.test(text);

/** Adds `geom` to the outputs of a query. */
function withGeometry(text: string): string {
  return text.replace(/\bout\b((?:\s+[\w.]+)*)\s*;/g, (whole, modes: string) => (/\b(geom|center|bb|count|ids)\b/.test(modes) ? whole : `out${modes} geom;`));
}

async function open(): Promise<void> {
  applyTheme();
  try {
    new Page(await json<Snapshot>('/api/snapshot'));
  } catch (problem) {
    const again = (text: string) => {
      const said = h('main', { class: 'fatal' }, h('h1', {}, 'Terrapin'), h('p', {}, text), h('button', { type: 'button', class: 'button', onclick: () => (said.remove(), void open()) }, 'Try again'));
      document.body.append(said);
    };
    if (problem instanceof Refused && problem.status === 401) return askToken(() => void open(), () => again('This server wants a token.'));
    again(`The server does not answer: ${(problem as Error).message}`);
  }
}

void open();

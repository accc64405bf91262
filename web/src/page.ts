// The page: an editor, the answer on a map and as a table, and what leads from one to the other.

import { ICONS, announce, h, icon, popover } from './dom';
import { Editor } from './editor/editor';
import { fitting } from './examples';
import { drafts, keepDrafts, setSetting } from './history';
import { Layout } from './layout';
import { LANGUAGES, read as readLink, type Language, type Link } from './link';
import type { AnswerMap } from './map/map';
import { settled, wholeView } from './map/whole';
import { Notices } from './notices';
import { Routes } from './routes';
import { Runs } from './runs';
import { Refused, json, type Snapshot } from './service';
import { expand, type Surroundings } from './shortcuts';
import { applyTheme, theme } from './theme';
import { Ask } from './views/ask';
import { finder } from './views/finder';
import { exportShelf } from './views/exports';
import { about, exampleShelf, help, historyShelf, shareShelf } from './views/shelves';
import { askToken } from './views/token';
import { Views } from './views/views';

class Page {
  private readonly notices = new Notices();
  private readonly runs = new Runs();
  private readonly views: Views;
  private readonly layout: Layout;
  private readonly routes: Routes;
  private readonly editor: Editor;
  private readonly ask = new Ask({ show: ({ language, query }) => this.adopt(language, query), unknown: (again) => askToken(again) });
  private readonly languages = h('div', { class: 'segments', role: 'radiogroup', 'aria-label': 'How to ask' });
  private map: AnswerMap | null = null;
  private texts: Record<Language, string>;
  private link: Link;

  constructor(private readonly snapshot: Snapshot) {
    const map = () => this.map;
    const triples = snapshot.triples !== null;
    const { notices, runs } = this;
    this.views = new Views(runs.answers, {
      map,
      summary: () => runs.summary,
      triples,
      go: (href) => this.routes.go(href),
      opened: (view) => (this.layout.main.dataset.tab = view),
      focusMap: () => this.layout.focusMap(),
    });
    this.layout = new Layout(this.views.tabs, notices.stale, () => this.map?.resize());
    this.views.reset();
    this.link = readLink(location);
    const kept = drafts();
    const first = (language: Language) => kept[language] ?? fitting(snapshot).find((example) => example.language === language)?.query ?? '';
    this.texts = { overpassql: first('overpassql'), sparql: first('sparql') };
    this.editor = new Editor({
      around: () => this.around(),
      run: () => void runs.run(),
      leave: () => (runs.running ? void runs.stop() : runs.runButton.focus()),
      changed: (text) => this.changed(text),
      checked: (problems) => {
        const errors = problems.filter((problem) => problem.severity === 'error').length;
        this.layout.query.dataset.problems = errors ? 'errors' : problems.length ? 'warnings' : '';
        if (!runs.running) notices.sayOfDraft(errors ? (problems[0]?.message ?? '').split('\n')[0] ?? '' : '');
      },
    });
    const { editor, layout, views } = this;
    runs.wire({ editor, views, layout, notices, map, around: () => this.around(), triples, warn: () => this.warn(), askToken: () => askToken(() => void runs.run()) });
    this.routes = new Routes({ snapshot, layout, views, map, isAnswered: () => runs.summary !== null });
    this.build();
    const language = this.link.language ?? kept.language ?? 'overpassql';
    if (this.link.query !== undefined) this.texts[language] = this.link.query;
    this.speak(language);
    this.theme();
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.theme());
    addEventListener('hashchange', () => this.follow());
    addEventListener('keydown', (event) => this.key(event));
    void this.start();
  }

  /** What can wait until the page is seen. */
  private async start(): Promise<void> {
    this.warn();
    await new Promise(requestAnimationFrame);
    await this.draw().catch((problem: Error) => this.layout.mapElement.replaceChildren(h('p', { class: 'muted pad', role: 'status' }, `There is no map in this browser: ${problem.message}`)));
    await this.routes.show();
    if (this.link.run && this.link.query !== undefined) void this.runs.run();
  }

  private async draw(): Promise<void> {
    const { AnswerMap } = await import('./map/map');
    const { mapElement } = this.layout;
    const { answers } = this.runs;
    const box = this.snapshot.bounding_box;
    const view = this.link.view;
    this.map = new AnswerMap(
      mapElement,
      { picked: (index) => void (index === null ? this.views.close() : this.views.select(index, 'map')), tile: (z, x, y) => answers.ask({ do: 'tile', z, x, y }), apart: (cluster) => answers.ask({ do: 'apart', cluster }), moved: (resized) => this.runs.moved(resized) },
      theme(),
      view ? { center: [view[1], view[0]], zoom: view[2] } : { center: [0, 20], zoom: 1 },
    );
    if (!view && box) this.map.view = wholeView((await settled()) ?? box, mapElement);
  }

  private build(): void {
    const { layout, runs, snapshot } = this;
    this.buildLanguages();
    layout.query.append(
      this.tools(),
      this.editor.element,
      this.notices.element,
      h('div', { class: 'runbar' }, runs.runButton, runs.stopButton, this.notices.status),
      ...(snapshot.ask ? [this.ask.element] : []),
    );
    exportShelf(layout.exportButton, runs.answers, () => runs.summary, (problem) => this.notices.add('error', problem));
    layout.place(this.bar(), h('div', { class: 'map-tools' }, finder((box) => this.map?.fit(box)), runs.allButton), this.views.card.element);
  }

  /** The bar at the top: what is served, colours, keys. */
  private bar(): HTMLElement {
    const { snapshot } = this;
    const [source] = snapshot.sources;
    const name = (source?.name ?? 'snapshot').replace(/\.(osm\.pbf|osm|pbf|nt\.gz|nt|json.*)$/, '');
    const chip = h('button', { type: 'button', class: 'chip', title: 'What is served' }, h('span', { class: 'chip-name' }, name), h('span', { class: 'chip-date' }, snapshot.data_time.slice(0, 10)), h('code', {}, snapshot.digest.slice(0, 8)));
    popover(chip, about(snapshot));
    const themeButton = h('button', { type: 'button', class: 'button quiet only-icon', title: 'Light, dark or as the system', 'aria-label': 'Colours: light, dark or as the system', onclick: () => this.nextTheme() }, icon(ICONS.theme));
    const helpButton = h('button', { type: 'button', class: 'button quiet only-icon', title: 'Keys', 'aria-label': 'Keys' }, icon(ICONS.help));
    popover(helpButton, help());
    return h(
      'header',
      { class: 'bar' },
      h('a', { class: 'skip', href: '#main', onclick: (event: Event) => (event.preventDefault(), this.editor.focus()) }, 'To the query'),
      h('h1', {}, h('a', { href: '/', class: 'brand', 'data-view': '' }, h('img', { src: '/page/icon.svg', alt: '', width: 22, height: 22 }), h('span', {}, 'Terrapin'))),
      chip, h('span', { class: 'grow' }),
      themeButton,
      helpButton,
    );
  }

  /** The tools above the query. */
  private tools(): HTMLElement {
    const { snapshot } = this;
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
        const { sent } = this.runs;
        if (sent?.language === language && sent.text === text) return sent.query;
        return language === 'overpassql' ? (await expand(text, this.around())).text : text;
      },
    });
    return h('div', { class: 'tools' }, this.languages, h('span', { class: 'grow' }), formatButton, examplesButton, historyButton, shareButton);
  }

  private buildLanguages(): void {
    for (const language of Object.keys(LANGUAGES) as Language[]) {
      this.languages.append(h('button', { type: 'button', role: 'radio', 'data-language': language, onclick: () => (this.mode(false), this.speak(language)) }, LANGUAGES[language]));
    }
    if (this.snapshot.ask) this.languages.append(h('button', { type: 'button', role: 'radio', 'data-language': 'ask', title: 'In plain language', onclick: () => (this.mode(true), this.ask.focus()) }, 'Ask'));
    this.languages.addEventListener('keydown', (event) => {
      if (!/^Arrow/.test(event.key)) return;
      event.preventDefault();
      const all = [...this.languages.querySelectorAll<HTMLElement>('button:not([disabled])')];
      const at = all.findIndex((button) => button.getAttribute('aria-checked') === 'true');
      const next = all[(at + (/Right|Down/.test(event.key) ? 1 : all.length - 1)) % all.length];
      next?.click();
      next?.focus();
    });
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
    const wanted = this.layout.query.dataset.mode === 'ask' ? 'ask' : this.editor.language;
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
    if (run) void this.runs.run();
  }

  /** Asks in plain language, or by a query. */
  private mode(asks: boolean): void {
    this.layout.query.dataset.mode = asks ? 'ask' : 'query';
    this.ask.element.hidden = !asks;
    this.editor.element.hidden = asks;
    this.mark();
  }

  /** Runs a query that was written elsewhere, and leaves the focus where it is. */
  private adopt(language: Language, query: string): void {
    this.texts[language] = query;
    this.speak(language);
    void this.runs.run();
  }

  /** Says so where a link was made over another snapshot. */
  private warn(): void {
    const { snapshot: made, problem } = this.link;
    if (problem) this.notices.add('link', problem);
    if (made && !this.snapshot.digest.startsWith(made)) this.notices.add('snapshot', `This link was made over another snapshot (${made.slice(0, 8)}): answers may differ.`);
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
    this.notices.clear();
    this.warn();
    if (link.run) void this.runs.run();
  }

  private key(event: KeyboardEvent): void {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey) && !event.defaultPrevented) {
      event.preventDefault();
      void this.runs.run();
    } else if (event.key === 'Escape' && !event.defaultPrevented && !document.querySelector(':popover-open')) {
      if (this.runs.running) void this.runs.stop();
      else if (this.ask.stop()) return;
      else if (this.views.card.open) this.views.close();
    } else if (event.key === 'F6') {
      event.preventDefault();
      this.layout.onward(event.shiftKey ? -1 : 1, () => (this.layout.query.dataset.mode === 'ask' ? this.ask.focus() : this.editor.focus()));
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

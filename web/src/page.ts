// The page: an editor, the answer on a map and as a table, and what leads from one to the other.

import { topBar } from './bar';
import { ICONS, h, icon, menuItems } from './dom';
import { Editor } from './editor/editor';
import { embed, isEmbedded } from './embed/embed';
import { fitting } from './examples';
import { drafts, keepDrafts } from './history';
import { arrowKeys, isFreeEscape } from './keys';
import { Layout } from './layout';
import { defaultLanguage, defaultQuery, siteName, useIdentity } from './identity/identity';
import { intro } from './intro/intro';
import { LANGUAGES, read as readLink, type Language, type Link } from './link';
import type { AnswerMap } from './map/map';
import { tileJson } from './map/tilejson';
import { settled, wholeView } from './map/whole';
import { Notices } from './notices';
import { PrintedPage } from './pictures/print';
import { pictureItems } from './pictures/shelf';
import { Routes } from './routes';
import { Runs } from './runs';
import { otherLanguage } from './repair/language';
import { Refused, json, type Snapshot } from './service';
import { expand, type Surroundings } from './shortcuts';
import { StylePanel } from './style/panel';
import { applyTheme, followTheme, theme } from './theme';
import { Ask } from './views/ask';
import { finder } from './views/finder';
import { exportShelf } from './views/exports';
import { codeButton, repeatedQuery } from './code/panel';
import { exampleShelf, historyShelf, shareShelf } from './views/shelves';
import { askToken } from './views/token';
import { Views } from './views/views';
import { whatIsHere } from './here/here';
import { Address } from './state/address';
import { savedShelf } from './state/saved-shelf';
import { chosenLanguage, showLanguage } from './text/languages';
import { locale, t } from './text/lookup';
import { Words, type WrittenQuery } from './words/words';

class Page {
  private readonly notices = new Notices();
  private readonly runs = new Runs();
  private readonly views: Views;
  private readonly layout: Layout;
  private readonly routes: Routes;
  private readonly editor: Editor;
  private readonly ask = new Ask({ show: ({ language, query }) => this.adopt(language, query), unknown: (again) => askToken(again) });
  private readonly words = new Words({ box: () => this.map?.box, show: (queries, run) => this.offer(queries, run), unknown: (again) => askToken(again) });
  private readonly languages = h('div', { class: 'segments', role: 'radiogroup', 'aria-label': t('howToAsk') });
  private readonly styleButton: HTMLElement;
  /** The address follows runs, not what is being written. */
  private readonly address = new Address(() => this.ran());
  /** Keeps the rows that are printed. */
  private keepPrinted: () => void = () => undefined;
  private map: AnswerMap | null = null;
  private readonly nextTheme = followTheme((shown) => this.map && (this.map.dark = shown));
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
      rewrite: (change) => (this.editor.text = change(this.editor.text)),
      go: (href) => this.routes.go(href),
      filtered: (left) => runs.filtered(left),
      arranged: () => this.keepPrinted(),
      opened: (view) => (this.layout.main.dataset.tab = view),
      focusMap: () => this.layout.focusMap(),
    });
    this.layout = new Layout(this.views.tabs, notices.stale, () => this.map?.resize(), !isEmbedded());
    this.views.reset();
    this.link = readLink(location);
    const kept = drafts();
    const first = (language: Language) => kept[language] ?? defaultQuery(language) ?? fitting(snapshot).find((example) => example.language === language)?.query ?? '';
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
      notFormatted: (why) => notices.sayOfDraft(t('notFormatted', { why })),
    });
    const { editor, layout, views } = this;
    const style = new StylePanel({ answers: runs.answers, map, legend: layout.legend, rewrite: (change) => (editor.text = change(editor.text)), failed: (problem) => notices.add('style', problem) });
    this.styleButton = style.button;
    const repairs = { adopt: (to: Language, query: string) => this.adopt(to, query), everywhere: snapshot.bounding_box ? () => void this.everywhere() : null };
    runs.wire({ drawn: style.answered.bind(style), editor, views, layout, notices, map, repairs, answered: () => (isEmbedded() ? layout.stretch(layout.main.dataset.dock === 'full' ? 'full' : 'none') : this.address.ran()), around: () => this.around(), triples, warn: () => this.warn(), askToken: () => askToken(() => void runs.run()) });
    this.routes = new Routes({ snapshot, layout, views, map, isAnswered: () => runs.summary !== null });
    this.build();
    // In an address that this tab wrote itself the query is the one that was run: what was written since is kept.
    const draft = this.address.isOwn() && kept.language ? kept[kept.language] : undefined;
    if (draft !== undefined && draft !== this.link.query) this.link = { ...this.link, query: undefined, language: kept.language, run: false };
    const language = this.link.language ?? kept.language ?? defaultLanguage() ?? 'overpassql';
    if (this.link.query !== undefined) this.texts[language] = this.link.query;
    this.speak(language);
    addEventListener('hashchange', () => this.follow());
    addEventListener('keydown', (event) => this.key(event));
    void this.start();
  }

  /** What can wait until the page is seen. */
  private async start(): Promise<void> {
    this.warn();
    await new Promise(requestAnimationFrame);
    await this.draw().catch((problem: Error) => this.layout.mapElement.replaceChildren(h('p', { class: 'muted pad', role: 'status' }, t('thereIsNoMapInThis', { why: problem.message }))));
    await this.routes.show();
    if (this.link.words !== undefined) await this.words.understand(this.link.words, this.link.run);
    else if ((this.link.run || isEmbedded()) && this.link.query !== undefined) void this.runs.run();
  }

  private async draw(): Promise<void> {
    // What the map needs comes at once.
    const places = this.link.view ? null : settled();
    const { AnswerMap } = await import('./map/map');
    const { mapElement } = this.layout;
    const { answers } = this.runs;
    const box = this.snapshot.bounding_box;
    const view = this.link.view;
    this.map = new AnswerMap(
      mapElement,
      { picked: (index) => void (index === null ? this.views.close() : this.views.select(index, 'map')), tile: (z, x, y) => answers.ask({ do: 'tile', z, x, y }), apart: (cluster) => answers.ask({ do: 'apart', cluster }), moved: (resized) => (this.runs.moved(resized), this.address.moved()) },
      theme(),
      view ? { center: [view[1], view[0]], zoom: view[2] } : { center: [0, 20], zoom: 1 },
      box,
    );
    whatIsHere(mapElement, { place: (x, y) => this.map?.place(x, y) ?? { lat: 0, lon: 0, metres: 1 }, go: (href) => this.routes.go(href) });
    if (!view && box) this.map.view = wholeView((await places) ?? box, mapElement);
  }

  private build(): void {
    const { layout, runs, snapshot } = this;
    this.buildLanguages();
    layout.query.append(
      this.words.element,
      this.tools(),
      this.editor.element,
      // Shown above the editor, and reached after it.
      h('div', { class: 'runbar' }, runs.runButton, runs.stopButton, this.notices.status),
      this.notices.element,
      ...(snapshot.ask ? [this.ask.element] : []),
      intro(snapshot, fitting(snapshot), (example) => this.take(example.language, example.query, true)),
    );
    const fullScreen = h('button', { type: 'button', class: 'button only-icon all', title: t('mapOnTheWholeScreen'), 'aria-label': t('mapOnTheWholeScreen'), hidden: !document.fullscreenEnabled, onclick: () => void layout.fullScreen() }, icon(ICONS.screen));
    const failed = (problem: string) => this.notices.add('error', problem);
    const printed = new PrintedPage({ answers: runs.answers, map: () => this.map, summary: () => runs.exported, view: () => layout.main.dataset.tab ?? '', query: () => (runs.summary ? runs.shownText : this.editor.text), digest: snapshot.digest });
    this.keepPrinted = () => void printed.keep();
    exportShelf(layout.exportButton, runs.answers, () => runs.exported, failed, (close) => pictureItems({ map: () => this.map, legend: layout.legend, print: () => printed.print(), failed, note: (text) => this.notices.add('picture', text) }, close));
    const tools = h('div', { class: 'map-tools' }, finder((box) => this.map?.fit(box)), runs.allButton, this.styleButton, fullScreen);
    layout.place(this.bar(), tools, this.views.card.element);
    if (!isEmbedded()) return;
    this.notices.element.classList.add('embed-notices');
    layout.dock.parentElement?.append(...embed(), this.notices.element);
  }

  private bar(): HTMLElement {
    const annotate = h('a', { href: '/annotate', class: 'button quiet' }, t('annotate'));
    return topBar(this.snapshot, { skip: t('toTheQuery'), focus: () => this.editor.focus(), nextTheme: this.nextTheme, more: this.snapshot.annotate ? [annotate] : [] });
  }

  /** The tools above the query. */
  private tools(): HTMLElement {
    const { snapshot } = this;
    const examplesButton = h('button', { type: 'button', class: 'button named', 'aria-label': t('examples'), title: t('examples') }, icon(ICONS.book), h('span', {}, t('examples')));
    exampleShelf(examplesButton, fitting(snapshot), () => this.around(), (example) => this.take(example.language, example.query, true));
    const formatButton = h('button', { type: 'button', class: 'button quiet only-icon', 'aria-label': t('layOut'), title: t('layTheQueryOutShiftAlt'), onclick: () => void this.editor.format() }, icon(ICONS.format));
    const savedButton = h('button', { type: 'button', class: 'button named', 'aria-label': t('saved'), title: t('savedQueries') }, icon(ICONS.star), h('span', {}, t('saved')));
    savedShelf(savedButton, { current: () => ({ language: this.editor.language, query: this.editor.text }), take: (entry) => this.take(entry.language, entry.query, false) });
    const historyButton = h('button', { type: 'button', class: 'button quiet only-icon', 'aria-label': t('history'), title: t('history') }, icon(ICONS.clock));
    historyShelf(historyButton, (entry) => this.take(entry.language, entry.query, false));
    const shareButton = h('button', { type: 'button', class: 'button quiet only-icon', 'aria-label': t('share'), title: t('share') }, icon(ICONS.link));
    const repeated = async () => repeatedQuery(this.editor.language, await this.sent(), snapshot);
    shareShelf(shareButton, {
      shared: () => ({ language: this.editor.language, text: this.editor.text, view: this.map?.view, snapshot: snapshot.digest.slice(0, 16) }),
      sent: () => this.sent(),
      repeated,
    });
    return h('div', { class: 'tools' }, this.languages, h('span', { class: 'grow' }), examplesButton, savedButton, formatButton, historyButton, codeButton(repeated), shareButton);
  }

  /** The query without shortcuts, as the server gets it. */
  private async sent(): Promise<string> {
    const { language, text } = this.editor;
    const { sent } = this.runs;
    if (sent?.language === language && sent.text === text) return sent.query;
    return language === 'overpassql' ? (await expand(text, this.around())).text : text;
  }

  private buildLanguages(): void {
    for (const language of Object.keys(LANGUAGES) as Language[]) {
      this.languages.append(h('button', { type: 'button', role: 'radio', 'data-language': language, onclick: () => (this.mode(false), this.speak(language)) }, LANGUAGES[language]));
    }
    if (this.snapshot.ask) this.languages.append(h('button', { type: 'button', role: 'radio', 'data-language': 'ask', title: t('inPlainLanguage'), onclick: () => (this.mode(true), this.ask.focus()) }, t('ask')));
    arrowKeys(this.languages, () => menuItems(this.languages), 'both', (button) => button.click());
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
    this.checkLanguage(text);
    // What a link brought is looked at: what was being written before is kept.
    if (text !== this.link.query) keepDrafts({ language: this.editor.language, ...this.texts });
  }

  /** What the address says of the last run; null while the page shows an element. */
  private ran(): Link | null {
    const { sent } = this.runs;
    if (!sent || location.pathname !== '/') return null;
    return { query: sent.text, language: sent.language, view: this.map?.view, run: true, snapshot: this.snapshot.digest.slice(0, 16) };
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

  /** Runs the query again with all of the data on the map. */
  private async everywhere(): Promise<void> {
    const box = this.snapshot.bounding_box;
    if (this.map && box) this.map.view = wholeView(box, this.layout.mapElement);
    await this.runs.run();
  }

  /** Says so where the text is written in the other language. */
  private checkLanguage(text: string): void {
    const other = otherLanguage(text, this.editor.language);
    const button = other && h('button', { type: 'button', class: 'button small', onclick: () => this.adopt(other, text) }, t('runItAs', { language: LANGUAGES[other] }));
    this.notices.add('language', other ? t('thisIsAndIsChosen', { found: LANGUAGES[other], chosen: LANGUAGES[this.editor.language] }) : undefined, button ?? undefined);
  }

  /** Takes the queries that words stand for, the better one first: the other language is one click away. */
  private offer(queries: WrittenQuery[], run: boolean): void {
    const [best] = queries;
    if (!best) return;
    for (const { language, query } of [...queries].reverse()) this.texts[language] = query;
    this.mode(false);
    this.speak(best.language);
    if (run) void this.runs.run();
  }

  /** Says so where a link was made over another snapshot. */
  private warn(): void {
    const { snapshot: made, problem } = this.link;
    if (problem) this.notices.add('link', problem);
    if (made && !this.snapshot.digest.startsWith(made)) this.notices.add('snapshot', t('thisLinkWasMadeOverAnother', { digest: made.slice(0, 8) }));
  }

  /** Another link of this page was opened in it. */
  private follow(): void {
    const link = readLink(location);
    if (link.view && this.map) this.map.view = link.view;
    if (link.words !== undefined) void this.words.understand(link.words, link.run);
    if (link.query === undefined) return;
    this.link = link;
    const language = link.language ?? 'overpassql';
    const { sent, summary } = this.runs;
    // Back from an element's page: the answer of this address is still shown.
    if (summary && sent?.text === link.query && sent.language === language) return;
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
    } else if (isFreeEscape(event)) {
      if (this.runs.running) void this.runs.stop();
      else if (this.ask.stop()) return;
      else if (this.views.card.open) this.views.close();
    } else if (event.key === 'F6') {
      event.preventDefault();
      this.layout.onward(event.shiftKey ? -1 : 1, () => (this.layout.query.dataset.mode === 'ask' ? this.ask.focus() : this.editor.focus()));
    }
  }
}

/** Fetches what the map needs at the same time as the description of the snapshot; it is run after the page is seen. */
function fetchMap(): void {
  // In development modules have other names.
  if (import.meta.env.PROD) document.head.append(h('link', { rel: 'modulepreload', href: '/page/map.js' }));
  void tileJson();
}

async function open(): Promise<void> {
  applyTheme();
  if (location.pathname !== '/annotate') fetchMap();
  // Both are on the way at once.
  const [, described] = await Promise.all([showLanguage(chosenLanguage()), json<Snapshot>('/api/snapshot').catch((problem: Error) => problem)]);
  try {
    if (described instanceof Error) throw described;
    const snapshot = described;
    useIdentity(snapshot.page);
    const language = chosenLanguage(snapshot.page?.language);
    if (language !== locale()) await showLanguage(language);
    if (location.pathname !== '/annotate') return void new Page(snapshot);
    const { AnnotatePage } = await import('./annotate/annotate');
    new AnnotatePage(snapshot);
  } catch (problem) {
    const again = (text: string) => {
      const said = h('main', { class: 'fatal' }, h('h1', {}, siteName()), h('p', {}, text), h('button', { type: 'button', class: 'button', onclick: () => (said.remove(), void open()) }, t('tryAgain')));
      document.body.append(said);
    };
    if (problem instanceof Refused && problem.status === 401) return askToken(() => void open(), () => again(t('thisServerWantsAToken')));
    again(t('theServerDoesNotAnswerWhy', { why: (problem as Error).message }));
  }
}

void open();

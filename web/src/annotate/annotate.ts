// The page for annotators: a query with its answer on the map and as a table, and a form for its question. What is written
// is kept by the browser until the server has saved it.

import './annotate.css';

import { topBar } from '../bar';
import { announce, count, h, icon, ICONS, menuItems } from '../dom';
import { Editor } from '../editor/editor';
import { setSetting, setting } from '../history';
import { siteName } from '../identity/identity';
import { arrowKeys, isFreeEscape } from '../keys';
import { Layout, isNarrow } from '../layout';
import { LANGUAGES, write as writeLink } from '../link';
import type { AnswerMap } from '../map/map';
import { settled, wholeView } from '../map/whole';
import { Notices } from '../notices';
import { Runs } from '../runs';
import { Refused, type Snapshot } from '../service';
import type { Surroundings } from '../shortcuts';
import { t, type PlainKey } from '../text/lookup';
import { followTheme, theme } from '../theme';
import { finder } from '../views/finder';
import { exportShelf } from '../views/exports';
import { askToken } from '../views/token';
import { Views } from '../views/views';
import { Desk, type Progress, type Reply, type Task } from './desk';
import { TaskForm, nothing, type Work } from './form';
import { disputeShelf, progressShelf } from './shelves';

/** What an annotator wants to do. */
const WISHES: Record<string, PlainKey> = { any: 'both', write: 'write', validate: 'validate' };
/** Milliseconds after which a page without a task looks again. */
const LOOK_AGAIN = 20_000;

export class AnnotatePage {
  private readonly notices = new Notices();
  private readonly runs = new Runs();
  private readonly views: Views;
  private readonly layout: Layout;
  private readonly editor: Editor;
  private readonly desk = new Desk();
  private readonly wishes = h('div', { class: 'segments', role: 'radiogroup', 'aria-label': t('whatToDo') });
  private readonly title = h('h2', { tabindex: '-1' }, t('annotation'));
  private readonly about = h('span', { class: 'count' });
  private readonly context = h('div', { class: 'annotate-context', hidden: true, role: 'note', 'aria-label': t('context'), tabindex: '0' });
  private readonly link = h('a', { class: 'button quiet', target: '_blank', rel: 'noopener', hidden: true }, t('openInTheEditor'));
  private readonly annotator = h('span', { class: 'annotator muted', title: t('theAnnotator') });
  private readonly progressButton = h('button', { type: 'button', class: 'button quiet' }, icon(ICONS.clock), h('span', { class: 'label' }, t('progress')), ' ', h('span', { class: 'count' }));
  private readonly disputeButton = h('button', { type: 'button', class: 'button quiet' }, icon(ICONS.book), h('span', { class: 'label' }, t('disagreements')), ' ', h('span', { class: 'count' }));
  private formHost: HTMLElement = h('div', { class: 'annotate-form' });
  private form: TaskForm | null = null;
  private task: Task | null = null;
  private map: AnswerMap | null = null;
  private readonly nextTheme = followTheme((shown) => this.map && (this.map.dark = shown));
  private wish = setting('annotation-wish') ?? 'any';
  /** Is aborted when another task is asked for. */
  private turn = new AbortController();
  private timer = 0;

  constructor(private readonly snapshot: Snapshot) {
    const map = () => this.map;
    const triples = snapshot.triples !== null;
    const { notices, runs } = this;
    document.body.classList.add('annotating');
    document.title = `${t('annotation')} · ${siteName()}`;
    this.views = new Views(runs.answers, { map, summary: () => runs.summary, triples, go: (href) => void open(href, '_blank', 'noopener'), filtered: (left) => runs.filtered(left), opened: (view) => (this.layout.main.dataset.tab = view), focusMap: () => this.layout.focusMap() });
    this.layout = new Layout(this.views.tabs, notices.stale, () => this.map?.resize(), false);
    this.views.reset();
    this.editor = new Editor({ around: () => this.around(), run: () => this.form?.submit(), leave: () => this.form?.focus(), changed: () => undefined, checked: () => undefined, readOnly: true });
    const { editor, layout, views } = this;
    runs.wire({ editor, views, layout, notices, map, around: () => this.around(), triples, warn: () => undefined, askToken: () => askToken(() => void runs.run()), isBackground: true });
    this.build();
    addEventListener('keydown', (event) => this.key(event));
    // Links to elements open beside the work.
    document.addEventListener('click', (event) => {
      const link = (event.target as HTMLElement).closest?.<HTMLAnchorElement>('a[data-view]');
      if (link && link.getAttribute('href') !== '/') link.target = '_blank';
    }, true);
    void this.start();
  }

  private async start(): Promise<void> {
    await new Promise(requestAnimationFrame);
    await this.draw().catch((problem: Error) => this.layout.mapElement.replaceChildren(h('p', { class: 'muted pad', role: 'status' }, t('thereIsNoMapInThis', { why: problem.message }))));
    if (this.snapshot.annotate === 'name') {
      this.desk.name = setting('annotator') ?? undefined;
      if (this.desk.name === undefined) return this.askName();
    }
    await this.next();
  }

  private async draw(): Promise<void> {
    const { AnswerMap } = await import('../map/map');
    const { mapElement } = this.layout;
    const { answers } = this.runs;
    const box = this.snapshot.bounding_box;
    this.map = new AnswerMap(
      mapElement,
      { picked: (index) => void (index === null ? this.views.close() : this.views.select(index, 'map')), tile: (z, x, y) => answers.ask({ do: 'tile', z, x, y }), apart: (cluster) => answers.ask({ do: 'apart', cluster }), moved: (resized) => this.runs.moved(resized) },
      theme(),
      { center: [0, 20], zoom: 1 },
      box,
    );
    if (box) this.map.view = wholeView((await settled()) ?? box, mapElement);
  }

  private build(): void {
    const { layout, runs, snapshot } = this;
    for (const [wish, label] of Object.entries(WISHES)) {
      this.wishes.append(h('button', { type: 'button', role: 'radio', 'data-wish': wish, onclick: () => this.want(wish) }, t(label)));
    }
    // Arrows do not give back the task at hand.
    arrowKeys(this.wishes, () => menuItems(this.wishes), 'both', (button) => this.choose(button.dataset.wish ?? 'any'));
    this.markWish();
    layout.query.append(
      h('div', { class: 'annotate-head' }, this.title, this.about, h('span', { class: 'grow' }), this.wishes),
      this.context,
      this.editor.element,
      this.notices.element,
      h('div', { class: 'runbar' }, runs.runButton, runs.stopButton, this.notices.status, h('span', { class: 'grow' }), this.link),
      this.formHost,
    );
    progressShelf(this.progressButton);
    disputeShelf(this.disputeButton, (id) => void this.open(id));
    exportShelf(layout.exportButton, runs.answers, () => runs.exported, (problem) => this.notices.add('error', problem));
    const bar = topBar(snapshot, { skip: t('toTheTask'), focus: () => this.form?.focus(), nextTheme: this.nextTheme, more: [this.annotator, this.disputeButton, this.progressButton] });
    layout.place(bar, h('div', { class: 'map-tools' }, finder((box) => this.map?.fit(box)), runs.allButton), this.views.card.element);
  }

  /** The box of the entry, else of the snapshot: every annotator sees the same answer. */
  private around(): Surroundings {
    const given = this.task?.entry.bbox?.split(',').map(Number);
    const bbox = (given?.length === 4 ? given : this.snapshot.bounding_box) ?? [-90, -180, 90, 180];
    return { bbox: bbox as Surroundings['bbox'], now: this.snapshot.data_time };
  }

  /** Opens an entry. If it is not available, the task stays. */
  private async open(entry: string): Promise<void> {
    try {
      const reply = await this.desk.once('next', { entry });
      this.begin();
      this.show(reply);
    } catch (problem) {
      this.notices.add('error', `${entry}: ${(problem as Error).message}.`);
    }
  }

  /** Asks for the next task of the wanted kind. */
  private async next(): Promise<void> {
    const turn = this.begin();
    const wish = this.wish === 'any' ? {} : { task: this.wish };
    this.say(t('lookingForTheNextQuery'));
    try {
      this.show(await this.desk.send('next', wish, (why) => this.say(t('waiting', { why })), turn.signal));
    } catch (problem) {
      if (turn.signal.aborted) return;
      if (problem instanceof Refused && problem.status === 401) return askToken(() => void this.next());
      if (problem instanceof Refused && problem.status === 400 && this.snapshot.annotate === 'name' && /^annotator/.test(problem.message)) return this.askName(problem.message);
      this.idle((problem as Error).message);
    }
  }

  private begin(): AbortController {
    this.turn.abort();
    clearTimeout(this.timer);
    this.turn = new AbortController();
    return this.turn;
  }

  private show({ annotator, progress, task }: Reply): void {
    this.annotator.textContent = annotator;
    this.count(progress);
    this.task = task ?? null;
    if (!task) return this.idle(this.reason(progress));
    const { entry } = task;
    this.title.textContent = task.task === 'write' ? t('writeTheQuestion') : t('validateTheQuestion');
    this.about.textContent = `${entry.id} · ${LANGUAGES[entry.lang]}`;
    this.context.textContent = entry.context ?? '';
    this.context.hidden = !entry.context;
    this.editor.language = entry.lang;
    this.editor.text = entry.query;
    this.link.href = writeLink({ query: entry.query, language: entry.lang, run: true });
    this.link.hidden = false;
    const form = new TaskForm(task, (work) => void this.save(work), (reason) => void this.skip(reason));
    this.form = form;
    this.put(form.element);
    if (isNarrow()) this.layout.pane('query');
    form.focus();
    announce(`${this.title.textContent}: ${entry.id}`);
    this.notices.clear();
    void this.runs.run();
    this.timer = window.setTimeout(() => void this.renew(), Math.max(1000, (task.lease_seconds * 1000) / 3));
  }

  /** Keeps the entry while somebody works on it. */
  private async renew(): Promise<void> {
    const { task, turn } = this;
    if (!task) return;
    if (document.visibilityState === 'visible') {
      try {
        await this.desk.once('next', { entry: task.entry.id });
        this.notices.add('lease');
      } catch (problem) {
        if (turn.signal.aborted) return;
        if (problem instanceof Refused && problem.status === 409) this.notices.add('lease', t('thisEntryIsNoLongerYours', { why: problem.message }));
      }
    }
    if (!turn.signal.aborted) this.timer = window.setTimeout(() => void this.renew(), Math.max(1000, (task.lease_seconds * 1000) / 3));
  }

  private async save(work: Work): Promise<void> {
    await this.send(work.what, work.body, (progress) => {
      this.form?.done();
      announce(t('savedOfAreDone', { agreed: progress.status.agreed, entries: progress.entries }));
    });
  }

  private async skip(reason: string): Promise<void> {
    if (!this.task) return;
    await this.send('skip', { entry: this.task.entry.id, ...(reason && { reason }) }, () => {
      this.form?.done();
      announce(t('skippedNow'));
    });
  }

  /** Sends work, and asks for the next task when it is saved. */
  private async send(what: string, body: Record<string, unknown>, done: (progress: Progress) => void): Promise<void> {
    const { form, turn } = this;
    form?.say(t('saving'), 'running', true);
    try {
      const { progress } = await this.desk.send(what, body, (why) => form?.say(t('notSavedYetItIsKept', { why }), 'error', true), turn.signal);
      if (turn.signal.aborted) return;
      this.count(progress);
      done(progress);
      await this.next();
    } catch (problem) {
      if (turn.signal.aborted) return;
      form?.say(t('notSaved', { why: (problem as Error).message }), 'error');
      if (!(problem instanceof Refused)) return;
      if (problem.status === 401) askToken(() => void this.send(what, body, done));
      if (problem.status === 403 || problem.status === 409) this.notices.add('error', t('notSaved', { why: problem.message }), h('button', { type: 'button', class: 'button small', onclick: () => void this.next() }, t('nextQuery')));
    }
  }

  /** Shows that there is no task. */
  private idle(why: string): void {
    this.task = this.form = null;
    this.title.textContent = t('annotation');
    this.about.textContent = '';
    this.context.hidden = this.link.hidden = true;
    const panel = nothing(why, () => void this.next());
    this.put(panel);
    announce(why);
    this.timer = window.setTimeout(() => void this.next(), LOOK_AGAIN);
  }

  private reason({ status, entries, to_write: toWrite, to_validate: toValidate }: Progress): string {
    if (status.agreed === entries) return t('allQuestionsAreValidated', { n: entries });
    if (this.wish === 'write' && toValidate) return t('thereIsNothingToWriteBut', { n: toValidate });
    if (this.wish === 'validate' && toWrite) return t('thereIsNothingToValidate', { n: toWrite });
    return t('otherPeopleHaveThe');
  }

  private say(text: string): void {
    if (this.form) this.form.say(text, 'running', true);
    else this.put(h('div', { class: 'annotate-form' }, h('p', { class: 'muted', role: 'status' }, text)));
  }

  private put(element: HTMLElement): void {
    const focused = this.formHost.contains(document.activeElement);
    this.formHost.replaceWith(element);
    this.formHost = element;
    if (focused && !this.form) this.title.focus();
  }

  private count({ entries, status, disputed }: Progress): void {
    const set = (button: HTMLElement, text: string) => (button.querySelector('.count') ?? button).replaceChildren(text);
    set(this.progressButton, t('nOfTotal', { n: status.agreed, total: entries }));
    set(this.disputeButton, count(disputed));
  }

  private want(wish: string): void {
    this.choose(wish);
    void this.change();
  }

  /** Keeps a wish for the next task. */
  private choose(wish: string): void {
    this.wish = wish;
    setSetting('annotation-wish', wish);
    this.markWish();
  }

  /** Puts back what was not begun, and asks for a task of the wanted kind. */
  private async change(): Promise<void> {
    if (this.task && this.wish !== 'any' && this.task.task !== this.wish) this.form?.done();
    await this.next();
  }

  private markWish(): void {
    for (const button of this.wishes.querySelectorAll<HTMLElement>('button')) {
      const on = button.dataset.wish === this.wish;
      button.setAttribute('aria-checked', String(on));
      button.tabIndex = on ? 0 : -1;
    }
  }

  /** Asks for the name under which the work is recorded. */
  private askName(problem = ''): void {
    const field = h('input', { type: 'text', class: 'field', 'aria-label': t('yourName'), autocomplete: 'nickname', maxlength: 64, pattern: '[A-Za-z0-9._@\\-]+', required: true, autofocus: true });
    const dialog = h('dialog', { 'aria-label': t('yourName') }, h('form', { method: 'dialog' }, h('p', {}, t('yourQuestionsAreRecorded')), ...(problem ? [h('p', {}, problem)] : []), field, h('button', { class: 'button primary' }, t('begin'))));
    document.body.append(dialog);
    dialog.addEventListener('close', () => {
      dialog.remove();
      const name = field.value.trim();
      if (!name) return this.idle(t('withoutANameNothingCanBe'));
      this.desk.name = name;
      setSetting('annotator', name);
      void this.next();
    });
    dialog.showModal();
  }

  private key(event: KeyboardEvent): void {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey) && !event.defaultPrevented) {
      event.preventDefault();
      this.form?.submit();
    } else if (isFreeEscape(event)) {
      if (this.runs.running) void this.runs.stop();
      else if (this.views.card.open) this.views.close();
    } else if (event.key === 'F6') {
      event.preventDefault();
      this.layout.onward(event.shiftKey ? -1 : 1, () => (this.form ? this.form.focus() : this.title.focus()));
    }
  }
}

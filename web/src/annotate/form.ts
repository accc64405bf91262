// The form of a task: a question to write, or the question of another person to validate.

import { h, icon, ICONS } from '../dom';
import { setSetting, setting } from '../history';
import { t, type PlainKey } from '../text/lookup';
import type { Task, Verdict } from './desk';

/** What an annotator did with an entry. */
export type Work =
  | { what: 'question'; body: { entry: string; question: string; suggestion?: number } }
  | { what: 'verdict'; body: { entry: string; number: number; verdict: Verdict; question?: string; reason?: string } };

const LONGEST_QUESTION = 2000;
const LONGEST_REASON = 1000;

const VERDICTS: Record<Verdict, [label: PlainKey, note: PlainKey]> = {
  agree: ['agree', 'theQuestionSaysWhatThe'],
  correct: ['correct', 'anotherWordingIsRight'],
  reject: ['reject', 'theQuestionIsWrongAndMust'],
};

/** What a verdict is called when it was given. */
const GIVEN: Record<Verdict, PlainKey> = { agree: 'verdictAgreed', correct: 'verdictCorrected', reject: 'verdictRejected' };

/** What was being written, kept by the browser until it is saved. */
interface Draft {
  entry: string;
  text: string;
  verdict: Verdict | null;
  reason: string;
  suggestion: number | null;
}

function draftOf(task: Task): Partial<Draft> {
  try {
    const draft = JSON.parse(setting('annotation-draft') ?? 'null') as Draft | null;
    return draft?.entry === keyOf(task) ? draft : {};
  } catch {
    return {};
  }
}

const keyOf = (task: Task): string => `${task.task} ${task.number ?? 0} ${task.entry.id}`;

export class TaskForm {
  readonly element = h('form', { class: 'annotate-form', 'aria-label': t('annotation'), novalidate: true });
  private readonly text: HTMLTextAreaElement;
  private readonly reason = h('textarea', { class: 'field area', id: 'annotate-reason', rows: 2, maxlength: LONGEST_REASON });
  private readonly saveButton = h('button', { type: 'submit', class: 'button primary' }, t('save'), h('kbd', {}, 'Ctrl ↵'));
  private readonly skipButton = h('button', { type: 'button', class: 'button', onclick: () => this.skip(this.reason.value.trim()) }, t('skip'));
  private readonly status = h('p', { class: 'annotate-status', role: 'status' });
  private readonly radios = new Map<Verdict, HTMLInputElement>();
  private suggestion: number | null;

  /** `save` and `skip` are called with what to send. */
  constructor(private readonly task: Task, private readonly save: (work: Work) => void, private readonly skip: (reason: string) => void) {
    const draft = draftOf(task);
    this.suggestion = draft.suggestion ?? null;
    this.text = h('textarea', { class: 'field area', id: 'annotate-question', rows: 3, maxlength: LONGEST_QUESTION, spellcheck: 'true', 'aria-describedby': 'annotate-status' });
    this.status.id = 'annotate-status';
    this.text.value = draft.text ?? '';
    this.reason.value = draft.reason ?? '';
    this.element.append(...this.earlier(), ...(task.task === 'write' ? this.toWrite() : this.toValidate(draft.verdict ?? null)), h('div', { class: 'annotate-bar' }, this.saveButton, this.skipButton, this.status));
    this.element.addEventListener('submit', (event) => {
      event.preventDefault();
      this.submit();
    });
    this.element.addEventListener('input', () => this.keep());
    this.element.addEventListener('change', () => this.chosen());
    this.chosen();
  }

  focus(): void {
    if (this.task.task === 'write') this.text.focus();
    else ([...this.radios.values()].find((radio) => radio.checked) ?? this.radios.get('agree'))?.focus();
  }

  /** Says how saving goes; while `busy` nothing else can be sent. */
  say(text: string, kind: '' | 'error' | 'running' = '', busy = false): void {
    this.status.textContent = text;
    this.status.dataset.kind = kind;
    this.saveButton.disabled = this.skipButton.disabled = busy;
  }

  submit(): void {
    if (this.saveButton.disabled) return;
    const text = this.text.value.trim();
    const reason = this.reason.value.trim();
    const { entry, number = 1, question = '' } = this.task;
    if (this.task.task === 'write') {
      if (!text) return this.missing(this.text, t('writeTheQuestionFirst'));
      return this.save({ what: 'question', body: { entry: entry.id, question: text, ...(this.suggestion !== null && { suggestion: this.suggestion }) } });
    }
    const verdict = this.verdict();
    if (!verdict) return this.missing(this.radios.get('agree'), t('chooseOneOfTheThree'));
    if (verdict === 'correct' && (!text || text === question)) return this.missing(this.text, text ? t('theCorrectionEqualsThe') : t('writeTheCorrectedQuestion'));
    if (verdict === 'reject' && !reason) return this.missing(this.reason, t('sayWhyForTheOneWho'));
    this.save({ what: 'verdict', body: { entry: entry.id, number, verdict, ...(verdict === 'correct' && { question: text }), ...(verdict !== 'agree' && reason && { reason }) } });
  }

  /** Forgets what was being written. */
  done(): void {
    setSetting('annotation-draft', 'null');
  }

  private missing(field: HTMLElement | undefined, text: string): void {
    this.say(text, 'error');
    field?.focus();
  }

  private keep(): void {
    const draft: Draft = { entry: keyOf(this.task), text: this.text.value, verdict: this.verdict(), reason: this.reason.value, suggestion: this.suggestion };
    setSetting('annotation-draft', JSON.stringify(draft));
    if (this.status.dataset.kind === 'error') this.say('');
  }

  private verdict(): Verdict | null {
    for (const [verdict, radio] of this.radios) if (radio.checked) return verdict;
    return null;
  }

  /** Shows the fields of the chosen verdict. */
  private chosen(): void {
    if (this.task.task === 'write') return;
    const verdict = this.verdict();
    if (verdict === 'correct' && !this.text.value) this.text.value = this.task.question ?? '';
    for (const part of this.element.querySelectorAll<HTMLElement>('[data-for]')) part.hidden = !(part.dataset.for ?? '').split(' ').includes(verdict ?? '');
    this.keep();
  }

  /** The questions before, and why they were not right. */
  private earlier(): HTMLElement[] {
    const rounds = this.task.history ?? [];
    if (!rounds.length) return [];
    const line = ([verdict, reason]: [Verdict, string | null]) => h('span', { class: 'muted' }, ` ${t(GIVEN[verdict])}${reason ? `: ${reason}` : ''}`);
    return [h('h3', {}, t('before')), h('ol', { class: 'annotate-before' }, rounds.map((round) => h('li', {}, h('q', {}, round.question), round.verdicts.map(line))))];
  }

  private toWrite(): HTMLElement[] {
    const suggestions = this.task.entry.suggestions ?? [];
    const use = (text: string, number: number) => {
      this.text.value = text;
      this.suggestion = number;
      this.keep();
      this.text.focus();
    };
    const item = (text: string, number: number) => h('li', {}, h('button', { type: 'button', class: 'item', 'data-suggestion': number, onclick: () => use(text, number) }, h('span', {}, text), h('span', { class: 'count' }, t('use'))));
    const offered = suggestions.length ? [h('h3', { id: 'annotate-suggestions' }, suggestions.length === 1 ? t('aSuggestion') : t('suggestions')), h('ul', { class: 'annotate-suggestions', 'aria-labelledby': 'annotate-suggestions' }, suggestions.map(item))] : [];
    return [h('label', { for: 'annotate-question' }, t('theQuestionThatThisQuery')), this.text, ...offered];
  }

  private toValidate(chosen: Verdict | null): HTMLElement[] {
    const radio = (verdict: Verdict) => {
      const field = h('input', { type: 'radio', name: 'verdict', value: verdict, id: `verdict-${verdict}`, checked: chosen === verdict, 'aria-describedby': `verdict-${verdict}-note` });
      this.radios.set(verdict, field);
      const [label, note] = VERDICTS[verdict];
      return h('div', { class: 'annotate-verdict' }, field, h('label', { for: field.id }, t(label)), h('span', { class: 'muted', id: `verdict-${verdict}-note` }, t(note)));
    };
    return [
      h('h3', { id: 'annotate-asked' }, t('doesThisQuestionSayWhatThe')),
      h('blockquote', { class: 'annotate-question', 'aria-labelledby': 'annotate-asked' }, this.task.question ?? ''),
      h('div', { role: 'radiogroup', 'aria-label': t('verdict'), class: 'annotate-verdicts' }, radio('agree'), radio('correct'), radio('reject')),
      h('div', { 'data-for': 'correct', class: 'annotate-part' }, h('label', { for: 'annotate-question' }, t('theCorrectedQuestion')), this.text),
      h('div', { 'data-for': 'correct reject', class: 'annotate-part' }, h('label', { for: 'annotate-reason' }, t('reason')), this.reason),
    ];
  }
}

/** A task in place of which there is nothing to do. */
export function nothing(why: string, again: () => void): HTMLElement {
  return h('div', { class: 'annotate-form' }, h('h3', { tabindex: '-1' }, t('nothingToDoNow')), h('p', {}, why), h('div', { class: 'annotate-bar' }, h('button', { type: 'button', class: 'button primary', onclick: again }, icon(ICONS.search), t('lookAgain'))));
}

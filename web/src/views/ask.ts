// Questions in plain language: what is asked, each step on the way to the answer, and the answer. A step can be changed, and the
// answer goes on from there.

import { ICONS, announce, h, icon } from '../dom';
import type { Language } from '../link';
import { Refused, headers, message } from '../service';
import { t, type PlainKey } from '../text/lookup';

interface Query {
  language: Language;
  query: string;
}

/** What was done on the way to an answer. */
type Step =
  | { step: 'mentions'; mentions: Record<string, string[]>; note?: string }
  | { step: 'candidates'; candidates: string }
  | { step: 'prompt'; prompt: string }
  | { step: 'reply'; reply: string; cut?: boolean }
  | ({ step: 'query' } & Query)
  | { step: 'result'; language: Language; total: number; features: number }
  | { step: 'feedback'; feedback: string }
  | { step: 'text'; text: string };

interface Answer {
  text: string;
  map: boolean;
  results: Query[];
  problem: string | null;
  repairs: number;
}

const TITLES: Record<Step['step'], PlainKey> = {
  mentions: 'whatItMentions',
  candidates: 'whatTheDataHasOfThat',
  prompt: 'thePrompt',
  reply: 'theReply',
  query: 'theQuery',
  result: 'whatItGives',
  feedback: 'whatIsWrongWithIt',
  text: 'inWords',
};

/** What the page does for it. */
export interface Around {
  /** Runs a query and shows what it gives. */
  show(query: Query): void;
  /** The server wants a token first. */
  unknown(again: () => void): void;
}

export class Ask {
  readonly element: HTMLElement;
  private readonly question = h('textarea', { class: 'field area', id: 'ask-question', rows: 2, maxlength: 8000, placeholder: t('whichMuseumsAreNearThe') });
  private readonly context = h('textarea', { class: 'field area', id: 'ask-context', rows: 2, maxlength: 8000, placeholder: t('whatIsMeantWhatCountsWhat') });
  private readonly askButton = h('button', { type: 'submit', class: 'button primary' }, icon(ICONS.run), t('ask'));
  private readonly stopButton = h('button', { type: 'button', class: 'button stop', hidden: true, onclick: () => this.control?.abort() }, icon(ICONS.stop), t('stop'));
  private readonly status = h('p', { class: 'ask-status', role: 'status' });
  private readonly answer = h('p', { class: 'ask-answer', hidden: true, role: 'status' });
  private readonly steps = h('ol', { class: 'ask-steps', 'aria-label': t('steps') });
  private control: AbortController | null = null;

  constructor(private readonly around: Around) {
    const form = h(
      'form',
      { class: 'ask-form', 'aria-label': t('question') },
      h('label', { for: 'ask-question' }, t('question')),
      this.question,
      h('label', { for: 'ask-context' }, t('whatElseThereIsToKnow')),
      this.context,
      h('div', { class: 'ask-bar' }, this.askButton, this.stopButton, this.status),
    );
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      void this.ask({}, null);
    });
    form.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      void this.ask({}, null);
    });
    this.element = h('div', { class: 'ask', hidden: true }, form, this.answer, this.steps);
  }

  focus(): void {
    this.question.focus();
  }

  stop(): boolean {
    this.control?.abort();
    return this.control !== null;
  }

  /** Asks; what is given is not made again, and the steps up to `after` stay. */
  private async ask(given: Record<string, unknown>, after: Element | null): Promise<void> {
    const question = this.question.value.trim();
    if (!question) return this.question.focus();
    this.control?.abort();
    const control = new AbortController();
    this.control = control;
    if (after) while (after.nextSibling) after.nextSibling.remove();
    else this.steps.replaceChildren();
    this.answer.hidden = true;
    this.busy(true);
    this.say(t('asking'), 'running');
    try {
      await this.read(JSON.stringify({ question, context: this.context.value.trim(), ...given }), control.signal);
    } catch (problem) {
      if (this.control !== control) return;
      if (problem instanceof Refused && problem.status === 401) this.around.unknown(() => void this.ask(given, after));
      const text = control.signal.aborted ? t('stopped') : (problem as Error).message;
      this.say(text, control.signal.aborted ? '' : 'error');
      announce(text);
    } finally {
      if (this.control === control) {
        this.control = null;
        this.busy(false);
      }
    }
  }

  /** Takes the events as they come. */
  private async read(body: string, signal: AbortSignal): Promise<void> {
    const reply = await fetch('/ask', { method: 'POST', body, signal, headers: { 'Content-Type': 'application/json', Accept: 'text/event-stream', ...headers() } });
    if (!reply.ok) throw new Refused(reply.status, await message(reply));
    const reader = reply.body?.pipeThrough(new TextDecoderStream()).getReader();
    let begun = '';
    let done = false;
    for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
      begun += part.value;
      const events = begun.split('\n\n');
      begun = events.pop() ?? '';
      for (const event of events) done = this.take(event) || done;
    }
    if (!done) throw new Error(t('theAnswerBrokeOff'));
  }

  /** Takes an event; whether it was the last. */
  private take(event: string): boolean {
    const [head = '', ...rest] = event.split('\ndata: ');
    const data: unknown = JSON.parse(rest.join('\ndata: '));
    switch (head.replace('event: ', '')) {
      case 'step':
        this.add(data as Step);
        return false;
      case 'answer':
        this.answered(data as Answer);
        return true;
      default:
        throw new Error((data as { error: string }).error);
    }
  }

  private answered(answer: Answer): void {
    this.answer.textContent = answer.text;
    this.answer.hidden = false;
        this.say(answer.problem ? t('noQueryAnswersThis') : answer.repairs === 0 ? t('answered') : t('answeredAfterRepairs', { n: answer.repairs }), answer.problem ? 'error' : '');
    const last = answer.results.at(-1);
    if (last) this.around.show({ language: last.language, query: last.query });
  }

  /** Shows a step. What was asked for it can be changed, what came of it is only told. */
  private add(step: Step): void {
    this.say(`${t(TITLES[step.step])} …`, 'running');
    const item = h('li', { class: 'ask-step', 'data-step': step.step });
    const field = (text: string, rows: number) => h('textarea', { class: 'field area code', rows, spellcheck: 'false', 'aria-label': t(TITLES[step.step]) }, text);
    const changed = (text: string, given: (text: string) => Record<string, unknown>) => {
      const area = field(text, Math.min(12, text.split('\n').length + 1));
      const go = h('button', { type: 'button', class: 'button small' }, t('goOnFromHere'));
      go.addEventListener('click', () => {
        try {
          void this.ask(given(area.value), item);
        } catch (problem) {
          this.say(`${t(TITLES[step.step])}: ${(problem as Error).message}`, 'error');
        }
      });
      return [area, go];
    };
    const told = (text: string) => [h('pre', { class: 'code', tabindex: '0' }, text)];
    const [note, content] = ((): [string, HTMLElement[]] => {
      switch (step.step) {
        case 'mentions': {
          const text = JSON.stringify(step.mentions, null, 1);
          return [step.note ?? Object.values(step.mentions).flat().join(', '), changed(text, (own) => ({ mentions: JSON.parse(own) as unknown }))];
        }
        case 'candidates':
          return [t('nLines', { n: step.candidates.split('\n').length }), changed(step.candidates, (candidates) => ({ candidates }))];
        case 'prompt':
          return [t('nCharacters', { n: step.prompt.length }), changed(step.prompt, (prompt) => ({ prompt }))];
        case 'query':
          return [step.query.replace(/\s+/g, ' ').slice(0, 60), changed(step.query, (query) => ({ queries: [{ language: step.language, query }] }))];
        case 'reply':
          return [step.cut ? t('cutOff') : '', told(step.reply)];
        case 'result':
          return [t('resultsOnTheMap', { n: step.total, features: step.features }), []];
        case 'feedback':
          return [step.feedback.split('\n')[0] ?? '', told(step.feedback)];
        case 'text':
          return ['', told(step.text)];
      }
    })();
    const head = [h('span', { class: 'ask-title' }, t(TITLES[step.step])), h('span', { class: 'muted ask-note' }, note)];
    item.append(content.length ? h('details', { open: step.step === 'query' || step.step === 'feedback' }, h('summary', {}, ...head), ...content) : h('p', { class: 'ask-line' }, ...head));
    this.steps.append(item);
  }

  private say(text: string, kind = ''): void {
    this.status.textContent = text;
    this.status.dataset.kind = kind;
    this.status.title = text;
  }

  private busy(on: boolean): void {
    const focused = document.activeElement === (on ? this.askButton : this.stopButton);
    this.askButton.hidden = on;
    this.stopButton.hidden = !on;
    if (focused) (on ? this.stopButton : this.askButton).focus();
  }
}

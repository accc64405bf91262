// "What are you looking for?": words become a query, without a model. The server understands them (`/words`); here are the
// field with its suggestions, and a chip for each understood part that can be changed. The query is always in the editor.

import './words.css';
import { ICONS, announce, count, h, icon, popover } from '../dom';
import type { Language } from '../link';
import { Refused, json } from '../service';
import { locale, t, type PlainKey } from '../text/lookup';

/** A query for the words. */
export interface WrittenQuery {
  language: Language;
  about: 'elements' | 'items';
  query: string;
}

interface Choice {
  label: string;
  /** What stands in the text instead of the part, for exactly this meaning. */
  words: string;
  tags?: string;
  id?: string;
  count?: number;
}

interface Part {
  start: number;
  end: number;
  text: string;
  kind: string;
  chosen: Choice;
  alternatives?: Choice[];
  /** The characters that a choice replaces. */
  replaces: [number, number];
}

interface Understood {
  text: string;
  parts: Part[];
  unknown: { start: number; end: number; text: string; reason: string }[];
  queries: WrittenQuery[];
  completions?: { text: string; kind: string; choice: Choice }[];
}

interface Wiring {
  /** South, west, north, east of the map. */
  box: () => [number, number, number, number] | undefined;
  /** Shows the queries, the better one first. */
  show: (queries: WrittenQuery[], run: boolean) => void;
  /** The server wants a token. */
  unknown: (again: () => void) => void;
}

const NAMES: Record<string, PlainKey> = { thing: 'chipWhat', condition: 'chipOnly', type: 'chipOnly', place: 'chipIn', near: 'chipNear', view: 'chipIn', count: 'chipCount' };
const LANGUAGES: Record<Language, string> = { overpassql: 'OverpassQL', sparql: 'SPARQL' };
/** Milliseconds after a key press until suggestions are looked up. */
const PAUSE = 140;

export class Words {
  private readonly input = h('input', {
    id: 'words', type: 'search', class: 'field', maxlength: 1000, autocomplete: 'off', spellcheck: 'false', placeholder: t('cafesInValletta'),
    role: 'combobox', 'aria-autocomplete': 'list', 'aria-expanded': 'false', 'aria-controls': 'words-list',
  });
  private readonly list = h('ul', { id: 'words-list', class: 'words-list', role: 'listbox', 'aria-label': t('suggestions'), hidden: true });
  private readonly chips = h('ul', { class: 'words-chips', 'aria-label': t('whatWasUnderstood'), hidden: true });
  private readonly note = h('p', { class: 'words-note muted', role: 'status', hidden: true });
  readonly element: HTMLElement;
  private turns = 0;
  private waiting = 0;
  private active = -1;

  constructor(private readonly wiring: Wiring) {
    const form = h('form', { class: 'words', role: 'search', 'aria-label': t('words') },
      h('label', { for: 'words' }, t('whatAreYouLookingFor')),
      h('div', { class: 'words-field' }, icon(ICONS.search), this.input, this.list, h('button', { class: 'button' }, t('find'))),
      this.chips,
      this.note,
    );
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      const option = this.list.children[this.active];
      if (!this.list.hidden && option instanceof HTMLElement) return option.click();
      void this.understand(this.input.value, true);
    });
    form.addEventListener('focusout', (event) => {
      if (!form.contains(event.relatedTarget as Node)) this.close();
    });
    this.input.addEventListener('input', () => {
      clearTimeout(this.waiting);
      this.waiting = window.setTimeout(() => void this.suggest(), PAUSE);
    });
    this.input.addEventListener('keydown', (event) => this.key(event));
    this.element = form;
  }

  /** Turns words into queries, shows what was understood, and shows the queries. */
  async understand(text: string, run: boolean): Promise<void> {
    this.close();
    clearTimeout(this.waiting);
    if (this.input.value !== text) this.input.value = text;
    const turn = (this.turns += 1);
    if (!text.trim()) return this.say('');
    const found = await this.look(text, false, () => void this.understand(text, run));
    if (!found || turn !== this.turns) return;
    this.draw(found);
    const [best] = found.queries;
    const left = found.unknown.map((unknown) => `"${unknown.text}"`).join(', ');
    if (!best) this.say(left ? t('noQueryForThisIsNot', { left }) : t('noQueryForThisNameA'));
    else if (left) this.say(t('notUnderstoodAndLeftOut', { left }));
    else this.say(this.others(found.queries));
    this.wiring.show(found.queries, run);
  }

  /** Says in which other language the query stands. */
  private others(queries: WrittenQuery[]): string {
    const other = queries.find((query) => query.language !== queries[0]?.language);
    return other ? t('theQueryIsBelowInAnd', { language: LANGUAGES[queries[0]?.language ?? 'overpassql'], other: LANGUAGES[other.language] }) : '';
  }

  private async look(text: string, typing: boolean, again: () => void): Promise<Understood | undefined> {
    const box = this.wiring.box()?.map((degrees) => degrees.toFixed(5)).join(',');
    const part = new URLSearchParams({ q: text, language: locale(), ...(box && { bbox: box }), ...(typing && { complete: '1' }) });
    try {
      return await json<Understood>(`/words?${part}`);
    } catch (problem) {
      if (problem instanceof Refused && problem.status === 401) this.wiring.unknown(again);
      else if (!typing) this.say((problem as Error).message);
      return undefined;
    }
  }

  private say(text: string): void {
    this.note.textContent = text;
    this.note.hidden = !text;
  }

  private close(): void {
    this.list.hidden = true;
    this.active = -1;
    this.input.setAttribute('aria-expanded', 'false');
    this.input.removeAttribute('aria-activedescendant');
  }

  /** Suggestions for the word that is being written, with how many there are. */
  private async suggest(): Promise<void> {
    const turn = (this.turns += 1);
    const text = this.input.value;
    if (text.trim().length < 2) return this.close();
    const found = await this.look(text, true, () => void this.suggest());
    if (turn !== this.turns || !found?.completions) return;
    const options = found.completions.map((completion, at) =>
      h('li', { id: `words-option-${at}`, role: 'option', 'aria-selected': 'false', onmousedown: (event: Event) => event.preventDefault(), onclick: () => this.pick(completion.text) },
        h('span', { class: 'words-label' }, completion.kind === 'place' ? completion.choice.label : completion.text),
        h('span', { class: 'muted words-tags' }, completion.choice.tags ?? ''),
        completion.choice.count === undefined ? null : h('span', { class: 'muted words-count' }, count(completion.choice.count)),
      ));
    if (!options.length) return this.close();
    this.list.replaceChildren(...options);
    this.list.hidden = false;
    this.active = -1;
    this.input.removeAttribute('aria-activedescendant');
    this.input.setAttribute('aria-expanded', 'true');
    announce(t('nSuggestions', { n: options.length }));
  }

  /** A suggestion is taken: the query follows at once. */
  private pick(text: string): void {
    this.input.focus();
    void this.understand(text, true);
  }

  private key(event: KeyboardEvent): void {
    if (event.key === 'Escape' && !this.list.hidden) {
      event.preventDefault();
      this.close();
    }
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (!step) return;
    event.preventDefault();
    if (this.list.hidden) return void this.suggest();
    const options = [...this.list.children];
    this.active = (this.active + step + options.length + (this.active < 0 && step < 0 ? 1 : 0)) % options.length;
    options.forEach((option, at) => option.setAttribute('aria-selected', String(at === this.active)));
    this.input.setAttribute('aria-activedescendant', `words-option-${this.active}`);
    options[this.active]?.scrollIntoView({ block: 'nearest' });
  }

  /** A chip for each part. */
  private draw(found: Understood): void {
    const chips = found.parts.map((part) => this.chip(found, part));
    const unknown = found.unknown.map((part) => h('li', {}, h('span', { class: 'words-chip unknown', title: part.reason }, h('span', { class: 'words-kind' }, t('notUnderstood')), part.text)));
    this.chips.replaceChildren(...chips, ...unknown);
    this.chips.hidden = !chips.length && !unknown.length;
  }

  private chip(found: Understood, part: Part): HTMLElement {
    const { chosen } = part;
    const name = NAMES[part.kind];
    const others = part.alternatives ?? [];
    const content = [
      h('span', { class: 'words-kind' }, name ? t(name) : part.kind),
      h('span', { class: 'words-name' }, chosen.label),
      chosen.tags && chosen.tags !== chosen.label ? h('code', {}, chosen.tags) : null,
      chosen.count === undefined ? null : h('span', { class: 'muted' }, count(chosen.count)),
    ];
    if (!others.length) return h('li', {}, h('span', { class: 'words-chip', title: part.text }, content));
    const button = h('button', { type: 'button', class: 'words-chip', title: t('changeMeaning', { text: part.text }) }, content, icon(ICONS.down));
    const choose = (choice: Choice) => {
      menu.hidePopover();
      this.input.focus();
      void this.understand(replaced(found.text, part.replaces, choice.words), true);
    };
    const menu = h('div', { class: 'words-menu', role: 'group', 'aria-label': t('otherMeaningsOf', { text: part.text }) },
      others.map((choice) => h('button', { type: 'button', onclick: () => choose(choice) },
        h('span', { class: 'words-name' }, choice.label),
        h('code', {}, choice.id ?? (choice.tags === choice.label ? '' : choice.tags) ?? ''),
        choice.count === undefined ? null : h('span', { class: 'muted words-count' }, count(choice.count)),
      )));
    const line = h('li', {}, button, menu);
    // The menu stays within the form, which is a landmark.
    this.chips.append(line);
    popover(button, menu);
    return line;
  }
}

/** Positions count characters, not halves of surrogate pairs. */
function replaced(text: string, [from, to]: [number, number], words: string): string {
  const all = [...text];
  return all.slice(0, from).join('') + words + all.slice(to).join('');
}

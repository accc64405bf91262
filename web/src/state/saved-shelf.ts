// The shelf of saved queries: a name for the query in the editor, the list, and files.

import './saved.css';
import { ICONS, announce, h, icon, popover, save as download } from '../dom';
import { LANGUAGES, type Language } from '../link';
import { t } from '../text/lookup';
import { exported, imported, remove, save, saved, type SavedQuery } from './saved';

export interface SavedWiring {
  /** The query in the editor. */
  current: () => { language: Language; query: string };
  /** Puts a query into the editor. */
  take: (entry: SavedQuery) => void;
}

export function savedShelf(button: HTMLElement, { current, take }: SavedWiring): void {
  const name = h('input', { type: 'text', class: 'field', maxlength: 120, placeholder: t('nameOfThisQuery'), 'aria-label': t('nameOfThisQuery'), autofocus: true });
  const keep = h('button', { type: 'submit', class: 'button' }, t('save'));
  const form = h('form', { class: 'saved-form' }, name, keep);
  const list = h('ul', { class: 'saved-list' });
  const note = h('p', { class: 'muted pad', role: 'status' });
  const file = h('input', { type: 'file', accept: '.json,application/json', hidden: true, 'aria-label': t('fileOfQueries') });
  const out = h('button', { type: 'button', class: 'button small' }, t('saveAsAFile'));
  const open = h('button', { type: 'button', class: 'button small', onclick: () => file.click() }, t('openAFile'));
  const shelf = h('div', { class: 'shelf saved', role: 'dialog', 'aria-label': t('savedQueries') }, h('h2', {}, t('savedQueries')), form, list, note, h('div', { class: 'saved-files' }, out, open, file));

  const say = (text: string) => {
    note.textContent = text;
    note.hidden = !text;
    announce(text);
  };
  const tried = (act: () => string) => {
    try {
      say(act());
    } catch (problem) {
      say((problem as Error).message);
    }
    draw();
  };
  const draw = () => {
    const all = saved();
    out.disabled = !all.length;
    list.replaceChildren(
      ...all.map((entry) =>
        h(
          'li',
          {},
          h('button', { type: 'button', class: 'item', onclick: () => (shelf.hidePopover(), take(entry)) }, h('span', {}, entry.name), h('span', { class: 'count' }, LANGUAGES[entry.language])),
          h('button', { type: 'button', class: 'button quiet only-icon', 'aria-label': t('removeNamed', { name: entry.name }), title: t('remove'), onclick: () => (tried(() => (remove(entry.name), t('removedNamed', { name: entry.name }))), name.focus()) }, icon(ICONS.close)),
        ),
      ),
    );
  };
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const called = name.value.trim();
    if (!called) return name.focus();
    const replaces = saved().some((entry) => entry.name === called);
    tried(() => (save({ name: called, ...current(), at: Date.now() }), replaces ? t('replacedNamed', { name: called }) : t('savedAs', { name: called })));
    name.value = '';
  });
  out.addEventListener('click', () => download(new Blob([exported()], { type: 'application/json' }), 'terrapin-queries.json'));
  file.addEventListener('change', async () => {
    const [chosen] = file.files ?? [];
    if (!chosen) return;
    const text = await chosen.text();
    file.value = '';
    tried(() => {
      const number = imported(text);
      return t('queriesFrom', { n: number, name: chosen.name });
    });
  });
  shelf.addEventListener('beforetoggle', (event) => {
    if ((event as ToggleEvent).newState !== 'open') return;
    note.hidden = true;
    draw();
    if (!saved().length) note.replaceChildren(t('savedQueriesAreKeptInThis'));
    note.hidden = saved().length > 0;
  });
  popover(button, shelf);
}

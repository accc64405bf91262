// A field that goes where a name leads, and tells while one types where that may be.

import { ICONS, announce, h, icon } from '../dom';
import type { Box } from '../answer/model';
import { arrowKeys } from '../keys';
import { json } from '../service';
import { t } from '../text/lookup';

interface Place {
  /** South, north, west, east. */
  boundingbox: string[];
  display_name: string;
  type: string;
}

/** `go` is told the box of the place that was chosen. */
export function finder(go: (box: Box) => void): HTMLElement {
  const input = h('input', { type: 'search', placeholder: t('findAPlace'), 'aria-label': t('findAPlace'), class: 'field' });
  const results = h('ul', { class: 'results', hidden: true });
  const chosen = (place: Place) => {
    const [south = 0, north = 0, west = 0, east = 0] = place.boundingbox.map(Number);
    go([west, south, east, north]);
    if (results.contains(document.activeElement)) input.focus();
    results.hidden = true;
    announce(place.display_name);
  };
  const form = h('form', { class: 'finder', role: 'search', 'aria-label': t('places') }, icon(ICONS.search), input, results);
  const line = (place: Place) => h('li', {}, h('button', { type: 'button', onclick: () => chosen(place) }, place.display_name, h('span', { class: 'muted' }, ` ${place.type}`)));
  let turns = 0;
  let waiting = 0;
  /** While somebody types, what the name may become, and no word where that is nothing. */
  const look = async (typing: boolean) => {
    clearTimeout(waiting);
    const turn = (turns += 1);
    const name = input.value.trim();
    let lines: HTMLElement[] = [];
    try {
      const found = name ? await json<Place[]>(`/search?format=jsonv2&limit=8&q=${encodeURIComponent(name)}${typing ? '&typing=1' : ''}`) : [];
      if (turn !== turns) return;
      if (!typing && found.length === 1 && found[0]) return chosen(found[0]);
      lines = found.map(line);
      if (!typing && name && !found.length) lines = [h('li', { class: 'muted' }, t('noSuchPlaceInTheData'))];
    } catch (problem) {
      if (turn !== turns) return;
      if (!typing) lines = [h('li', { class: 'muted' }, (problem as Error).message)];
    }
    results.replaceChildren(...lines);
    results.hidden = !lines.length;
    if (lines.length) announce(lines.length > 1 ? t('nPlaces', { n: lines.length }) : (lines[0]?.textContent ?? ''));
  };
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void look(false);
  });
  input.addEventListener('input', () => {
    clearTimeout(waiting);
    waiting = window.setTimeout(() => void look(true), 150);
  });
  form.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || results.hidden) return;
    // It closes the list, and nothing else of the page.
    event.preventDefault();
    if (results.contains(document.activeElement)) input.focus();
    results.hidden = true;
  });
  arrowKeys(form, () => (results.hidden ? [] : [input, ...results.querySelectorAll('button')]));
  form.addEventListener('focusout', (event) => {
    if (!form.contains(event.relatedTarget as Node)) results.hidden = true;
  });
  return form;
}

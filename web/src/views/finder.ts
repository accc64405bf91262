// A field that goes where a name leads.

import { ICONS, announce, h, icon } from '../dom';
import type { Box } from '../answer/model';
import { json } from '../service';

interface Place {
  /** South, north, west, east. */
  boundingbox: string[];
  display_name: string;
  type: string;
}

/** `go` is told the box of the place that was chosen. */
export function finder(go: (box: Box) => void): HTMLElement {
  const input = h('input', { type: 'search', placeholder: 'Find a place', 'aria-label': 'Find a place', class: 'field' });
  const results = h('ul', { class: 'results', hidden: true });
  const chosen = (place: Place) => {
    const [south = 0, north = 0, west = 0, east = 0] = place.boundingbox.map(Number);
    go([west, south, east, north]);
    results.hidden = true;
    announce(place.display_name);
  };
  const form = h('form', { class: 'finder', role: 'search', 'aria-label': 'Places' }, icon(ICONS.search), input, results);
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    const name = input.value.trim();
    if (!name) return;
    try {
      const found = await json<Place[]>(`/search?format=jsonv2&limit=8&q=${encodeURIComponent(name)}`);
      results.replaceChildren(...(found.length ? found.map((place) => h('li', {}, h('button', { type: 'button', onclick: () => chosen(place) }, place.display_name, h('span', { class: 'muted' }, ` ${place.type}`)))) : [h('li', { class: 'muted' }, 'No such place in the data')]));
      results.hidden = false;
      if (found.length === 1 && found[0]) chosen(found[0]);
    } catch (problem) {
      results.replaceChildren(h('li', { class: 'muted' }, (problem as Error).message));
      results.hidden = false;
    }
  });
  form.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') results.hidden = true;
  });
  form.addEventListener('focusout', (event) => {
    if (!form.contains(event.relatedTarget as Node)) results.hidden = true;
  });
  return form;
}

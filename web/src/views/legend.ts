// Which colour on the map is which layer of the answer.

import type { Summary } from '../answer/model';
import { count, h } from '../dom';

/** More lines than that would hide the map. */
const MOST = 12;

export function legend({ layers }: Summary): HTMLElement {
  const list = h('ul', { class: 'legend', 'aria-label': 'Layers', hidden: layers.length === 0 });
  for (const { name, rows, colour } of layers.slice(0, MOST)) {
    const dot = h('span', { class: 'dot', 'aria-hidden': 'true' });
    dot.style.background = colour;
    list.append(h('li', { title: name }, dot, h('span', {}, name), h('span', { class: 'count' }, count(rows))));
  }
  if (layers.length > MOST) list.append(h('li', { class: 'muted' }, `and ${count(layers.length - MOST)} more`));
  return list;
}

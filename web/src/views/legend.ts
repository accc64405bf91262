// Which colour on the map is which layer of the answer.

import { MOST } from '../answer/layers';
import type { Layer } from '../answer/model';
import { count, h } from '../dom';
import { t } from '../text/lookup';

export function legend(layers: Layer[]): HTMLElement {
  const list = h('ul', { class: 'legend', 'aria-label': t('layers'), tabindex: '0', hidden: layers.length === 0 });
  const [key = ''] = new Set(layers.map((layer) => layer.key).filter(Boolean));
  if (key) list.append(h('li', { class: 'legend-key' }, key));
  const line = (name: string, rows: number, colour: string) => {
    const dot = h('span', { class: 'dot', 'aria-hidden': 'true' });
    dot.style.background = colour;
    list.append(h('li', { title: name }, dot, h('span', {}, name), h('span', { class: 'count' }, count(rows))));
  };
  for (const { name, rows, colour } of layers.slice(0, MOST)) line(name, rows, colour);
  const others = layers.slice(MOST);
  if (others[0]) line(t('nOthers', { n: others.length }), others.reduce((sum, { rows }) => sum + rows, 0), others[0].colour);
  return list;
}

// What a column offers: its order, whether it is pinned or hidden, and its most frequent values with their numbers, each of which
// becomes a condition of the filter.

import type { Facet } from '../answer/model';
import { announce, count, h, menuItems, rows } from '../dom';
import { arrowKeys } from '../keys';
import { t } from '../text/lookup';

export interface ColumnMenuWiring {
  name: string;
  pinned: boolean;
  sort: (descending: boolean) => void;
  pin: (on: boolean) => void;
  hide: () => void;
  facets: () => Promise<Facet>;
  /** Keeps the rows with this value. */
  only: (value: string) => void;
}

export class ColumnMenu {
  private readonly panel = h('div', { class: 'popover shelf narrow column-menu', popover: 'auto', role: 'dialog' });
  private opener: HTMLElement | null = null;

  constructor() {
    document.body.append(this.panel);
    this.panel.addEventListener('toggle', (event) => {
      if ((event as ToggleEvent).newState === 'closed' && (this.panel.contains(document.activeElement) || document.activeElement === document.body)) this.opener?.focus();
    });
    arrowKeys(this.panel, () => menuItems(this.panel));
  }

  async open(opener: HTMLElement, wiring: ColumnMenuWiring): Promise<void> {
    this.opener = opener;
    const item = (label: string, act: () => void) => h('button', { type: 'button', class: 'item', onclick: () => (this.panel.hidePopover(), act()) }, h('span', {}, label));
    const values = h('div', { class: 'facets' }, h('p', { class: 'muted pad' }, t('counting')));
    this.panel.setAttribute('aria-label', t('columnNamed', { name: wiring.name }));
    this.panel.replaceChildren(
      item(t('sortAscending'), () => wiring.sort(false)),
      item(t('sortDescending'), () => wiring.sort(true)),
      item(wiring.pinned ? t('unpin') : t('pinToTheLeft'), () => wiring.pin(!wiring.pinned)),
      item(t('hideThisColumn'), wiring.hide),
      h('h2', {}, t('values')),
      values,
    );
    this.panel.showPopover();
    this.put(opener);
    this.panel.querySelector('button')?.focus();
    const facet = await wiring.facets().catch(() => null);
    if (!facet || !values.isConnected) return;
    const line = (text: string, number: number) => h('button', { type: 'button', class: 'item', 'data-value': text, onclick: () => (this.panel.hidePopover(), wiring.only(text)) }, h('span', {}, text || t('noValue')), h('span', { class: 'count' }, count(number)));
    values.replaceChildren(...facet.values.map(({ text, rows: number }) => line(text, number)), ...(facet.empty ? [line('', facet.empty)] : []));
    if (facet.others) values.append(h('p', { class: 'muted pad' }, t('andOthers', { n: facet.others })));
    this.put(opener);
    announce(t('valuesIn', { n: facet.values.length + facet.others, rows: rows(facet.values.reduce((sum, value) => sum + value.rows, 0)) }));
  }

  private put(opener: HTMLElement): void {
    const at = opener.getBoundingClientRect();
    const { offsetWidth, offsetHeight } = this.panel;
    this.panel.style.left = `${Math.max(8, Math.min(at.left, innerWidth - offsetWidth - 8))}px`;
    this.panel.style.top = `${Math.max(8, Math.min(at.bottom + 4, innerHeight - offsetHeight - 8))}px`;
  }
}

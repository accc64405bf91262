// Addresses of the page: the query, or an element in its place.

import { ICONS, h, icon } from './dom';
import { siteName } from './identity/identity';
import type { Layout } from './layout';
import type { AnswerMap } from './map/map';
import { Refused, type Snapshot } from './service';
import { t } from './text/lookup';
import { address, look } from './views/element';
import { askToken } from './views/token';
import type { Views } from './views/views';

/** What addresses lead to. */
export interface RouteWiring {
  snapshot: Snapshot;
  layout: Layout;
  views: Views;
  map: () => AnswerMap | null;
  /** Whether an answer is shown. */
  isAnswered: () => boolean;
}

export class Routes {
  /** Counts what addresses led to, so that what comes late is not taken for what came after. */
  private turn = 0;

  constructor(private readonly page: RouteWiring) {
    addEventListener('popstate', () => void this.show());
    document.addEventListener('click', (event) => this.click(event));
  }

  /** Shows what the address leads to. */
  async show(): Promise<void> {
    const { layout, views } = this.page;
    const turn = (this.turn += 1);
    const shown = address(location.pathname);
    layout.query.hidden = shown !== null;
    layout.entity.hidden = shown === null;
    if (!shown) {
      document.title = siteName();
      this.page.map()?.select(null, null, false);
      // The row that was selected before is selected again, on the map and in its card.
      if (this.page.isAnswered() && views.chosen >= 0) void views.select(views.chosen, 'table');
      return;
    }
    layout.pane('query');
    const back = h('a', { href: '/', class: 'button quiet', 'data-view': '' }, icon(ICONS.back), t('query'));
    layout.entity.replaceChildren(h('div', { class: 'tools' }, back), h('p', { class: 'muted pad' }, t('looking')));
    try {
      const found = await look(location.pathname, this.page.snapshot);
      if (turn !== this.turn) return;
      layout.entity.replaceChildren(h('div', { class: 'tools' }, back), found.element);
      document.title = `${found.title.slice(0, 80)} · ${siteName()}`;
      found.element.querySelector('h2')?.focus();
      views.card.hide();
      this.page.map()?.select(found.geometry, null, false);
      if (found.box) this.page.map()?.fit(found.box, found.pointZoom);
    } catch (problem) {
      if (turn !== this.turn) return;
      if (problem instanceof Refused && problem.status === 401) askToken(() => void this.show());
      layout.entity.replaceChildren(h('div', { class: 'tools' }, back), h('div', { class: 'entity' }, h('h2', { tabindex: '-1', class: 'title' }, t('notHere')), h('p', {}, (problem as Error).message)));
    }
  }

  /** Shows what an address of the page leads to. */
  go(href: string): void {
    history.pushState(null, '', href);
    void this.show();
  }

  /** Links within the page are followed without loading it again. */
  private click(event: MouseEvent): void {
    const link = (event.target as HTMLElement).closest?.<HTMLAnchorElement>('a[data-view]');
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    this.go(link.getAttribute('href') ?? '/');
  }
}

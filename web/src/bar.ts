// The bar at the top of a page: what is served, colours, keys.

import { ICONS, h, icon, popover } from './dom';
import { brand } from './identity/identity';
import { sourceName, type Snapshot } from './service';
import { t } from './text/lookup';
import { languageMenu } from './text/menu';
import { about, help } from './views/shelves';

/** What a bar needs of its page. */
export interface BarWiring {
  /** Where the link that skips the bar leads. */
  skip: string;
  focus: () => void;
  nextTheme: () => void;
  /** What else is in it. */
  more: HTMLElement[];
}

export function topBar(snapshot: Snapshot, { skip, focus, nextTheme, more }: BarWiring): HTMLElement {
  const name = sourceName(snapshot.sources[0]?.name ?? '') || t('snapshot');
  const chip = h('button', { type: 'button', class: 'chip', title: t('whatIsServed') }, h('span', { class: 'chip-name' }, name), h('span', { class: 'chip-date' }, snapshot.data_time.slice(0, 10)), h('code', {}, snapshot.digest.slice(0, 8)));
  popover(chip, about(snapshot));
  const themeButton = h('button', { type: 'button', class: 'button quiet only-icon', title: t('lightDarkOrAsTheSystem'), 'aria-label': t('coloursLightDarkOrAsThe'), onclick: nextTheme }, icon(ICONS.theme));
  const helpButton = h('button', { type: 'button', class: 'button quiet only-icon', title: t('keys'), 'aria-label': t('keys') }, icon(ICONS.help));
  popover(helpButton, help());
  return h(
    'header',
    { class: 'bar' },
    h('a', { class: 'skip', href: '#main', onclick: (event: Event) => (event.preventDefault(), focus()) }, skip),
    h('h1', {}, h('a', { href: '/', class: 'brand', 'data-view': '' }, ...brand())),
    chip, h('span', { class: 'grow' }),
    more,
    languageMenu(),
    themeButton,
    helpButton,
  );
}

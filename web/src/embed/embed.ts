// The answer alone, for a frame in another page: /embed, and the addresses that overpass-turbo (/map.html) and the Wikidata
// Query Service (/embed.html) have for it. The query of the address runs at once.

import './embed.css';
import { h } from '../dom';
import { brand, siteHasIdentity, siteName } from '../identity/identity';
import { t } from '../text/lookup';

/** Whether the page is shown as an answer alone. */
export const isEmbedded = (): boolean => /^\/(embed(\.html)?|map\.html)$/.test(location.pathname);

/** Prepares the page for a frame: links open in a tab of their own, and one leads to the whole page. */
export function embed(): HTMLElement[] {
  document.documentElement.dataset.embed = '';
  document.addEventListener(
    'click',
    (event) => {
      const link = (event.target as HTMLElement).closest?.('a[data-view]');
      if (!link) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      window.open(link.getAttribute('href') ?? '/', '_blank', 'noopener');
    },
    true,
  );
  const link = h('a', { class: 'button embed-link', href: `/${location.search}${location.hash}`, target: '_blank', rel: 'noopener' }, t('openInTerrapin', { name: siteName() }));
  return siteHasIdentity() ? [link, h('div', { class: 'embed-brand' }, ...brand())] : [link];
}

/** The lines that show the answer of a link in another page. */
export function frameFor(link: string): string {
  const address = link.replace(/^(https?:\/\/[^/#]+)\/#/, '$1/embed#');
  return `<iframe src="${address.replace(/&/g, '&amp;').replace(/"/g, '%22')}" width="800" height="500" title="${t('mapOfAQuery')}" loading="lazy"></iframe>`;
}

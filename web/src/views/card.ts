// What is selected, beside the map: what the row says, and what else the snapshot knows of the thing that it names.

import { about } from '../answer/lookup';
import type { Details } from '../answer/model';
import { ICONS, announce, h, icon } from '../dom';
import { headers } from '../service';
import { pairs } from './element';

export class Card {
  readonly element = h('aside', { class: 'card', hidden: true, 'aria-label': 'Selected' });
  private turn = 0;

  constructor(private readonly closed: () => void) {}

  get open(): boolean {
    return !this.element.hidden;
  }

  /** Shows it; `asks` whether more is asked of the snapshot, `triples` whether it has items. */
  show(details: Details, asks: boolean, triples: boolean): void {
    this.turn += 1;
    const close = h('button', { type: 'button', class: 'button quiet only-icon', 'aria-label': 'Close', onclick: this.closed }, icon(ICONS.close));
    const title = details.href ? h('a', { href: details.href, 'data-view': '' }, details.title) : details.title;
    const heading = h('h2', {}, title);
    const more = h('div', { class: 'card-about' });
    this.element.replaceChildren(h('header', {}, heading, close), h('div', { class: 'card-body', tabindex: '0', role: 'region', 'aria-label': 'What is known of it' }, more, pairs(details.pairs)));
    this.element.hidden = false;
    announce(details.title);
    if (asks && details.href) void this.ask({ href: details.href, title: details.title, triples }, heading, more);
  }

  hide(): void {
    this.turn += 1;
    this.element.hidden = true;
  }

  /** Adds label, description and a link to a picture, where the snapshot has them. */
  private async ask({ href, title, triples }: { href: string; title: string; triples: boolean }, heading: HTMLElement, more: HTMLElement): Promise<void> {
    const { turn } = this;
    const known = await about(href, { headers: headers(), triples }).catch(() => null);
    if (!known || turn !== this.turn) return;
    if (known.label && title === href.replace(/^\/(entity\/)?/, '')) heading.replaceChildren(h('a', { href, 'data-view': '' }, known.label));
    if (known.description) more.append(h('p', {}, known.description));
    if (known.image) more.append(h('p', {}, h('a', { href: known.image, target: '_blank', rel: 'noopener noreferrer' }, 'Image'), h('span', { class: 'note' }, 'elsewhere, on the web')));
  }
}

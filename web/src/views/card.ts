// What is selected, beside the map: what the row says, and what else the snapshot knows of the thing that it names.

import { about } from '../answer/lookup';
import type { Details } from '../answer/model';
import { ICONS, announce, h, icon } from '../dom';
import { headers } from '../service';
import { labelLanguages } from '../text/languages';
import { t } from '../text/lookup';
import { editLinks } from './edit';
import { pairs } from './element';

export class Card {
  readonly element = h('aside', { class: 'card', hidden: true, 'aria-label': t('selected') });
  private turn = 0;

  /** `stepped` selects the row before or after the selected one, in the order of the table. */
  constructor(private readonly closed: () => void, private readonly stepped: (by: -1 | 1) => void) {}

  get open(): boolean {
    return !this.element.hidden;
  }

  /** Shows it; `asks` whether more is asked of the snapshot, `triples` whether it has items. */
  show(details: Details, asks: boolean, triples: boolean): void {
    this.turn += 1;
    const close = h('button', { type: 'button', class: 'button quiet only-icon', 'aria-label': t('close'), onclick: this.closed }, icon(ICONS.close));
    const step = (by: -1 | 1, label: string, path: string) => h('button', { type: 'button', class: 'button quiet only-icon', 'aria-label': label, title: label, 'data-step': by, onclick: () => this.stepped(by) }, icon(path));
    const steps = h('span', { class: 'steps' }, step(-1, t('previousRow'), ICONS.back), step(1, t('nextRow'), ICONS.next));
    const focused = this.element.contains(document.activeElement) ? (document.activeElement as HTMLElement).dataset.step : undefined;
    const title = details.href ? h('a', { href: details.href, 'data-view': '' }, details.title) : details.title;
    const heading = h('h2', {}, title);
    const more = h('div', { class: 'card-about' });
    this.element.replaceChildren(h('header', {}, heading, steps, close), h('div', { class: 'card-body', tabindex: '0', role: 'region', 'aria-label': t('whatIsKnownOfIt') }, more, pairs(details.pairs), editLinks(details.href)));
    this.element.hidden = false;
    if (focused) this.element.querySelector<HTMLElement>(`[data-step="${focused}"]`)?.focus();
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
    const known = await about(href, { headers: headers(), triples, languages: labelLanguages() }).catch(() => null);
    if (!known || turn !== this.turn) return;
    if (known.label && title === href.replace(/^\/(entity\/)?/, '')) heading.replaceChildren(h('a', { href, 'data-view': '' }, known.label));
    if (known.description) more.append(h('p', {}, known.description));
    if (known.image) more.append(h('p', {}, h('a', { href: known.image, target: '_blank', rel: 'noopener noreferrer' }, t('image')), h('span', { class: 'note' }, t('elsewhereOnTheWeb'))));
  }
}

// What the page says about a query: the status of its run, lines below it, and why an answer is not that of the query.

import { ICONS, h, icon } from './dom';
import { t } from './text/lookup';

export class Notices {
  readonly element = h('div', { class: 'notices' });
  readonly status = h('p', { class: 'status', role: 'status' });
  readonly stale = h('span', { class: 'stale', hidden: true });

  say(text: string, kind = ''): void {
    this.status.textContent = text;
    this.status.dataset.kind = kind;
  }

  /** Says something about the query as it is written. It never replaces the outcome of a run. */
  sayOfDraft(text: string): void {
    if (this.status.dataset.kind === 'draft' || !this.status.textContent) this.say(text, 'draft');
  }

  /** Adds a line under the query; without a text the line of this kind goes. */
  add(kind: string, text?: string, ...more: (Node | undefined)[]): void {
    this.element.querySelector(`[data-kind="${kind}"]`)?.remove();
    if (!text) return;
    const close = h('button', { type: 'button', class: 'button quiet only-icon', 'aria-label': t('dismiss'), onclick: () => this.add(kind) }, icon(ICONS.close));
    this.element.append(h('div', { class: 'notice', role: kind === 'error' ? 'alert' : 'status', 'data-kind': kind }, h('p', {}, text), ...more.filter((node) => node !== undefined), close));
  }

  /** Adds what explains a notice below its text, if the notice is still there. */
  explain(kind: string, more: HTMLElement): void {
    const text = this.element.querySelector(`[data-kind="${kind}"] > p`);
    if (!text) return;
    const host = h('div', { class: 'notice-text' });
    text.replaceWith(host);
    host.append(text, more);
  }

  clear(): void {
    this.element.replaceChildren();
  }

  isEmpty(): boolean {
    return this.element.firstChild === null;
  }

  /** Says of the answer that is shown why it is not that of the query and the map; nothing if it is. */
  markStale(why: string): void {
    this.stale.hidden = why === '';
    this.stale.textContent = why;
    this.stale.closest('.dock')?.toggleAttribute('data-stale', why !== '');
  }
}

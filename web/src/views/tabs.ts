// The views of an answer, of which one is seen: tabs for the mouse, for arrow keys and for screen readers.

import { h } from '../dom';
import { arrowKeys } from '../keys';
import { t } from '../text/lookup';

export class Tabs {
  readonly list = h('div', { role: 'tablist', 'aria-label': t('theAnswerAs'), class: 'tabs' });
  readonly panels = h('div', { class: 'panels' });
  private readonly all = new Map<string, { tab: HTMLButtonElement; panel: HTMLElement }>();

  /** `opened` is told which view is seen. */
  constructor(parts: [id: string, label: string, content: HTMLElement][], private readonly opened: (id: string) => void) {
    for (const [id, label, content] of parts) {
      const tab = h('button', { type: 'button', role: 'tab', id: `tab-${id}`, 'aria-controls': `panel-${id}`, onclick: () => this.open(id) }, label);
      const panel = h('div', { role: 'tabpanel', id: `panel-${id}`, 'aria-labelledby': `tab-${id}`, class: 'panel' }, content);
      this.all.set(id, { tab, panel });
      this.list.append(tab);
      this.panels.append(panel);
    }
    arrowKeys(this.list, () => [...this.list.querySelectorAll<HTMLElement>('[role=tab]:not([hidden])')], 'sides', (tab) => tab.click());
  }

  open(wanted: string): void {
    for (const [id, { tab, panel }] of this.all) {
      const on = id === wanted;
      tab.setAttribute('aria-selected', String(on));
      tab.tabIndex = on ? 0 : -1;
      panel.hidden = !on;
    }
    this.opened(wanted);
  }

  /** Whether an answer has something for this view. */
  offer(id: string, on: boolean): void {
    this.all.get(id)?.tab.toggleAttribute('hidden', !on);
  }

  has(id: string): boolean {
    return this.all.get(id)?.tab.hidden === false;
  }

  /** The focus goes to what is seen: to the rows of a table, else to the tab. */
  focus(): void {
    const grid = [...this.panels.querySelectorAll<HTMLElement>('[role=grid]')].find((one) => one.checkVisibility());
    (grid ?? this.list.querySelector<HTMLElement>('[aria-selected=true]'))?.focus();
  }
}

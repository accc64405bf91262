// The parts of the page and the space that each takes: the query, the map, the answer.

import './layout.css';
import { ICONS, h, icon } from './dom';
import { setSetting, setting } from './history';
import { notice } from './identity/identity';
import { separator } from './split';
import { t } from './text/lookup';
import type { Tabs } from './views/tabs';

/** Where one part is seen at a time. */
const NARROW = '(max-width: 760px)';

export const isNarrow = (): boolean => matchMedia(NARROW).matches;

export class Layout {
  readonly query = h('section', { class: 'query', 'aria-label': t('query') });
  readonly entity = h('section', { class: 'entity-pane', 'aria-label': t('element'), hidden: true });
  readonly mapElement = h('div', { class: 'map', dir: 'ltr' });
  readonly legend = h('div', { class: 'legend-host' });
  readonly tally = h('p', { class: 'tally muted' });
  readonly exportButton = h('button', { type: 'button', class: 'button quiet', disabled: true }, icon(ICONS.save), h('span', {}, t('export')));
  readonly dock: HTMLElement;
  readonly main = h('main', { class: 'layout', id: 'main' });
  private readonly panes = h('nav', { class: 'panes', 'aria-label': t('partsOfThePage') });
  private readonly expandButton = h('button', { type: 'button', class: 'button quiet', onclick: () => this.stretch(this.main.dataset.dock === 'full' ? 'split' : 'full') });

  private readonly placeButton = h('button', { type: 'button', class: 'button quiet only-icon place-button', onclick: () => this.putAnswer(this.main.dataset.place === 'map' ? 'query' : 'map', true) });

  /** `stale` says why an answer is not that of the query; `resized` is told when the map has another size; `canMoveRows`
   * is whether the rows may be below the query. */
  constructor(private readonly tabs: Tabs, stale: HTMLElement, private readonly resized: () => void, canMoveRows = true) {
    this.dock = h('section', { class: 'dock', 'aria-label': t('answer') }, h('div', { class: 'dock-head' }, tabs.list, this.tally, stale, h('span', { class: 'grow' }), this.exportButton, this.placeButton, this.expandButton), tabs.panels);
    this.putAnswer(!canMoveRows || setting('place') === 'map' ? 'map' : 'query', false);
    this.placeButton.hidden = !canMoveRows;
    this.stretch('none');
  }

  /** Puts the parts into the page, below the bar. */
  place(bar: HTMLElement, mapTools: HTMLElement, card: HTMLElement): void {
    const right = h('div', { class: 'right' });
    right.append(
      h('section', { class: 'map-pane', 'aria-label': t('map') }, this.mapElement, mapTools, this.legend),
      separator(right, '--map', t('heightOfTheMap'), false, 62, this.resized),
      this.dock,
      card,
    );
    this.main.append(h('div', { class: 'left' }, this.query, this.entity), separator(this.main, '--left', t('widthOfTheQuery'), true, 38, this.resized), right);
    this.main.dataset.pane = 'query';
    this.main.dataset.dock = 'none';
    for (const [pane, label] of [['query', t('query')], ['map', t('map')], ['answer', t('answer')]] as const) {
      this.panes.append(h('button', { type: 'button', 'data-pane': pane, 'aria-pressed': String(pane === 'query'), onclick: () => this.pane(pane) }, label));
    }
    document.body.append(bar, ...[notice()].filter((one) => one !== null), this.main, this.panes, h('div', { id: 'live', class: 'unseen', 'aria-live': 'polite' }));
    new ResizeObserver(this.resized).observe(this.mapElement);
  }

  /** How much of the page the answer's rows take. */
  stretch(how: 'none' | 'split' | 'full'): void {
    this.main.dataset.dock = how;
    const full = how === 'full';
    this.expandButton.replaceChildren(icon(full ? ICONS.down : ICONS.up));
    this.expandButton.setAttribute('aria-label', full ? t('showTheMapToo') : t('rowsOnly'));
    this.expandButton.title = full ? t('showTheMapToo') : t('rowsOnly');
    this.resized();
  }

  /** Puts the answer's rows below the map or below the query, where the page is wide enough to choose. */
  private putAnswer(below: 'map' | 'query', keep: boolean): void {
    this.main.dataset.place = below;
    const title = below === 'map' ? t('rowsBelowTheQuery') : t('rowsBelowTheMap');
    this.placeButton.replaceChildren(icon(below === 'map' ? ICONS.toLeft : ICONS.toBottom));
    this.placeButton.setAttribute('aria-label', title);
    this.placeButton.title = title;
    if (keep) setSetting('place', below);
    this.resized();
  }

  /** Shows the map on the whole screen, or as a part of the page again. */
  async fullScreen(): Promise<void> {
    const pane = this.mapElement.parentElement;
    await (document.fullscreenElement ? document.exitFullscreen() : pane?.requestFullscreen())?.catch(() => undefined);
    this.resized();
  }

  /** Shows a part where one is seen at a time. */
  pane(name: string): void {
    this.main.dataset.pane = name;
    for (const button of this.panes.children) button.setAttribute('aria-pressed', String((button as HTMLElement).dataset.pane === name));
    this.resized();
  }

  focusMap(): void {
    this.mapElement.querySelector<HTMLElement>('canvas')?.focus();
  }

  /** Goes to the next part that is there: the query or what is in its place, the map, the answer. */
  onward(step: number, focusQuery: () => void): void {
    const parts: [pane: string, host: HTMLElement, focus: () => void][] = [
      ['query', this.query.hidden ? this.entity : this.query, () => (this.query.hidden ? this.entity.querySelector<HTMLElement>('h2')?.focus() : focusQuery())],
      ['map', this.mapElement, () => this.focusMap()],
      ['answer', this.dock, () => this.tabs.focus()],
    ];
    const at = parts.findIndex(([, host]) => host.contains(document.activeElement));
    for (let i = 1; i <= parts.length; i += 1) {
      const [pane = '', host, focus] = parts[(at + step * i + 2 * parts.length + (at < 0 && step < 0 ? 1 : 0)) % parts.length] ?? [];
      if (isNarrow()) this.pane(pane);
      if (!host?.checkVisibility({ visibilityProperty: true })) continue;
      focus?.();
      return;
    }
  }
}

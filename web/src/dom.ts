// Elements of the page, made without markup: nothing that is in the data is ever read as HTML.

import { arrowKeys } from './keys';
import { numberText } from './text/formats';
import { formatNumber, measure, t } from './text/lookup';

type Child = Node | string | null | undefined | false;
type Attributes = Record<string, unknown>;

/** An element with attributes (`on...` are listeners, `class` its classes) and children. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: (Child | Child[])[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value as EventListener);
    else if (value === true) element.setAttribute(name, '');
    else element.setAttribute(name, String(value));
  }
  for (const child of children.flat()) if (child !== null && child !== undefined && child !== false) element.append(child);
  return element;
}

/** An element of a drawing. Children that are many are given as a list: arguments are limited. */
export function svg<K extends keyof SVGElementTagNameMap>(tag: K, attributes: Record<string, string | number>, ...children: (Node | string | Node[])[]): SVGElementTagNameMap[K] {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  for (const child of children.flat()) element.append(child);
  return element;
}

/** An icon of a set of our own: strokes in a box of 16. Those that point to a side turn with the direction of the language. */
export const icon = (paths: string): SVGSVGElement => svg('svg', { viewBox: '0 0 16 16', width: 16, height: 16, 'aria-hidden': 'true', class: paths === ICONS.back || paths === ICONS.next || paths === ICONS.toLeft ? 'icon turns' : 'icon' }, svg('path', { d: paths }));

export const ICONS = {
  run: 'M4.5 2.8v10.4L13 8Z',
  stop: 'M4 4h8v8H4Z',
  book: 'M8 3.6C6.6 2.6 4.4 2.4 2 2.8v9.6c2.4-.4 4.6-.2 6 .8 1.4-1 3.6-1.2 6-.8V2.8c-2.4-.4-4.6-.2-6 .8Zm0 0v9.6',
  clock: 'M8 4.5V8l2.4 1.6M14 8A6 6 0 1 1 2 8a6 6 0 0 1 12 0Z',
  link: 'M6.7 9.3a2.7 2.7 0 0 0 3.9 0l2.3-2.3A2.75 2.75 0 0 0 9 3.1l-.9.9M9.3 6.7a2.7 2.7 0 0 0-3.9 0L3.1 9A2.75 2.75 0 0 0 7 12.9l.9-.9',
  save: 'M8 2.5v7.2M5 7l3 3 3-3M2.8 11v2.5h10.4V11',
  theme: 'M8 2a6 6 0 1 0 0 12Zm0 0a6 6 0 0 1 0 12',
  close: 'm4 4 8 8m0-8-8 8',
  search: 'M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10Zm3.6-1.4L14 14',
  back: 'M9.5 3.5 5 8l4.5 4.5',
  next: 'M6.5 3.5 11 8l-4.5 4.5',
  star: 'M8 2.2 9.8 6l4.1.5-3 2.8.8 4L8 11.4l-3.7 1.9.8-4-3-2.8L6.2 6Z',
  target: 'M8 1.5v3m0 7v3M1.5 8h3m7 0h3M8 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6Z',
  up: 'm4 10 4-4 4 4',
  down: 'm4 6 4 4 4-4',
  help: 'M6 6.2A2 2 0 1 1 8.6 8c-.4.2-.6.5-.6 1v.4m0 2.1v.1M14 8A6 6 0 1 1 2 8a6 6 0 0 1 12 0Z',
  format: 'M2.5 4h11M2.5 8h7M2.5 12h9',
  toLeft: 'M2.5 3h11v10h-11ZM7 3v10M2.5 7.5H7',
  toBottom: 'M2.5 3h11v10h-11ZM2.5 8.5h11',
  screen: 'M3 6V3h3m4 0h3v3m0 4v3h-3m-4 0H3v-3',
} as const;

/** A number as people read it: 12,345. */
export const count = formatNumber;

/** Rows as people count them. */
export const rows = (number: number): string => t('nRows', { n: number });

/** Bytes as people read them. */
export function size(bytes: number): string {
  if (bytes < 1000) return measure(`${count(bytes)} B`);
  const units = ['kB', 'MB', 'GB'];
  let value = bytes / 1000;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return measure(`${numberText(value, value < 10 ? 'digits1' : 'digits0')} ${units[unit]}`);
}

/** Milliseconds as people read them. */
export const duration = (ms: number): string => measure(ms < 1000 ? `${count(Math.max(1, Math.round(ms)))} ms` : `${numberText(ms / 1000, ms < 10_000 ? 'digits2' : 'digits1')} s`);

/** Returns a function that runs `act` in the next frame, once however often it is called before. */
export function oncePerFrame(act: () => void): () => void {
  let isWaiting = false;
  return () => {
    if (isWaiting) return;
    isWaiting = true;
    requestAnimationFrame(() => {
      isWaiting = false;
      act();
    });
  };
}

/** Says something to who does not see the page. */
export function announce(text: string): void {
  const region = document.getElementById('live');
  if (region) region.textContent = text;
}

/** Milliseconds after which browsers have read a blob that they save. */
const READ = 60_000;

/** Saves a blob, also one that an address of this page leads to, under a name. */
export function save(blob: Blob | string, name: string): void {
  const url = typeof blob === 'string' ? blob : URL.createObjectURL(blob);
  const link = h('a', { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), READ);
}

/** Returns the buttons and links of a menu that can be reached. */
export const menuItems = (menu: HTMLElement): HTMLElement[] => reachable(menu, 'button, a');

const reachable = (host: HTMLElement, selector: string): HTMLElement[] => [...host.querySelectorAll<HTMLElement>(selector)].filter((one) => !one.matches(':disabled') && one.checkVisibility());

/** A menu or a panel beside a button, closed by Escape, a click elsewhere or a choice. */
export function popover(button: HTMLElement, content: HTMLElement): void {
  content.setAttribute('popover', 'auto');
  content.classList.add('popover');
  content.tabIndex = -1;
  if (!content.isConnected) document.body.append(content);
  button.setAttribute('aria-expanded', 'false');
  button.addEventListener('click', () => content.togglePopover());
  content.addEventListener('toggle', (event) => {
    const open = (event as ToggleEvent).newState === 'open';
    button.setAttribute('aria-expanded', String(open));
    if (!open) {
      if (content.contains(document.activeElement) || document.activeElement === document.body) button.focus();
      return;
    }
    const at = button.getBoundingClientRect();
    const width = content.offsetWidth;
    const height = content.offsetHeight;
    content.style.left = `${Math.max(8, Math.min(at.left, innerWidth - width - 8))}px`;
    const below = at.bottom + 4;
    content.style.top = `${below + height > innerHeight - 8 ? Math.max(8, at.top - height - 4) : below}px`;
    // A panel of texts alone has the focus itself.
    (reachable(content, '[autofocus]')[0] ?? reachable(content, 'button, a, input, select')[0] ?? content).focus();
  });
  arrowKeys(content, () => menuItems(content));
}

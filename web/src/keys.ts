// Arrow keys in menus, lists of tabs and groups of choices.

import { sideKeys } from './text/lookup';

/** Where elements lie: below each other, next to each other, or either. */
export type Axis = 'vertical' | 'sides' | 'both';

/** Fields that use the arrow keys themselves. */
const OWN = 'select, textarea, input:is([type=number], [type=range], [type=radio], [type=color])';

/**
 * Returns the place that a key leads to from place `at` (-1: none) among `length` elements; `undefined` for other keys. After the
 * last comes the first. Next to each other, elements are in the direction of the language, and Home and End lead to the outer ones.
 */
export function placeAfter(key: string, at: number, length: number, axis: Axis): number | undefined {
  if (!length) return undefined;
  const [before, after] = sideKeys();
  if (axis !== 'vertical' && (key === 'Home' || key === 'End')) return key === 'Home' ? 0 : length - 1;
  if ((axis !== 'sides' && key === 'ArrowDown') || (axis !== 'vertical' && key === after)) return (at + 1) % length;
  if ((axis !== 'sides' && key === 'ArrowUp') || (axis !== 'vertical' && key === before)) return (Math.max(at, 0) + length - 1) % length;
  return undefined;
}

/** Whether a key is Escape, and no open menu, panel or dialog is closed by it. */
export const isFreeEscape = (event: KeyboardEvent): boolean => event.key === 'Escape' && !event.defaultPrevented && !document.querySelector(':popover-open, dialog[open]');

/** Lets arrow keys move the focus among the elements that `all` returns. `reached` is called with each before it has the focus. */
export function arrowKeys(host: HTMLElement, all: () => HTMLElement[], axis: Axis = 'vertical', reached: (element: HTMLElement) => void = () => undefined): void {
  host.addEventListener('keydown', (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || (event.target as Element).matches(OWN)) return;
    const elements = all();
    const next = elements[placeAfter(event.key, elements.indexOf(document.activeElement as HTMLElement), elements.length, axis) ?? -1];
    if (!next) return;
    event.preventDefault();
    reached(next);
    next.focus();
  });
}

// Borders between two parts that are moved with the mouse or with arrow keys.

import { h } from './dom';
import { isRtl, sideKeys } from './text/lookup';
import { setSetting, setting } from './history';

/** A border that sets a property of `host` to the share of the part before it, in percent. */
export function separator(host: HTMLElement, property: string, label: string, upright: boolean, first: number, moved: () => void): HTMLElement {
  let share = Number(setting(property) ?? first) || first;
  const element = h('div', {
    class: `separator ${upright ? 'upright' : 'level'}`,
    role: 'separator',
    tabindex: '0',
    'aria-label': label,
    'aria-orientation': upright ? 'vertical' : 'horizontal',
    'aria-valuemin': '15',
    'aria-valuemax': '85',
  });
  const set = (value: number, keep: boolean) => {
    share = Math.max(15, Math.min(85, value));
    host.style.setProperty(property, `${share}%`);
    element.setAttribute('aria-valuenow', String(Math.round(share)));
    if (keep) setSetting(property, String(share));
    moved();
  };
  element.addEventListener('pointerdown', (down) => {
    element.setPointerCapture(down.pointerId);
    const box = host.getBoundingClientRect();
    const move = (event: PointerEvent) => set(upright ? (100 * (isRtl() ? box.right - event.clientX : event.clientX - box.left)) / box.width : (100 * (event.clientY - box.top)) / box.height, false);
    const up = () => {
      element.removeEventListener('pointermove', move);
      set(share, true);
    };
    element.addEventListener('pointermove', move);
    element.addEventListener('pointerup', up, { once: true });
    down.preventDefault();
  });
  element.addEventListener('keydown', (event) => {
    const [less, more] = upright ? sideKeys() : ['ArrowUp', 'ArrowDown'];
    const step = event.key === less ? -3 : event.key === more ? 3 : 0;
    if (!step) return;
    event.preventDefault();
    set(share + step, true);
  });
  set(share, false);
  return element;
}

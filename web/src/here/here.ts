// What is here: a menu at a place of the map, by the right mouse button or the menu key, with the coordinates, the elements
// around and the areas that contain the place.

import './here.css';
import { copyText } from '../clipboard';
import { announce, h, menuItems } from '../dom';
import { arrowKeys } from '../keys';
import { overpass } from '../service';
import { t } from '../text/lookup';

interface Found {
  type: string;
  id: number;
  tags?: Record<string, string>;
}

export interface HereWiring {
  /** Latitude and longitude at a pixel of the map, and metres of a pixel there. */
  place: (x: number, y: number) => { lat: number; lon: number; metres: number };
  go: (href: string) => void;
}

/** Most elements around that are listed, and areas. */
const NEAR = 12;
const AREAS = 8;
/** Pixels around the place that are searched. */
const REACH = 14;
/** Pixels by which the panel reaches over the place: a button that is released outside of it closes it. */
const INSIDE = 8;
/** Keys that say what an element is, in this order. */
const KINDS = ['amenity', 'shop', 'tourism', 'leisure', 'historic', 'building', 'highway', 'railway', 'waterway', 'natural', 'landuse', 'place', 'boundary', 'man_made', 'public_transport', 'route', 'barrier', 'power'];

export function whatIsHere(map: HTMLElement, wiring: HereWiring): void {
  const panel = h('div', { class: 'popover here', popover: 'auto', role: 'dialog', 'aria-label': t('whatIsHere') });
  document.body.append(panel);
  let control = new AbortController();
  const open = async (x: number, y: number) => {
    control.abort();
    control = new AbortController();
    const { signal } = control;
    const box = map.getBoundingClientRect();
    const { lat, lon, metres } = wiring.place(x, y);
    const position = `${lat.toFixed(5)}, ${lon.toFixed(5)}`;
    const copy = h('button', { type: 'button', class: 'item', onclick: () => void copyText(position).then((isCopied) => announce(t(isCopied ? 'copied' : 'theBrowserDoesNotAllowIt'))) }, h('span', {}, position), h('span', { class: 'count' }, t('copy')));
    const near = h('div', {}, h('p', { class: 'muted pad' }, t('looking')));
    panel.replaceChildren(copy, near);
    panel.hidePopover();
    panel.style.left = `${Math.max(8, Math.min(box.left + x - INSIDE, innerWidth - 320))}px`;
    panel.style.top = `${Math.max(8, Math.min(box.top + y - INSIDE, innerHeight - 340))}px`;
    panel.showPopover();
    copy.focus();
    const radius = Math.max(1, Math.round(REACH * metres));
    const at = `${lat.toFixed(7)},${lon.toFixed(7)}`;
    const line = ({ type, id, tags = {} }: Found, href: string) => h('li', {}, h('a', { class: 'item', href, onclick: (event: Event) => (event.preventDefault(), panel.hidePopover(), wiring.go(href)) }, h('span', {}, tags.name ?? `${type} ${id}`), h('span', { class: 'count' }, kind(tags))));
    try {
      const [around, areas] = await Promise.all([
        overpass<Found>(`[out:json][timeout:10];nwr(around:${radius},${at})(if:count_tags()>0);out tags ${NEAR * 4};`, signal),
        overpass<Found>(`[out:json][timeout:10];is_in(${at});out tags 60;`, signal),
      ]);
      const seen = around.elements.sort((a, b) => Number(!a.tags?.name) - Number(!b.tags?.name)).slice(0, NEAR);
      const within = areas.elements.map((area) => ({ area, href: hrefOfArea(area) })).filter((one): one is { area: Found; href: string } => one.href !== null && one.area.tags?.name !== undefined).slice(0, AREAS);
      near.replaceChildren(
        h('h2', {}, t('withinM', { radius })),
        seen.length ? h('ul', {}, seen.map((one) => line(one, `/${one.type}/${one.id}`))) : h('p', { class: 'muted pad' }, t('noElementWithTags')),
        ...(within.length ? [h('h2', {}, t('inTheAreas')), h('ul', {}, within.map(({ area, href }) => line(area, href)))] : []),
      );
      announce(t('elementsWithinMetres', { n: seen.length, radius }));
    } catch (problem) {
      if (!signal.aborted) near.replaceChildren(h('p', { class: 'muted pad' }, (problem as Error).message));
    }
  };
  panel.addEventListener('toggle', (event) => {
    if ((event as ToggleEvent).newState !== 'closed') return;
    control.abort();
    if (panel.contains(document.activeElement) || document.activeElement === document.body) map.querySelector('canvas')?.focus();
  });
  arrowKeys(panel, () => menuItems(panel));
  map.addEventListener('contextmenu', (event) => {
    event.preventDefault();
    const box = map.getBoundingClientRect();
    // The menu key has no place of its own: the middle of the map is meant.
    const isKey = event.button !== 2 || (event.clientX === 0 && event.clientY === 0);
    const [x, y] = isKey && event.pointerType !== 'touch' ? [box.width / 2, box.height / 2] : [event.clientX - box.left, event.clientY - box.top];
    void open(x, y);
  });
}

/** What an element is, by its tags. */
function kind(tags: Record<string, string>): string {
  const key = KINDS.find((one) => tags[one] !== undefined) ?? Object.keys(tags).find((one) => one !== 'name');
  return key === undefined ? '' : `${key}=${tags[key]}`;
}

/** The page of the relation or way that an area is made of. */
function hrefOfArea({ type, id }: Found): string | null {
  if (type !== 'area') return `/${type}/${id}`;
  if (id >= 3_600_000_000) return `/relation/${id - 3_600_000_000}`;
  return id >= 2_400_000_000 ? `/way/${id - 2_400_000_000}` : null;
}

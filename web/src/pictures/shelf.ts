// Pictures and paper in the menu "Export".

import { h, save } from '../dom';
import type { AnswerMap } from '../map/map';
import { TEXTS } from './texts';

export interface PicturesWiring {
  map: () => AnswerMap | null;
  /** Where the legend of the map is. */
  legend: HTMLElement;
  print: () => Promise<void>;
  failed: (problem: string) => void;
  /** Shows what a picture leaves out; nothing if it has all. */
  note: (text: string) => void;
}

/** Returns the items of the menu; `close` closes it. */
export function pictureItems({ map, legend, print, failed, note: tell }: PicturesWiring, close: () => void): HTMLElement[] {
  const item = (label: string, note: string, act: () => Promise<void>) => {
    const press = () => {
      close();
      act().catch((problem: Error) => failed(`${TEXTS.failed} ${problem.message}`));
    };
    return h('button', { type: 'button', class: 'item', onclick: press }, h('span', {}, label), h('span', { class: 'count' }, note));
  };
  const picture = (make: (shown: AnswerMap) => Promise<void>) => async () => {
    const shown = map();
    if (!shown) throw new Error('');
    await make(shown);
  };
  return [
    item(TEXTS.mapPng, TEXTS.mapPngNote, picture(async (shown) => {
      const [{ copied }, { mapPng }, { legendOf }] = await Promise.all([import('./canvas'), import('./map'), import('./legend')]);
      const copy = await shown.drawn(copied);
      save(await mapPng(copy, devicePixelRatio || 1, legendOf(legend)), 'terrapin-map.png');
    })),
    item(TEXTS.mapSvg, TEXTS.mapSvgNote, picture(async (shown) => {
      const [{ mapSvg }, { legendOf }] = await Promise.all([import('./map'), import('./legend')]);
      const { text, note } = await shown.drawn((inner) => mapSvg(inner, legendOf(legend)));
      tell(note);
      save(new Blob([text], { type: 'image/svg+xml' }), 'terrapin-map.svg');
    })),
    item(TEXTS.print, TEXTS.printNote, print),
  ];
}

// Buttons that save a drawing as SVG and as PNG.

import { announce, h, save } from '../dom';
import { TEXTS } from './texts';

/** Returns the buttons for the drawing that is shown when they are pressed. */
export function pictureButtons(drawing: () => SVGSVGElement | null): HTMLElement {
  const button = (label: string, name: string, act: (drawing: SVGSVGElement) => Promise<void>) => {
    const press = async () => {
      const shown = drawing();
      if (shown) await act(shown).catch(() => announce(TEXTS.failed));
    };
    return h('button', { type: 'button', class: 'button quiet small', 'aria-label': name, title: name, onclick: () => void press() }, label);
  };
  return h(
    'div',
    { class: 'picture-buttons' },
    button(TEXTS.svg, TEXTS.saveSvg, async (shown) => {
      const { svgText } = await import('./chart');
      save(new Blob([svgText(shown, TEXTS.attribution)], { type: 'image/svg+xml' }), 'terrapin-chart.svg');
    }),
    button(TEXTS.png, TEXTS.savePng, async (shown) => {
      const { pngOf, svgText } = await import('./chart');
      save(await pngOf(svgText(shown, TEXTS.attribution)), 'terrapin-chart.png');
    }),
  );
}

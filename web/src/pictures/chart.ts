// A chart as a file: SVG with the colours of the page and the attribution, or that as PNG.

import { svg } from '../dom';
import { TEXTS } from './texts';

const FOOT = 22;
/** Pixels of PNG for each of the page. */
const RATIO = 2;

/** Returns the SVG of a drawing as a text that needs nothing of the page. */
export function svgText(drawing: SVGSVGElement, attribution: string): string {
  const copy = drawing.cloneNode(true) as SVGSVGElement;
  const [width, height] = [Number(drawing.getAttribute('width')), Number(drawing.getAttribute('height'))];
  const named = { xmlns: 'http://www.w3.org/2000/svg', width, height: height + FOOT, viewBox: `0 0 ${width} ${height + FOOT}` };
  for (const [name, value] of Object.entries(named)) copy.setAttribute(name, String(value));
  for (const mark of copy.querySelectorAll('[data-index]')) mark.removeAttribute('data-index');
  const title = copy.querySelector('title');
  const background = svg('rect', { width, height: height + FOOT, fill: 'var(--field)' });
  copy.insertBefore(background, title?.nextElementSibling?.nextSibling ?? copy.firstChild);
  copy.append(svg('text', { x: 8, y: height + 14, fill: 'var(--muted)' }, attribution));
  const colours = getComputedStyle(document.documentElement);
  return new XMLSerializer().serializeToString(copy).replace(/var\((--\w+)\)/g, (_, name: string) => colours.getPropertyValue(name).trim());
}

/** Draws the text of an SVG as PNG. */
export async function pngOf(text: string): Promise<Blob> {
  const url = URL.createObjectURL(new Blob([text], { type: 'image/svg+xml' }));
  try {
    const image = new Image();
    image.src = url;
    await image.decode();
    const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [image.naturalWidth * RATIO, image.naturalHeight * RATIO];
    const context = canvas.getContext('2d');
    context?.drawImage(image, 0, 0, canvas.width, canvas.height);
    return await blobOf(canvas);
  } finally {
    URL.revokeObjectURL(url);
  }
}

export const blobOf = (canvas: HTMLCanvasElement): Promise<Blob> => new Promise((resolve, reject) => canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error(TEXTS.failed))), 'image/png'));

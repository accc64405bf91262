// A chart as a file: SVG with the colours of the page and the attribution, or that as PNG.

import { svg } from '../dom';
import { footOf, measureInAnyFont } from './foot';
import { TEXTS } from './texts';

/** Pixels of PNG for each of the page, unless the picture would have more than browsers draw. */
const RATIO = 2;
const SIDE = 16_000;
const PIXELS = 64e6;

/** Returns the SVG of a drawing as a text that needs nothing of the page, with what it leaves out and the attribution below. */
export function svgText(drawing: SVGSVGElement, attribution: string): string {
  const copy = drawing.cloneNode(true) as SVGSVGElement;
  const [width, height] = [Number(drawing.getAttribute('width')), Number(drawing.getAttribute('height'))];
  const foot = footOf([drawing.dataset.note ?? '', attribution], width, measureInAnyFont());
  const whole = height + foot.height;
  const named = { xmlns: 'http://www.w3.org/2000/svg', width, height: whole, viewBox: `0 0 ${width} ${whole}` };
  for (const [name, value] of Object.entries(named)) copy.setAttribute(name, String(value));
  copy.removeAttribute('data-note');
  for (const mark of copy.querySelectorAll('[data-index]')) mark.removeAttribute('data-index');
  const title = copy.querySelector('title');
  const background = svg('rect', { width, height: whole, fill: 'var(--field)' });
  copy.insertBefore(background, title?.nextElementSibling?.nextSibling ?? copy.firstChild);
  copy.append(...foot.lines.map(({ text, x, y }) => svg('text', { x, y: height + y, fill: 'var(--muted)' }, text)));
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
    const ratio = ratioOf(image.naturalWidth, image.naturalHeight);
    [canvas.width, canvas.height] = [Math.round(image.naturalWidth * ratio), Math.round(image.naturalHeight * ratio)];
    const context = canvas.getContext('2d');
    context?.drawImage(image, 0, 0, canvas.width, canvas.height);
    return await blobOf(canvas);
  } finally {
    URL.revokeObjectURL(url);
  }
}

/** Returns the pixels of PNG for each of a drawing of this size. */
export const ratioOf = (width: number, height: number): number => Math.min(RATIO, SIDE / Math.max(width, height), Math.sqrt(PIXELS / (width * height)));

export const blobOf = (canvas: HTMLCanvasElement): Promise<Blob> => new Promise((resolve, reject) => canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error(TEXTS.failed))), 'image/png'));

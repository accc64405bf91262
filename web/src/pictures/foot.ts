// The lines below a picture: what it leaves out, and the attribution, which is never cut off.

export const FONT = '"IBM Plex Sans", system-ui, sans-serif';
export const FONT_SIZE = 11;
const LINE = 14;
const MARGIN = 8;

/** Returns the width of a text in pixels. */
export type Measure = (text: string) => number;

/** Pixels of a letter on an average in wide fonts. */
const WIDE = 0.6 * FONT_SIZE;

/** Returns a measure of texts in the font of pictures. */
export function measure(): Measure {
  const context = document.createElement('canvas').getContext('2d');
  if (!context) return (text) => WIDE * text.length;
  context.font = `${FONT_SIZE}px ${FONT}`;
  return (text) => context.measureText(text).width;
}

/** Returns a measure for files of SVG: they are shown in a font of the reader's machine, which may be wider. */
export function measureInAnyFont(): Measure {
  const own = measure();
  return (text) => Math.max(own(text), WIDE * text.length);
}

export interface Foot {
  lines: { text: string; x: number; y: number }[];
  height: number;
}

/** Returns the lines of some texts below a picture of this width. `y` is the base line, from the end of the picture. */
export function footOf(texts: string[], width: number, measured: Measure): Foot {
  const lines = texts.flatMap((text) => wrapped(text, width - 2 * MARGIN, measured)).map((text, i) => ({ text, x: MARGIN, y: (i + 1) * LINE }));
  return { lines, height: lines.length * LINE + MARGIN };
}

/** Cuts a text into lines of at most `width` pixels, at spaces where that is possible. */
export function wrapped(text: string, width: number, measured: Measure): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/\s+/).filter(Boolean)) {
    const longer = line ? `${line} ${word}` : word;
    if (measured(longer) <= width) {
      line = longer;
      continue;
    }
    if (line) lines.push(line);
    line = '';
    for (const letter of word) {
      if (line && measured(line + letter) > width) {
        lines.push(line);
        line = '';
      }
      line += letter;
    }
  }
  return line ? [...lines, line] : lines;
}

/** Shortens a text to a width. */
export function shortened(text: string, width: number, measured: Measure): string {
  if (measured(text) <= width) return text;
  const letters = [...text];
  let [low, high] = [0, letters.length];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (measured(`${letters.slice(0, middle).join('')}…`) <= width) low = middle;
    else high = middle - 1;
  }
  return `${letters.slice(0, low).join('')}…`;
}

// Colours for values: palettes that people with a colour vision deficiency can tell apart, as published.
//
// - Okabe and Ito: Color Universal Design (2008), https://jfly.uni-koeln.de/color/; black is left out, and yellow is last.
// - Bright and muted: Paul Tol, Colour Schemes (SRON/EPS/TN/09-002, 2021), https://sronpersonalpages.nl/~pault/.
// - Viridis (CC0): Stefan van der Walt and Nathaniel Smith (2015); cividis: Nuñez, Anderton and Renslow (2018),
//   https://doi.org/10.1371/journal.pone.0199239. Both at 0, 1/8, ... 1.
// - YlGnBu, PuRd, PuOr: Cynthia Brewer, https://colorbrewer2.org/, those marked as safe there.

export interface PaletteOfValues {
  id: string;
  title: string;
  /** `categories` for names, `steps` for numbers from low to high. */
  kind: 'categories' | 'steps';
  colours: string[];
}

export const PALETTES: PaletteOfValues[] = [
  { id: 'okabe-ito', title: 'Okabe–Ito', kind: 'categories', colours: ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#56b4e9', '#e69f00', '#f0e442'] },
  { id: 'tol-bright', title: 'Tol, bright', kind: 'categories', colours: ['#4477aa', '#ee6677', '#228833', '#ccbb44', '#66ccee', '#aa3377'] },
  { id: 'tol-muted', title: 'Tol, muted', kind: 'categories', colours: ['#332288', '#cc6677', '#117733', '#ddcc77', '#88ccee', '#882255', '#44aa99', '#999933', '#aa4499'] },
  { id: 'viridis', title: 'Viridis', kind: 'steps', colours: ['#440154', '#472d7b', '#3b528b', '#2c728e', '#21918c', '#28ae80', '#5ec962', '#addc30', '#fde725'] },
  { id: 'cividis', title: 'Cividis', kind: 'steps', colours: ['#00224e', '#1a386f', '#434e6c', '#61656f', '#7d7c78', '#9b9476', '#bcaf6f', '#dfcc5d', '#fee838'] },
  { id: 'ylgnbu', title: 'ColorBrewer YlGnBu', kind: 'steps', colours: ['#c7e9b4', '#7fcdbb', '#41b6c4', '#1d91c0', '#225ea8', '#253494', '#081d58'] },
  { id: 'purd', title: 'ColorBrewer PuRd', kind: 'steps', colours: ['#d4b9da', '#c994c7', '#df65b0', '#e7298a', '#ce1256', '#980043', '#67001f'] },
  { id: 'puor', title: 'ColorBrewer PuOr', kind: 'steps', colours: ['#b35806', '#e08214', '#fdb863', '#d8daeb', '#b2abd2', '#8073ac', '#542788'] },
];

/** Of values without a colour of their own. */
export const OTHER = '#868d8a';

/** Returns the palette with this name, or the first of the kind. */
export function paletteNamed(id: string | undefined, kind: PaletteOfValues['kind']): PaletteOfValues {
  const own = PALETTES.filter((one) => one.kind === kind);
  const found = own.find((one) => one.id === id) ?? own[0];
  if (!found) throw new Error(kind);
  return found;
}

/** Returns `number` colours of a palette of steps, evenly from its first to its last. */
export function stepsOf({ colours }: PaletteOfValues, number: number): string[] {
  return Array.from({ length: number }, (_, i) => colours[number === 1 ? colours.length >> 1 : Math.round((i * (colours.length - 1)) / (number - 1))] ?? OTHER);
}

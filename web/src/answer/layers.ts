// Colours that rows name, as on the map of the Wikidata Query Service: `?rgb` is one itself, and each value of `?layer` (or of
// `?layerLabel`) has one of its own.

import type { Layer } from './model';
import type { Read } from './table';

/** Paul Tol's muted scheme, and three more, to be told from each other with a colour vision deficiency as well. */
const COLOURS = ['#cc6677', '#332288', '#ddcc77', '#117733', '#88ccee', '#882255', '#44aa99', '#999933', '#aa4499', '#e69f00', '#222222', '#4477aa'];

/** What is left when these are used up. */
const OTHERS = '#868d8a';

/** Layers that have a colour of their own. */
export const MOST = COLOURS.length;

/** The colour of each row that has one, and the layers, the largest first. */
export function layers(found: Read): { colours: (string | undefined)[]; layers: Layer[] } {
  const column = (name: string) => found.columns.indexOf(name);
  const [rgb, layer] = [column('rgb'), column('layerLabel') < 0 ? column('layer') : column('layerLabel')];
  if (found.kind !== 'solutions' || (rgb < 0 && layer < 0)) return { colours: [], layers: [] };
  const text = (row: Read['rows'][number], at: number) => (at < 0 ? '' : row.cell(at, found.columns).text);
  const sizes = new Map<string, number>();
  for (const row of found.rows) {
    const name = text(row, layer);
    if (name) sizes.set(name, (sizes.get(name) ?? 0) + 1);
  }
  const all = [...sizes].sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1)).map(([name, rows], i): Layer => ({ key: '', name, rows, colour: COLOURS[i] ?? OTHERS }));
  const colourOf = new Map(all.map(({ name, colour }) => [name, colour]));
  const colours = found.rows.map((row) => {
    const own = /^#?([0-9a-f]{6}|[0-9a-f]{3})$/i.exec(text(row, rgb))?.[1];
    return own ? `#${own}` : colourOf.get(text(row, layer));
  });
  return { colours, layers: all };
}

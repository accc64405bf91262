// Styles in the texts of queries: MapCSS in `{{style: ...}}` of OverpassQL, and the options of `#defaultView:Map{...}` in
// SPARQL, as the Wikidata Query Service has them.

import { PLAIN, type Look } from '../answer/look';
import { defaultView, defaultViewComment, withDefaultView } from '../default-view';
import type { Language } from '../link';
import { pieces } from '../shortcuts';
import { t } from '../text/lookup';
import { ROWS, mapcss, type Styling } from './styling';

/** What the Wikidata Query Service reads of these is `layer` and `markercluster`; it ignores the others. */
interface MapOptions {
  layer?: string | string[];
  markercluster?: boolean | string | object;
  colour?: string;
  palette?: string;
  size?: string;
  heat?: boolean;
}

/** Returns the style that a SPARQL query's comment names, or `null`. Throws if its options are not JSON. */
export function styleOfComment(text: string): Styling | null {
  const { view, options } = defaultView(text);
  if (view !== 'map' || !options) return null;
  let read: MapOptions;
  try {
    read = JSON.parse(options) as MapOptions;
  } catch (problem) {
    throw new Error(t('theOptionsAreNotJSON', { why: (problem as Error).message }));
  }
  const variable = (name: unknown): string => (typeof name === 'string' ? name.replace(/^[?$]/, '') : '');
  const layer = variable(Array.isArray(read.layer) ? read.layer[0] : read.layer);
  return {
    colour: layer || variable(read.colour),
    isNamed: layer !== '',
    palette: typeof read.palette === 'string' ? read.palette : '',
    size: variable(read.size),
    heat: read.heat === true,
    cluster: read.markercluster === undefined ? null : !['false', false].includes(read.markercluster as string | boolean),
  };
}

/** Returns the comment for a style. */
export function commentOf(styling: Styling): string {
  const { colour, isNamed, palette, size, heat, cluster } = styling;
  const options: MapOptions = {
    ...(colour && (isNamed ? { layer: `?${colour}` } : { colour: `?${colour}` })),
    ...((colour || heat) && palette && { palette }),
    ...(size && { size: `?${size}` }),
    ...(heat && { heat }),
    ...(cluster !== null && { markercluster: cluster }),
  };
  return defaultViewComment('Map', options);
}

/** Returns the text of a query with a style in it: MapCSS or JSON for OverpassQL, a comment for SPARQL. An empty style is removed. */
export function withStyle(text: string, language: Language, style: string): string {
  if (language === 'sparql') return withDefaultView(text, style);
  let rest = '';
  for (const { before, inner } of pieces(text)) rest += before + (inner === undefined || /^\s*style\s*:/.test(inner) ? '' : `{{${inner}}}`);
  rest = rest.trimEnd();
  return style ? `${rest}\n\n{{style:\n${style.replace(/^/gm, '  ')}\n}}\n` : `${rest}\n`;
}

/** Returns the look of a query's own style, and the palette of its heat map. */
export function lookOf(style: string): { look: Look; heat: string | null; json: string } {
  if (/^\s*[[{]/.test(style)) return { look: PLAIN, heat: null, json: style };
  const canvas = /(?:^|\})\s*canvas\s*\{([^}]*)\}/.exec(style)?.[1] ?? '';
  const set = (name: string) => new RegExp(`(?:^|;)\\s*-x-${name}\\s*:\\s*["']?([^;"']*?)["']?\\s*(?:;|$)`).exec(canvas)?.[1];
  const [heat, cluster] = [set('heat'), set('cluster')];
  const isHeat = heat !== undefined && heat !== 'no';
  return { look: { ...PLAIN, css: style, cluster: cluster === undefined ? null : cluster !== 'no', heat: isHeat ? (set('weight') ?? '') : null }, heat: isHeat ? heat : null, json: '' };
}

/**
 * Returns the look with which a query's answer is drawn at first. A heat map of `#defaultView:Map` needs no values of the answer;
 * colours and sizes do, and follow. `style` is that of `{{style: ...}}`.
 */
export function firstLook(language: Language, text: string, style: string): Look {
  if (language === 'overpassql') return lookOf(style).look;
  try {
    const styling = styleOfComment(text);
    return styling?.heat ? lookOf(mapcss(styling, null, null, ROWS)).look : PLAIN;
  } catch {
    return PLAIN;
  }
}

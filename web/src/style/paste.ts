// Layers of a MapLibre style that was pasted: those for the answer, in its source. Nothing of it is fetched: sources, sprites and
// glyphs of the style are left out.

import type { LayerSpecification } from 'maplibre-gl';
import { FONT } from '../map/fonts';
import { OWN } from '../map/overlay';
import { t } from '../text/lookup';

export interface PastedStyle {
  layers: LayerSpecification[];
  /** Tags that the layers read. */
  keys: string[];
}

const TYPES = ['fill', 'line', 'circle', 'symbol', 'heatmap'];
/** Operators whose first argument is a tag; of old filters such as `["==", "shop", "bakery"]` that is no expression as well. */
const READERS = new Set(['get', 'has', '!has', '==', '!=', '<', '<=', '>', '>=', 'in', '!in']);
const MOST_KEYS = 100;

/** Returns the layers of a style, or of a list of layers. Throws if there is none. */
export function pasted(json: string): PastedStyle {
  let read: unknown;
  try {
    read = JSON.parse(json);
  } catch (problem) {
    throw new Error(t('theStyleIsNotJSON', { why: (problem as Error).message }));
  }
  const list = Array.isArray(read) ? read : (read as { layers?: unknown } | null)?.layers;
  if (!Array.isArray(list)) throw new Error(t('theStyleHasNoLayersPaste'));
  const drawn = (list as Partial<LayerSpecification & Record<string, unknown>>[]).filter((layer) => TYPES.includes(String(layer?.type)));
  if (!drawn.length) throw new Error(t('noneOfTheLayersIsOf', { n: list.length, types: TYPES.join(', ') }));
  const keys = new Set<string>();
  const layers = drawn.flatMap((layer, i) => {
    collect([layer.filter, layer.paint, layer.layout], keys);
    const { type, filter, paint, layout, minzoom, maxzoom } = layer as Record<string, unknown> & { layout?: Record<string, unknown> };
    const isLine = /^line/.test(String(layout?.['symbol-placement'] ?? ''));
    // A text is at the points of what is no point as well.
    const parts = type === 'fill' || type === 'line' || isLine ? ['shapes'] : type === 'symbol' ? ['beads', 'points'] : ['points'];
    const texts = type === 'symbol' ? { ...layout, 'text-font': [FONT] } : layout;
    return parts.map((part) => {
      const own = { id: `${OWN}${i}-${part}`, type, source: 'answer', 'source-layer': part, minzoom, maxzoom, filter, paint, layout: texts };
      return Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined)) as unknown as LayerSpecification;
    });
  });
  if (keys.size > MOST_KEYS) throw new Error(t('theStyleReadsTagsAtMost', { n: keys.size, most: MOST_KEYS }));
  return { layers, keys: [...keys] };
}

/** Adds the tags in expressions and in texts such as `{name}`. */
function collect(part: unknown, keys: Set<string>): void {
  if (typeof part === 'string') for (const [, key = ''] of part.matchAll(/\{([^{}]+)\}/g)) keys.add(key);
  else if (Array.isArray(part)) {
    const [operator, key] = part as unknown[];
    if (READERS.has(String(operator)) && typeof key === 'string') keys.add(key);
    for (const one of part.slice(1)) collect(one, keys);
  } else if (typeof part === 'object' && part !== null) Object.values(part).forEach((one) => collect(one, keys));
}

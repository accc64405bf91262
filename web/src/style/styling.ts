// A style as it is chosen, and the MapCSS that draws it: one rule for each colour and each size. The rules are such that
// overpass-turbo reads them: it knows neither `*` nor `>=` nor quotes, and of two rules that match the later one counts.

import type { Profile } from '../answer/profile';
import { OTHER, paletteNamed, stepsOf } from './palettes';

export interface Styling {
  /** The column or tag of the colours; empty for one colour. */
  colour: string;
  /** Whether numbers are taken as names, each with a colour. */
  isNamed: boolean;
  palette: string;
  /** The column or tag of the sizes; empty for one size. On a heat map it is the weight. */
  size: string;
  heat: boolean;
  /** Whether close points are drawn as one; `null` if only where there are many. */
  cluster: boolean | null;
}

export const UNSTYLED: Styling = { colour: '', isNamed: false, palette: '', size: '', heat: false, cluster: null };

export const isPlain = ({ colour, size, heat, cluster }: Styling): boolean => !colour && !size && !heat && cluster === null;

/** Radii of points and widths of lines in pixels, from the smallest numbers to the largest. */
const RADII = [3, 4.5, 6.5, 9, 12.5];
const WIDTHS = [1.5, 2.5, 4, 6, 8.5];

/** Returns the kind of palette for a column. */
export const kindOf = (values: Profile | null, isNamed: boolean): 'categories' | 'steps' => (values?.quantiles && !isNamed ? 'steps' : 'categories');

/** Types of elements, and what all rows of other answers match. */
export const ELEMENTS = ['node', 'way', 'relation'];
export const ROWS = ['*'];

/** Returns the MapCSS of a style by the values of its two columns; `types` begin its selectors. */
export function mapcss(styling: Styling, colours: Profile | null, sizes: Profile | null, types: string[]): string {
  const rules: string[] = [];
  const rule = (condition: string, declarations: string) => `${types.map((type) => `${type}${condition}`).join(', ')} { ${declarations} }`;
  const canvas = [styling.heat && `-x-heat: ${paletteNamed(styling.palette, 'steps').id}`, styling.heat && styling.size && `-x-weight: ${quoted(styling.size)}`, styling.cluster !== null && `-x-cluster: ${styling.cluster ? 'yes' : 'no'}`].filter(Boolean);
  if (canvas.length) rules.push(`canvas { ${canvas.join('; ')}; }`);
  if (styling.colour && colours && !styling.heat) {
    rules.push(rule('', look(OTHER)), 'area { fill-opacity: 0.45; }', ...colourRules(styling, colours).map(([condition, colour]) => rule(condition, look(colour))));
  }
  if (styling.size && sizes?.quantiles && !styling.heat) {
    const all = ranges(sizes.column, sizes.quantiles);
    const of = (i: number, list: number[]) => list[all.length === 1 ? 2 : Math.round((i * (list.length - 1)) / (all.length - 1))];
    rules.push(...all.map((condition, i) => rule(condition, `symbol-size: ${of(i, RADII)}; width: ${of(i, WIDTHS)};`)).reverse());
  }
  return rules.join('\n');
}

const look = (colour: string): string => `color: ${colour}; fill-color: ${colour};`;

/** Conditions with their colours. */
function colourRules(styling: Styling, values: Profile): [condition: string, colour: string][] {
  const kind = kindOf(values, styling.isNamed);
  const palette = paletteNamed(styling.palette, kind);
  if (kind === 'categories') {
    return values.values.filter(([value]) => canBeWritten(value)).slice(0, palette.colours.length).map(([value], i) => [`[${name(values.column)}=${quoted(value)}]`, palette.colours[i] ?? OTHER]);
  }
  const all = ranges(values.column, values.quantiles ?? []);
  const colours = stepsOf(palette, all.length);
  return all.map((condition, i): [string, string] => [condition, colours[i] ?? OTHER]).reverse();
}

/** Conditions for at most five ranges of numbers, the lowest first: numbers below the end of each, and all for the last. */
function ranges(column: string, quantiles: number[]): string[] {
  const different = [...new Set(quantiles)];
  const ends = different.slice(1, different.length === quantiles.length ? -1 : undefined);
  return [...ends.map((end) => `[${name(column)}<${end}]`), `[${name(column)}>${(different[0] ?? 0) - 1}]`];
}

/** Whether a value can be written in MapCSS within a shortcut. */
const canBeWritten = (value: string): boolean => value.length < 120 && !/[\n\r]|\{\{|\}\}/.test(value) && !(value.includes('"') && value.includes("'"));

const name = (key: string): string => (/^[\w:@]+$/.test(key) ? key : quoted(key));

const quoted = (text: string): string => (/^[^\s~="'[\]][^"'[\]{};]*$/.test(text) && text === text.trim() ? text : text.includes('"') ? `'${text}'` : `"${text}"`);

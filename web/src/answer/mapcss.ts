// The common part of MapCSS, as `{{style: ...}}` has it: rules by type, tags, classes and whether a way is closed, with how
// lines, areas, points, symbols and texts look. What is not understood leaves its rule or its declaration out.

import { numberText } from '../text/formats';
import type { Tags } from './osm';

/** How an element is drawn; lengths are pixels. */
export interface Style {
  color?: string;
  width?: number;
  opacity?: number;
  /** A dash and the gap after it. */
  dashes?: [number, number];
  casing?: string;
  casingWidth?: number;
  fill?: string;
  fillOpacity?: number;
  radius?: number;
  stroke?: string;
  strokeWidth?: number;
  /** A symbol of Maki, by its name. */
  icon?: string;
  text?: string;
  textColor?: string;
  textSize?: number;
  /** What is higher is drawn above. */
  z?: number;
  /** The last rule that set a colour of its own: its place in `keys`. */
  rule?: number;
}

/** A rule with a colour, as a legend has it. */
export interface StyleKey {
  /** The key of its condition, if it has one and no other, and the value or range; else the whole selector. */
  key: string;
  name: string;
  colour: string;
}

export interface Stylesheet {
  style: (subject: Subject) => Style;
  keys: StyleKey[];
}

/** What is held against selectors. */
export interface Subject {
  type: string;
  isArea: boolean;
  isClosed: boolean;
  tags: Tags;
}

type Test = (subject: Subject, classes: Set<string>) => boolean;

interface Rule {
  head: string;
  /** The colour that it gives to all that it matches. */
  colour?: string;
  selectors: Test[];
  style: (tags: Tags, style: Style) => void;
  classes: string[];
}

/** A function from an element to how it is drawn, with its rules that have a colour; nothing where there is no rule in it. */
export function stylesheet(source: string): Stylesheet | null {
  const rules = [...blocks(source.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, ''))].flatMap(([head, body]): Rule[] => {
    // Before it may stand what has no body, such as `@import`.
    const selectors = cut(head.slice(head.lastIndexOf(';') + 1), ',').map(selector).filter((found) => found !== null);
    return selectors.length ? [{ head: head.slice(head.lastIndexOf(';') + 1).trim(), selectors, ...declarations(body) }] : [];
  });
  if (!rules.length) return null;
  const coloured = rules.filter(({ colour }) => colour !== undefined);
  const keys = named(coloured.map(({ head, colour = '' }) => ({ ...described(head), colour })));
  const style = (subject: Subject): Style => {
    const style: Style = {};
    const classes = new Set<string>();
    for (const rule of rules) {
      if (!rule.selectors.some((fits) => fits(subject, classes))) continue;
      rule.style(subject.tags, style);
      if (rule.colour !== undefined) style.rule = coloured.indexOf(rule);
      for (const name of rule.classes) classes.add(name);
    }
    return style;
  };
  return { style, keys };
}

const grouped = (text: string): string => (Number.isFinite(Number(text)) ? numberText(Number(text), 'limit') : text);

const CONDITION = /\[((?:"[^"]*"|'[^']*'|[^\]"'])*)\]/g;

/** What selectors such as `node[shop=bakery], way[shop=bakery]` are called in a legend. */
function described(head: string): Pick<StyleKey, 'key' | 'name'> & { bound?: [operator: string, number: number] } {
  const all = cut(head, ',').map((one) => /^\s*(?:\*|[a-z]+)?((?:\[(?:"[^"]*"|'[^']*'|[^\]"'])*\])*)\s*$/.exec(one)?.[1]);
  const [conditions] = all;
  if (conditions === undefined || all.some((one) => one !== conditions)) return { key: '', name: head };
  if (conditions === '') return { key: '', name: 'other' };
  const parts = [...conditions.matchAll(CONDITION)].map(([, inner = '']) => /^("[^"]*"|'[^']*'|[^=!<>~^$*?]+)(=|<=|>=|<|>)([^=~][\s\S]*)$/.exec(inner)?.slice(1) ?? []);
  const [[key = '', operator = '', right = ''] = []] = parts;
  if (parts.length !== 1 || !key) return { key: '', name: head };
  const value = unquoted(right);
  if (operator === '=') return { key: unquoted(key), name: value };
  return { key: unquoted(key), name: `${operator.replace('<=', '≤').replace('>=', '≥')} ${grouped(value)}`, bound: [operator, Number(value)] };
}

/** Names rules `[k>0]`, `[k<5]`, `[k<2]`, of which the last that matches counts, by the ranges that are left of them. */
function named(keys: (StyleKey & ReturnType<typeof described>)[]): StyleKey[] {
  const below = (key: string) => keys.filter((one) => one.key === key && one.bound?.[0] === '<').map(({ bound }) => bound?.[1] ?? 0).sort((a, b) => a - b);
  return keys.map(({ key, name, colour, bound }) => {
    const bounds = bound ? below(key) : [];
    const last = bounds.at(-1);
    if (!bound || last === undefined) return { key, name, colour };
    const [operator, number] = bound;
    const before = bounds[bounds.indexOf(number) - 1];
    if (operator === '<' && before !== undefined) return { key, name: `${grouped(String(before))} – ${grouped(String(number))}`, colour };
    return { key, name: operator === '>' && number < (bounds[0] ?? 0) ? `≥ ${grouped(String(last))}` : name, colour };
  });
}

/** Heads and bodies of rules, whatever stands in brackets and quotes in them. */
function* blocks(text: string): Generator<[string, string]> {
  let head = '';
  let start = 0;
  for (const at of bare(text)) {
    const sign = text[at];
    if (sign === '{') [head, start] = [text.slice(start, at), at + 1];
    else if (sign === '}') {
      yield [head, text.slice(start, at)];
      [head, start] = ['', at + 1];
    }
  }
}

/** Cuts at a sign outside of brackets and quotes. */
function cut(text: string, sign: string): string[] {
  const parts: string[] = [];
  let start = 0;
  for (const at of bare(text)) {
    if (text[at] !== sign) continue;
    parts.push(text.slice(start, at));
    start = at + 1;
  }
  return [...parts, text.slice(start)];
}

/** The places of a text outside of brackets and quotes. */
function* bare(text: string): Generator<number> {
  let quote = '';
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const sign = text[at] ?? '';
    if (quote) {
      if (sign === '\\') at += 1;
      else if (sign === quote) quote = '';
    } else if (sign === '"' || sign === "'") quote = sign;
    else if (sign === '[' || sign === '(') depth += 1;
    else if (sign === ']' || sign === ')') depth = Math.max(0, depth - 1);
    else if (depth === 0) yield at;
  }
}

const TYPES = new Map<string, Test>(Object.entries({
  '*': () => true,
  node: ({ type }: Subject) => type === 'node',
  way: ({ type }: Subject) => type === 'way',
  relation: ({ type }: Subject) => type === 'relation',
  area: ({ isArea }: Subject) => isArea,
  line: ({ type, isArea }: Subject) => type === 'way' && !isArea,
}));

const STATES = new Map<string, Test>(Object.entries({
  closed: ({ isClosed }: Subject) => isClosed,
  tagged: ({ tags }: Subject) => Object.keys(tags).length > 0,
  // Nothing is under the mouse when it is drawn.
  active: () => false,
  hover: () => false,
}));

/** Of a chain such as `relation way` the last part alone could be held against an element: it is none of these. */
function selector(text: string): Test | null {
  const match = /^\s*(\*|[a-z]+)?\s*(?:\|z[\d-]*)?((?:\s*(?:\[(?:"[^"]*"|'[^']*'|[^\]"'])*\]|!?[:.]!?[\w-]+))*)\s*(?:::[\w*-]+)?\s*$/.exec(text);
  const type = TYPES.get(match?.[1] ?? '*');
  if (!match || !type || !text.trim()) return null;
  const tests: Test[] = [type];
  for (const [part] of (match[2] ?? '').matchAll(/\[(?:"[^"]*"|'[^']*'|[^\]"'])*\]|!?[:.]!?[\w-]+/g)) {
    if (part.startsWith('[')) {
      const holds = condition(part.slice(1, -1));
      tests.push(({ tags }) => holds(tags));
      continue;
    }
    const name = part.replace(/[!:.]/g, '');
    const isClass = part.includes('.');
    const state = STATES.get(name);
    if (!isClass && !state) return null;
    const wanted = !part.includes('!');
    tests.push((subject, classes) => (isClass ? classes.has(name) : (state?.(subject, classes) ?? false)) === wanted);
  }
  return (subject, classes) => tests.every((test) => test(subject, classes));
}

const unquoted = (text: string): string => text.trim().replace(/^(["'])([\s\S]*)\1$/, '$2');

const valueOf = (tags: Tags, key: string): string | undefined => (Object.hasOwn(tags, key) ? tags[key] : undefined);

const YES = /^(yes|true|1)$/i;

function condition(inner: string): (tags: Tags) => boolean {
  const match = /^\s*(!?)\s*("[^"]*"|'[^']*'|[^=!<>~^$*?]+?)\s*(?:(\?!?)|(!=|=~|~=|!~|\^=|\$=|\*=|<=|>=|=|<|>)\s*([\s\S]*?))?\s*$/.exec(inner);
  if (!match) return () => false;
  const [, not, quoted = '', truth, operator, right = ''] = match;
  const key = unquoted(quoted);
  const value = unquoted(right);
  const compared = (holds: (a: number, b: number) => boolean) => (tags: Tags) => valueOf(tags, key) !== undefined && holds(Number(valueOf(tags, key)), Number(value));
  const text = (holds: (own: string) => boolean) => (tags: Tags) => holds(valueOf(tags, key) ?? '');
  if (truth) return (tags) => YES.test(valueOf(tags, key) ?? '') !== (truth === '?!' || not === '!');
  switch (operator) {
    case undefined:
      return (tags) => (Object.hasOwn(tags, key) && tags[key] !== 'no') !== (not === '!');
    case '=':
      return (tags) => valueOf(tags, key) === value;
    case '!=':
      return (tags) => valueOf(tags, key) !== value;
    case '^=':
      return text((own) => own.startsWith(value));
    case '$=':
      return text((own) => own.endsWith(value));
    case '*=':
      return text((own) => own.includes(value));
    case '<':
      return compared((a, b) => a < b);
    case '>':
      return compared((a, b) => a > b);
    case '<=':
      return compared((a, b) => a <= b);
    case '>=':
      return compared((a, b) => a >= b);
    default: {
      let pattern: RegExp;
      try {
        pattern = new RegExp(value.replace(/^\/([\s\S]*)\/i?$/, '$1'), value.endsWith('/i') ? 'i' : '');
      } catch {
        return () => false;
      }
      return (tags) => (Object.hasOwn(tags, key) && pattern.test(tags[key] ?? '')) !== operator.startsWith('!');
    }
  }
}

/** A colour that the map's library reads: names, `#...`, `rgb(...)`. */
const COLOUR = /^(#(?:[0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})|[a-z]+|(?:rgb|hsl)a?\([\d\s.,%]+\))$/i;

type Setter = (style: Style, value: string) => void;

const colour = (name: 'color' | 'fill' | 'casing' | 'stroke' | 'textColor'): Setter => (style, value) => {
  if (COLOUR.test(value)) style[name] = value;
};
const number = (name: 'width' | 'opacity' | 'casingWidth' | 'fillOpacity' | 'radius' | 'strokeWidth' | 'textSize' | 'z', least: number, most: number): Setter => (style, value) => {
  const found = Number.parseFloat(value);
  if (!Number.isNaN(found)) style[name] = Math.min(most, Math.max(least, found));
};

const SETTERS = new Map<string, Setter>(Object.entries({
  color: colour('color'),
  width: number('width', 0, 40),
  opacity: number('opacity', 0, 1),
  dashes: (style: Style, value: string) => {
    const [dash = NaN, gap = dash] = value.split(/[\s,]+/).map(Number.parseFloat);
    if (dash > 0 && gap >= 0) style.dashes = [dash, gap];
    else delete style.dashes;
  },
  'casing-color': colour('casing'),
  'casing-width': number('casingWidth', 0, 40),
  'fill-color': colour('fill'),
  'fill-opacity': number('fillOpacity', 0, 1),
  'symbol-size': number('radius', 0, 60),
  'symbol-fill-color': colour('fill'),
  'symbol-fill-opacity': number('fillOpacity', 0, 1),
  'symbol-stroke-color': colour('stroke'),
  'symbol-stroke-width': number('strokeWidth', 0, 20),
  // Images are those of the page: `icons/maki/cafe-18.png` and `cafe` are the same.
  'icon-image': (style: Style, value: string) => {
    const name = /^(?:.*\/)?([a-z-]+?)(?:-\d+)?(?:@2x)?(?:\.(?:png|svg))?$/.exec(value.replace(/^url\((.*)\)$/, (_, inner: string) => unquoted(inner)))?.[1];
    if (name && name !== 'none') style.icon = name;
    else delete style.icon;
  },
  'text-color': colour('textColor'),
  'font-size': number('textSize', 6, 40),
  'z-index': number('z', -1000, 1000),
}));

function declarations(body: string): Pick<Rule, 'style' | 'classes' | 'colour'> {
  const classes: string[] = [];
  const colours = new Map<string, string>();
  const setters: ((tags: Tags, style: Style) => void)[] = [];
  for (const one of cut(body, ';')) {
    const set = /^\s*set\s+\.?([\w-]+)\s*$/.exec(one)?.[1];
    if (set) classes.push(set);
    const [, name = '', given = ''] = /^\s*([\w-]+)\s*:\s*([\s\S]*?)\s*$/.exec(one) ?? [];
    const value = unquoted(given);
    // `eval("tag('name')")`, `tag(name)`, ...
    const key = /^(?:eval\(\s*["']?\s*)?tag\(\s*\\?["']?([^"'()\\]+)\\?["']?\s*\)(?:\s*["']?\s*\))?$/.exec(value)?.[1];
    const setter = SETTERS.get(name.toLowerCase());
    if (name === 'text') setters.push((tags, style) => (style.text = valueOf(tags, key ?? value) ?? ''));
    else if (setter) {
      if (key === undefined && /^(symbol-)?(fill-)?color$/.test(name) && COLOUR.test(value)) colours.set(name, value);
      setters.push((tags, style) => setter(style, key === undefined ? value : (valueOf(tags, key) ?? '')));
    }
  }
  return { classes, colour: colours.get('symbol-fill-color') ?? colours.get('fill-color') ?? colours.get('color'), style: (tags, style) => setters.forEach((set) => set(tags, style)) };
}

// The common part of MapCSS, as `{{style: ...}}` has it: rules by type and tags, with colours, widths, opacities and texts.

import type { Tags } from './osm';

export interface Style {
  color?: string;
  width?: number;
  opacity?: number;
  fill?: string;
  fillOpacity?: number;
  radius?: number;
  text?: string;
}

interface Rule {
  selectors: { type: string; conditions: ((tags: Tags) => boolean)[] }[];
  style: (tags: Tags) => Style;
}

/** A function from an element to how it is drawn; rules that are not understood are left out. */
export function stylesheet(source: string): ((type: string, closed: boolean, tags: Tags) => Style) | null {
  const text = source.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '');
  const rules: Rule[] = [];
  for (const [, head = '', body = ''] of text.matchAll(/([^{}]+)\{([^{}]*)\}/g)) {
    const selectors = split(head).map(selector).filter((found) => found !== null);
    if (selectors.length) rules.push({ selectors, style: declarations(body) });
  }
  if (!rules.length) return null;
  return (type, closed, tags) => {
    const style: Style = {};
    for (const rule of rules) {
      const fits = rule.selectors.some(
        (selector) =>
          (selector.type === '*' || selector.type === type || (selector.type === 'line' && type === 'way' && !closed) || (selector.type === 'area' && closed)) &&
          selector.conditions.every((condition) => condition(tags)),
      );
      if (fits) Object.assign(style, rule.style(tags));
    }
    return style;
  };
}

/** Cuts at commas outside of brackets. */
function split(head: string): string[] {
  return head.match(/(?:\[[^\]]*\]|[^,[\]])+/g) ?? [];
}

function selector(text: string): Rule['selectors'][number] | null {
  // Of a chain such as `relation way` the last part alone could be held against an element.
  const match = /^\s*(\*|node|way|relation|area|line)\s*(?:\|z[\d-]*)?\s*((?:\[[^\]]*\]\s*)*)(?:::\w+)?\s*$/.exec(text);
  if (!match) return null;
  const conditions = [...(match[2] ?? '').matchAll(/\[([^\]]*)\]/g)].map(([, inner = '']) => condition(inner));
  return { type: match[1] ?? '*', conditions };
}

const bare = (text: string): string => text.trim().replace(/^(["'])([\s\S]*)\1$/, '$2');

function condition(inner: string): (tags: Tags) => boolean {
  const match = /^\s*(!?)\s*("[^"]*"|'[^']*'|[^=!<>~]+?)\s*(?:(!=|=~|~=|!~|<=|>=|=|<|>)\s*([\s\S]*))?$/.exec(inner);
  if (!match) return () => false;
  const [, not, quoted = '', operator, right = ''] = match;
  const key = bare(quoted);
  const value = bare(right);
  const test = (compare: (a: number, b: number) => boolean) => (tags: Tags) => tags[key] !== undefined && compare(Number(tags[key]), Number(value));
  switch (operator) {
    case undefined:
      return (tags) => (key in tags && tags[key] !== 'no') !== (not === '!');
    case '=':
      return (tags) => tags[key] === value;
    case '!=':
      return (tags) => tags[key] !== value;
    case '<':
      return test((a, b) => a < b);
    case '>':
      return test((a, b) => a > b);
    case '<=':
      return test((a, b) => a <= b);
    case '>=':
      return test((a, b) => a >= b);
    default: {
      let pattern: RegExp;
      try {
        pattern = new RegExp(value.replace(/^\/([\s\S]*)\/i?$/, '$1'), value.endsWith('/i') ? 'i' : '');
      } catch {
        return () => false;
      }
      return (tags) => (key in tags && pattern.test(tags[key] ?? '')) !== operator.startsWith('!');
    }
  }
}

/** A colour that the map's library reads: names, `#...`, `rgb(...)`. */
const COLOUR = /^(#[0-9a-f]{3,8}|[a-z]+|(?:rgb|hsl)a?\([\d\s.,%]+\))$/i;

function declarations(body: string): (tags: Tags) => Style {
  const pairs = [...body.matchAll(/([\w-]+)\s*:\s*([^;]+)/g)].map(([, name = '', value = '']) => [name.toLowerCase(), bare(value)] as const);
  return (tags) => {
    const style: Style = {};
    for (const [name, raw] of pairs) {
      const evaluated = /^(?:eval|tag)\(\s*(?:tag\(\s*)?["']?([^"')]+)["']?\s*\)?\s*\)$/.exec(raw);
      const value = evaluated ? (tags[evaluated[1] ?? ''] ?? '') : raw;
      const number = Number.parseFloat(value);
      const colour = COLOUR.test(value) ? value : undefined;
      if ((name === 'color' || name === 'symbol-stroke-color') && colour) style.color = colour;
      else if ((name === 'fill-color' || name === 'symbol-fill-color') && colour) style.fill = colour;
      else if (name === 'text') style.text = evaluated ? value : (tags[value] ?? '');
      else if (Number.isNaN(number)) continue;
      else if (name === 'width') style.width = Math.min(40, Math.max(0, number));
      else if (name === 'opacity') style.opacity = clamp(number);
      else if (name === 'fill-opacity' || name === 'symbol-fill-opacity') style.fillOpacity = clamp(number);
      else if (name === 'symbol-size') style.radius = Math.min(60, Math.max(0, number));
    }
    return style;
  };
}

const clamp = (value: number): number => Math.min(1, Math.max(0, value));

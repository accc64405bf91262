// Queries from the short forms in links of overpass-turbo: the wizard's conditions (`?w=amenity=cafe and name=* in Valletta`,
// https://wiki.openstreetmap.org/wiki/Overpass_turbo/Wizard) and the templates (`?template=key-value&key=amenity&value=cafe`).

/** The wizard's text cannot be understood; the message says where. */
export class NotUnderstood extends Error {}

type Condition = { filter: string; type?: string };

/** Tokens: quoted texts, brackets, operators, words. */
const TOKEN = /\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\(|\)|!=|!~|~=|=~|==|=|~|:|\|\||\|(?!\|)|&&|&|[^\s()=!~|&:"']+)/y;

function tokens(text: string): string[] {
  const found: string[] = [];
  for (TOKEN.lastIndex = 0; TOKEN.lastIndex < text.trimEnd().length; ) {
    const at = TOKEN.lastIndex;
    const match = TOKEN.exec(text);
    if (!match) throw new NotUnderstood(`the wizard's text cannot be read at "${text.slice(at, at + 20)}"`);
    found.push(match[1] ?? '');
  }
  return found;
}

const quoted = (token: string): string => JSON.stringify(/^["']/.test(token) ? token.slice(1, -1).replace(/\\(.)/g, '$1') : token);

/** Reads conditions with `and`, `or` and brackets into alternatives, each a list of conditions that hold together. */
class Reader {
  private at = 0;

  constructor(private readonly all: string[]) {}

  alternatives(): Condition[][] {
    const found = this.together();
    while (this.takes(/^(or|\|\||\|)$/i)) found.push(...this.together());
    return found;
  }

  /** Fails if anything is left. */
  end(): void {
    const rest = this.all.slice(this.at).join(' ');
    if (rest) throw new NotUnderstood(`"${rest}" is not joined to the conditions by "and" or "or"`);
  }

  private together(): Condition[][] {
    let found = this.one();
    while (this.takes(/^(and|&&|&)$/i)) {
      const more = this.one();
      found = found.flatMap((left) => more.map((right) => [...left, ...right]));
      if (found.length > 64) throw new NotUnderstood('more than 64 alternatives');
    }
    return found;
  }

  private one(): Condition[][] {
    if (this.takes(/^\($/)) {
      const inner = this.alternatives();
      if (!this.takes(/^\)$/)) throw new NotUnderstood('a closing bracket is missing');
      return inner;
    }
    const key = this.next('a condition');
    if (/^type$/i.test(key) && this.takes(/^:$/)) {
      const type = this.next('a type').toLowerCase();
      if (!/^(node|way|relation)$/.test(type)) throw new NotUnderstood(`"${type}" is not node, way or relation`);
      return [[{ filter: '', type }]];
    }
    // A key may have colons in it: `addr:street`.
    let name = /^["']/.test(key) ? key.slice(1, -1) : key;
    while (!/^["']/.test(key) && this.all[this.at] === ':') name += `${this.next('')}${this.next('a key')}`;
    if (this.takes(/^is$/i)) {
      const not = this.takes(/^not$/i);
      if (!this.takes(/^null$/i)) throw new NotUnderstood('"is" wants "null" or "not null"');
      return [[{ filter: not ? `[${quoted(name)}]` : `[!${quoted(name)}]` }]];
    }
    const operator = this.next('=, !=, ~ or "is null"');
    if (!/^(==|=|!=|~|=~|~=|!~|like)$/i.test(operator)) throw new NotUnderstood(`"${name}" is followed by "${operator}": write key=value, key=* or key~pattern`);
    const value = this.next('a value');
    const isMatch = /~|like/i.test(operator);
    if (value === '*' && !isMatch) return [[{ filter: operator.startsWith('!') ? `[!${quoted(name)}]` : `[${quoted(name)}]` }]];
    const sign = operator === '!=' ? '!=' : operator === '!~' ? '!~' : isMatch ? '~' : '=';
    return [[{ filter: `[${quoted(name)}${sign}${quoted(value)}]` }]];
  }

  private next(what: string): string {
    const token = this.all[this.at];
    if (token === undefined) throw new NotUnderstood(`${what} is missing at the end of the wizard's text`);
    this.at += 1;
    return token;
  }

  private takes(pattern: RegExp): boolean {
    const fits = pattern.test(this.all[this.at] ?? '');
    if (fits) this.at += 1;
    return fits;
  }
}

/** Cuts the place off the conditions: `in X`, `around X`, `in bbox`, `global`; a name may have any letters in it. */
function placed(text: string): { conditions: string; how: 'in' | 'around' | 'view' | 'world'; name: string } {
  const parts = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\s(in|around)\s+(.+)$|\s(global)\s*$/gis;
  for (const match of text.matchAll(parts)) {
    const conditions = text.slice(0, match.index);
    const name = (match[2] ?? '').trim().replace(/^"(.*)"$/s, '$1');
    if (match[3]) return { conditions, how: 'world', name: '' };
    if (match[1]?.toLowerCase() === 'in' && name.toLowerCase() === 'bbox') return { conditions, how: 'view', name: '' };
    if (match[1]) return { conditions, how: match[1].toLowerCase() as 'in' | 'around', name };
  }
  return { conditions: text, how: 'view', name: '' };
}

/** Metres that `around` reaches, as in overpass-turbo. */
const AROUND = 1000;

/**
 * Returns the query of a wizard's text.
 *
 * @throws NotUnderstood for what is not a list of conditions, such as the name of a preset ("cafe").
 */
export function fromWizard(text: string): string {
  const { conditions, how, name } = placed(text);
  const reader = new Reader(tokens(conditions));
  const alternatives = reader.alternatives();
  reader.end();
  const around = { in: '(area.searchArea)', around: `(around:${AROUND},{{geocodeCoords:${name}}})`, view: '({{bbox}})', world: '' }[how];
  const lines = alternatives.map((all) => {
    const types = new Set(all.flatMap(({ type }) => type ?? []));
    if (types.size > 1) throw new NotUnderstood('an element is a node, a way or a relation, never two of these');
    return `  ${[...types][0] ?? 'nwr'}${all.map(({ filter }) => filter).join('')}${around};`;
  });
  const area = how === 'in' ? `{{geocodeArea:${name}}}->.searchArea;\n` : '';
  return `[out:json][timeout:25];\n// ${text.replace(/\s+/g, ' ')}\n${area}(\n${lines.join('\n')}\n);\nout geom;\n`;
}

/** Returns the query of a template: `key`, `key-type`, `key-value`, `key-value-type` or `type-id`; undefined for another name. */
export function fromTemplate(name: string, given: URLSearchParams): string | undefined {
  const [key = '', value = '', id = ''] = ['key', 'value', 'id'].map((part) => given.get(part) ?? undefined);
  const type = given.get('type') ?? 'nwr';
  if (!/^(node|way|relation|nwr)$/.test(type)) return undefined;
  const found = (filter: string) => `[out:json][timeout:25];\n${type}${filter}({{bbox}});\nout geom;\n`;
  if (/^key(-type)?$/.test(name) && key) return found(`[${quoted(key)}]`);
  if (/^key-value(-type)?$/.test(name) && key) return found(`[${quoted(key)}=${quoted(value)}]`);
  if (name === 'type-id' && /^\d+$/.test(id) && type !== 'nwr') return `[out:json][timeout:25];\n${type}(${id});\nout geom;\n`;
  return undefined;
}

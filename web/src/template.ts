// Queries from the templates in links of overpass-turbo (`?template=key-value&key=amenity&value=cafe`).

const quoted = (text: string): string => JSON.stringify(text);

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

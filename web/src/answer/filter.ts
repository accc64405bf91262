// The filter of the rows: words that all have to occur, texts in quotes, and conditions on one column or key:
// `key=value`, `key!=value`, `key>5`, `key>=5`, `key<5`, `key<=5`, `key:part`, `-word`. A `*` in a value stands for any text.

/** One part of a filter. */
type Condition = (row: FilteredRow) => boolean;

/** What a filter reads of a row. */
export interface FilteredRow {
  /** The text of a column or key; nothing if the row has none. */
  value(key: string): string | undefined;
  /** All texts. */
  texts(): string[];
}

/** `key`, an operator, and a value; key and value may be in quotes. */
const PARTS = /^(-?)(?:("(?:[^"\\]|\\.)*"|[^\s"=<>!:]+(?::[^\s"=<>!:]+)*)(!=|>=|<=|=|>|<|:))?("(?:[^"\\]|\\.)*"|[^\s"]*)$/;

/** Returns a test for rows; null for a filter without conditions, which all rows pass. */
export function parseFilter(text: string): Condition | null {
  const conditions = words(text).map(condition).filter((found) => found !== null);
  return conditions.length ? (row) => conditions.every((holds) => holds(row)) : null;
}

/** Returns a condition on one key as a filter has it. */
export function conditionOn(key: string, value: string): string {
  return `${quoted(key, /[\s"=<>!]/)}=${quoted(value, /[\s"*]|^$/)}`;
}

const quoted = (text: string, needs: RegExp): string => (needs.test(text) ? `"${text.replace(/["\\]/g, '\\$&')}"` : text);

/** Cuts a filter at its spaces outside of quotes. */
function words(text: string): string[] {
  return text.match(/(?:"(?:[^"\\]|\\.)*"|"[^"]*$|[^\s"])+/g) ?? [];
}

function condition(word: string): Condition | null {
  const match = PARTS.exec(word);
  const [, minus = '', key, operator, written = ''] = match ?? [];
  if (!match || key === undefined || operator === undefined) return containing(match ? plain(written) : word.replace(/"/g, ''), minus === '-');
  const name = plain(key);
  const value = plain(written);
  const holds = comparison(operator, value, written.startsWith('"'));
  // A value that is still being typed filters nothing.
  if (!holds) return null;
  return (row) => holds(row.value(name)) !== (minus === '-');
}

function containing(text: string, isNot: boolean): Condition | null {
  const wanted = text.toLowerCase();
  if (!wanted) return null;
  return (row) => row.texts().some((own) => own.toLowerCase().includes(wanted)) !== isNot;
}

function comparison(operator: string, value: string, isQuoted: boolean): ((own: string | undefined) => boolean) | null {
  const wanted = value.toLowerCase();
  switch (operator) {
    case '=':
    case '!=': {
      if (!wanted && !isQuoted) return null;
      const pattern = !isQuoted && wanted.includes('*') ? new RegExp(`^${wanted.split('*').map(escaped).join('.*')}$`, 's') : null;
      const equals = (own: string | undefined) => (pattern ? own !== undefined && pattern.test(own.toLowerCase()) : (own ?? '').toLowerCase() === wanted);
      return operator === '=' ? equals : (own) => !equals(own);
    }
    case ':':
      return wanted ? (own) => own !== undefined && own.toLowerCase().includes(wanted) : null;
    default: {
      if (!wanted) return null;
      return (own) => {
        if (own === undefined || own === '') return false;
        const order = compare(own, value);
        return operator === '>' ? order > 0 : operator === '<' ? order < 0 : operator === '>=' ? order >= 0 : order <= 0;
      };
    }
  }
}

/** Compares as numbers where both are, else as texts, so that dates of ISO 8601 are in their order. */
function compare(a: string, b: string): number {
  const [x, y] = [Number(a), Number(b)];
  if (a.trim() !== '' && b.trim() !== '' && Number.isFinite(x) && Number.isFinite(y)) return x - y;
  return a < b ? -1 : a > b ? 1 : 0;
}

const plain = (text: string): string => (text.startsWith('"') ? text.slice(1, -1).replace(/\\(.)/g, '$1') : text);

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

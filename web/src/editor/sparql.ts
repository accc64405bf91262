// SPARQL as the editor colours it, and the words of it that completion offers.

import { StreamLanguage, type StreamParser } from '@codemirror/language';

export const KEYWORDS = (
  'SELECT DISTINCT REDUCED WHERE FILTER OPTIONAL UNION MINUS BIND AS VALUES SERVICE GRAPH FROM NAMED GROUP BY ORDER ASC DESC HAVING ' +
  'LIMIT OFFSET PREFIX BASE CONSTRUCT DESCRIBE ASK EXISTS NOT IN WITH INCLUDE SILENT UNDEF SEPARATOR'
).split(' ');
export const FUNCTIONS = (
  'STR LANG LANGMATCHES DATATYPE BOUND IRI URI BNODE RAND ABS CEIL FLOOR ROUND CONCAT STRLEN UCASE LCASE ENCODE_FOR_URI CONTAINS ' +
  'STRSTARTS STRENDS STRBEFORE STRAFTER YEAR MONTH DAY HOURS MINUTES SECONDS TIMEZONE TZ NOW UUID STRUUID MD5 SHA1 SHA256 COALESCE IF ' +
  'STRLANG STRDT SAMETERM ISIRI ISURI ISBLANK ISLITERAL ISNUMERIC REGEX SUBSTR REPLACE COUNT SUM MIN MAX AVG SAMPLE GROUP_CONCAT'
).split(' ');
/** Prefixes that need no declaration. */
export const PREFIXES: Record<string, string> = {
  wd: 'http://www.wikidata.org/entity/',
  wdt: 'http://www.wikidata.org/prop/direct/',
  p: 'http://www.wikidata.org/prop/',
  ps: 'http://www.wikidata.org/prop/statement/',
  pq: 'http://www.wikidata.org/prop/qualifier/',
  psv: 'http://www.wikidata.org/prop/statement/value/',
  wikibase: 'http://wikiba.se/ontology#',
  bd: 'http://www.bigdata.com/rdf#',
  rdfs: 'http://www.w3.org/2000/01/rdf-schema#',
  rdf: 'http://www.w3.org/1999/02/22-rdf-syntax-ns#',
  skos: 'http://www.w3.org/2004/02/skos/core#',
  schema: 'http://schema.org/',
  xsd: 'http://www.w3.org/2001/XMLSchema#',
  geo: 'http://www.opengis.net/ont/geosparql#',
  geof: 'http://www.opengis.net/def/function/geosparql/',
  osmkey: 'https://www.openstreetmap.org/wiki/Key:',
};
const WORDS = new Set(KEYWORDS);
const CALLS = new Set(FUNCTIONS);

interface State {
  /** The quotes that a text is within. */
  quotes: string;
}

const parser: StreamParser<State> = {
  name: 'sparql',
  startState: () => ({ quotes: '' }),
  token(stream, state) {
    if (state.quotes) return text();
    if (stream.eatSpace()) return null;
    if (stream.match('#')) {
      stream.skipToEnd();
      return 'comment';
    }
    const quotes = stream.match(/^("""|'''|"|')/) as RegExpMatchArray | null;
    if (quotes) {
      state.quotes = quotes[0];
      return text();
    }
    if (stream.match(/^<[^<>"{}|^`\\\s]*>/)) return 'url';
    if (stream.match(/^[?$][\p{L}\p{N}_]+/u)) return 'variableName';
    if (stream.match(/^@[A-Za-z]+(-[A-Za-z0-9]+)*/)) return 'modifier';
    if (stream.match(/^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?/)) return 'number';
    if (stream.match(/^_:[\p{L}\p{N}_-]+/u)) return 'name';
    if (stream.match(/^(?:[\p{L}][\p{L}\p{N}_-]*)?:[\p{L}\p{N}_:.%-]*/u)) {
      const name = stream.current();
      if (name.endsWith('.')) stream.backUp(1);
      return /^(wd|osmnode|osmway|osmrel):/.test(name) ? 'typeName' : 'propertyName';
    }
    if (stream.match(/^%\w+/)) return 'variableName';
    if (stream.match(/^[\p{L}_][\p{L}\p{N}_]*/u)) {
      const word = stream.current().toUpperCase();
      if (WORDS.has(word)) return 'keyword';
      if (CALLS.has(word)) return 'functionName';
      return word === 'A' || word === 'TRUE' || word === 'FALSE' ? 'keyword' : 'name';
    }
    if (stream.match(/^(\^\^|&&|\|\||[!<>]=|[=<>!*/+^|-])/)) return 'operator';
    const sign = stream.next();
    return sign && '{}()[]'.includes(sign) ? 'bracket' : 'punctuation';

    function text(): string {
      while (!stream.eol()) {
        if (stream.match(state.quotes)) {
          state.quotes = '';
          return 'string';
        }
        if (stream.next() === '\\') stream.next();
      }
      // Only long quotes go on in the next line.
      if (state.quotes.length === 1) state.quotes = '';
      return 'string';
    }
  },
  languageData: {
    commentTokens: { line: '#' },
    closeBrackets: { brackets: ['(', '[', '{', '"', "'"] },
  },
};

export const sparqlLanguage = StreamLanguage.define(parser);

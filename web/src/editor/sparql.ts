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
  geof: 'http://www.opengis.net/def/geosparql/function/',
  ogc: 'http://www.opengis.net/rdf#',
  uom: 'http://www.opengis.net/def/uom/OGC/1.0/',
  osm: 'https://www.openstreetmap.org/',
  osmnode: 'https://www.openstreetmap.org/node/',
  osmway: 'https://www.openstreetmap.org/way/',
  osmrel: 'https://www.openstreetmap.org/relation/',
  osmkey: 'https://www.openstreetmap.org/wiki/Key:',
  osmmeta: 'https://www.openstreetmap.org/meta/',
  osm2rdf: 'https://osm2rdf.cs.uni-freiburg.de/rdf#',
  osm2rdfkey: 'https://osm2rdf.cs.uni-freiburg.de/rdf/key#',
  terrapin: 'urn:terrapin:service:',
};

/** Words of vocabularies by prefix, with what they say. */
export const TERMS: Record<string, Record<string, string>> = {
  osm: { node: 'the class of nodes', way: 'the class of ways', relation: 'the class of relations' },
  osmrel: { member: 'from a relation to a member in its place', member_id: 'the element that the member is', member_role: 'its role', member_pos: 'its place, from 0' },
  osmway: { member: 'from a way to one of its nodes in its place', member_id: 'the node', member_pos: 'its place, from 0' },
  osm2rdf: { area: 'square metres', length: 'metres', facts: 'the number of tags and links', hasCompleteGeometry: 'whether all members are there', hasCentroid: 'the middle, with geo:asWKT' },
  osmmeta: { version: 'the number of the version', timestamp: 'when it was made', changeset: 'the changeset', user: 'who made it', uid: 'their number' },
  geo: { hasGeometry: 'the shape, with geo:asWKT', hasCentroid: 'the middle, with geo:asWKT', asWKT: 'a geometry as text', wktLiteral: 'the datatype of such texts' },
  ogc: {
    sfContains: 'the second lies in the first, not on its border alone',
    sfCovers: 'no point of the second lies outside of the first',
    sfCrosses: 'they cross',
    sfEquals: 'they have the same points',
    sfIntersects: 'they have a point in common',
    sfOverlaps: 'each has points that the other lacks, and some in common',
    sfTouches: 'they have only points of their borders in common',
    sfWithin: 'the first lies in the second, not on its border alone',
  },
  terrapin: {
    overpass: 'the service that runs a query in OverpassQL',
    query: 'the query, as text',
    element: 'an element that it prints',
    wkt: 'its geometry',
    centroid: 'its middle',
    type: 'its type',
    id: 'its number',
  },
  wikibase: { label: 'the service of labels', around: 'the service of what is near', box: 'the service of what is in a box', mwapi: 'the service of the search for names', sitelinks: 'how many pages there are of an item' },
  bd: { serviceParam: 'a parameter of a service' },
  rdfs: { label: 'the label', subClassOf: 'what a class is part of' },
  schema: { description: 'the description', name: 'the name', about: 'what a page is of' },
  skos: { altLabel: 'another name', prefLabel: 'the label' },
  geof: {
    distance: 'how far two geometries are apart: kilometres, or in the unit that is named',
    metricArea: 'square metres',
    metricLength: 'metres',
    centroid: 'the middle',
    buffer: 'what lies within a distance',
    envelope: 'the box',
    convexHull: 'the smallest area without dents',
    intersection: 'what two geometries have in common',
    union: 'two geometries together',
    difference: 'what the second has not of the first',
    aggUnion: 'all geometries of a group together',
    aggConvexHull: 'the smallest area without dents around a group',
    aggBoundingBox: 'the box around a group',
    aggCentroid: 'the middle of a group',
    sfIntersects: 'whether two geometries have a point in common',
    sfContains: 'whether the second lies in the first',
    sfWithin: 'whether the first lies in the second',
  },
  uom: { metre: 'the metre', degree: 'the degree' },
};

/** Services, with what they do and how they are called. */
export const SERVICES: [string, string, string][] = [
  ['SERVICE wikibase:label', 'labels', 'SERVICE wikibase:label { bd:serviceParam wikibase:language "en,mul". }'],
  ['SERVICE terrapin:overpass', 'OverpassQL', 'SERVICE terrapin:overpass { [] terrapin:query "node[amenity=cafe];out;"; terrapin:element ?element; terrapin:wkt ?place. }'],
];
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
      return /^(wd|osm):|^osm(node|way|rel):\d/.test(name) ? 'typeName' : 'propertyName';
    }
    if (stream.match(/^%\w+/)) return 'variableName';
    if (stream.match(/^[\p{L}_][\p{L}\p{N}_]*/u)) {
      const word = stream.current().toUpperCase();
      if (WORDS.has(word)) return 'keyword';
      if (CALLS.has(word)) return 'variableName.function';
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

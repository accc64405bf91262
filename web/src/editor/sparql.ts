// SPARQL as the editor colours it, and the words of it that completion offers.

import { StreamLanguage, type StreamParser } from '@codemirror/language';
import { labelLanguages } from '../text/languages';
import { t } from '../text/lookup';

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
export const terms = (): Record<string, Record<string, string>> => ({
  osm: { node: t('theClassOfNodes'), way: t('theClassOfWays'), relation: t('theClassOfRelations') },
  osmrel: { member: t('fromARelationToAMember'), member_id: t('theElementThatTheMemberIs'), member_role: t('itsRole'), member_pos: t('itsPlaceFrom0') },
  osmway: { member: t('fromAWayToOneOf'), member_id: t('theNode'), member_pos: t('itsPlaceFrom0') },
  osm2rdf: { area: t('squareMetres'), length: t('metres'), facts: t('theNumberOfTagsAndLinks'), hasCompleteGeometry: t('whetherAllMembersAreThere'), hasCentroid: t('theMiddleWithGeoAsWKT') },
  osmmeta: { version: t('theNumberOfTheVersion'), timestamp: t('whenItWasMade'), changeset: t('theChangeset'), user: t('whoMadeIt'), uid: t('theirNumber') },
  geo: { hasGeometry: t('theShapeWithGeoAsWKT'), hasCentroid: t('theMiddleWithGeoAsWKT'), asWKT: t('aGeometryAsText'), wktLiteral: t('theDatatypeOfSuchTexts') },
  ogc: {
    sfContains: t('theSecondLiesInTheFirst'),
    sfCovers: t('noPointOfTheSecondLies'),
    sfCrosses: t('theyCross'),
    sfEquals: t('theyHaveTheSamePoints'),
    sfIntersects: t('theyHaveAPointInCommon'),
    sfOverlaps: t('eachHasPointsThatTheOther'),
    sfTouches: t('theyHaveOnlyPointsOfTheir'),
    sfWithin: t('theFirstLiesInTheSecond'),
  },
  terrapin: {
    overpass: t('theServiceThatRunsAQuery'),
    query: t('theQueryAsText'),
    element: t('anElementThatItPrints'),
    wkt: t('itsGeometry'),
    centroid: t('itsMiddle'),
    type: t('itsType'),
    id: t('itsNumber'),
  },
  wikibase: { label: t('theServiceOfLabels'), around: t('theServiceOfWhatIsNear'), box: t('theServiceOfWhatIsIn'), mwapi: t('theServiceOfTheSearchFor'), sitelinks: t('howManyPagesThereAreOf') },
  bd: { serviceParam: t('aParameterOfAService') },
  rdfs: { label: t('theLabel'), subClassOf: t('whatAClassIsPartOf') },
  schema: { description: t('theDescription'), name: t('theName'), about: t('whatAPageIsOf') },
  skos: { altLabel: t('anotherName'), prefLabel: t('theLabel') },
  geof: {
    distance: t('howFarTwoGeometriesAre'),
    metricArea: t('squareMetres'),
    metricLength: t('metres'),
    centroid: t('theMiddle'),
    buffer: t('whatLiesWithinADistance'),
    envelope: t('theBox'),
    convexHull: t('theSmallestAreaAround'),
    intersection: t('whatTwoGeometriesHaveIn'),
    union: t('twoGeometriesTogether'),
    difference: t('whatTheSecondHasNotOf'),
    aggUnion: t('allGeometriesOfAGroup'),
    aggConvexHull: t('theSmallestAreaWithout'),
    aggBoundingBox: t('theBoxAroundAGroup'),
    aggCentroid: t('theMiddleOfAGroup'),
    sfIntersects: t('whetherTwoGeometriesHaveA'),
    sfContains: t('whetherTheSecondLiesInThe'),
    sfWithin: t('whetherTheFirstLiesInThe'),
  },
  uom: { metre: t('theMetre'), degree: t('theDegree') },
});

/** Services, with what they do and how they are called. */
export const services = (): [string, string, string][] => [
  ['SERVICE wikibase:label', t('servesLabels'), `SERVICE wikibase:label { bd:serviceParam wikibase:language "${labelLanguages().join()}". }`],
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

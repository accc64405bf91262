// A shelf of queries. Each is tried on this snapshot when the shelf is opened, and says how much it finds here.

import type { Language } from './link';
import { overpass, sparql, type Snapshot } from './service';
import { expand, type Surroundings } from './shortcuts';
import { labelLanguages } from './text/languages';
import { t } from './text/lookup';

/** What an example is asked of. */
type Part = 'elements' | 'triples';

export interface Example {
  title: string;
  language: Language;
  /** What the snapshot must have for it. */
  needs: Part[];
  query: string;
}

const examples = (): Example[] => [
  {
    title: t('cafesInView'),
    language: 'overpassql',
    needs: ['elements'],
    query: '[out:json][timeout:25];\n// What the map shows is the box.\nnode[amenity=cafe]({{bbox}});\nout;\n',
  },
  {
    title: t('schoolsWithTheirGrounds'),
    language: 'overpassql',
    needs: ['elements'],
    query: '[out:json][timeout:25];\nnwr[amenity=school]({{bbox}});\nout geom;\n',
  },
  {
    title: t('restaurantsByCuisine'),
    language: 'overpassql',
    needs: ['elements'],
    query:
      '[out:json][timeout:25];\nnwr[amenity=restaurant][cuisine]({{bbox}});\nout center;\n\n{{style:\n  node[cuisine=~/pizza|italian/] { color: #b91c1c; fill-color: #ef4444; text: name; }\n  node[cuisine=~/chinese|asian|japanese|sushi/] { color: #a16207; fill-color: #eab308; text: name; }\n}}\n',
  },
  {
    title: t('busStopsWithin100MOf'),
    language: 'overpassql',
    needs: ['elements'],
    query: '[out:json][timeout:25];\nnwr[amenity=school]({{bbox}})->.schools;\nnode(around.schools:100)[highway=bus_stop];\nout;\n',
  },
  {
    title: t('castlesFortsAndRuins'),
    language: 'overpassql',
    needs: ['elements'],
    query: '[out:json][timeout:25];\nnwr[historic~"^(castle|fort|ruins|archaeological_site)$"]({{bbox}});\nout geom;\n',
  },
  {
    title: t('busRoutesWithTheirStops'),
    language: 'overpassql',
    needs: ['elements'],
    query: '[out:json][timeout:25];\nrel[type=route][route=bus]({{bbox}});\nout geom 20;\n',
  },
  {
    title: t('municipalitiesAsAreas'),
    language: 'overpassql',
    needs: ['elements'],
    query: '[out:json][timeout:25];\nrel[boundary=administrative][admin_level=8]({{bbox}});\nout geom;\n',
  },
  {
    title: t('namedPlacesAsATable'),
    language: 'overpassql',
    needs: ['elements'],
    query: '[out:csv(::type, ::id, ::lat, ::lon, name, place, population)][timeout:25];\nnode[place][name]({{bbox}});\nout;\n',
  },
  {
    title: t('streetsByLength'),
    language: 'overpassql',
    needs: ['elements'],
    query: '[out:json][timeout:25];\nway[highway][name]({{bbox}});\nfor (t["name"])\n{\n  make street name=_.val, pieces=count(ways), metres=sum(length());\n  out;\n}\n',
  },
  {
    title: t('everyBuildingInView'),
    language: 'overpassql',
    needs: ['elements'],
    query: '[out:json][timeout:60];\nwr[building]({{bbox}});\nout geom;\n',
  },
  {
    title: t('whatIsWhereAllThatHas'),
    language: 'sparql',
    needs: ['triples'],
    query: 'SELECT ?item ?itemLabel ?place WHERE {\n  ?item wdt:P625 ?place.\n  SERVICE wikibase:label { bd:serviceParam wikibase:language "en,mul". }\n}\nLIMIT 2000\n',
  },
  {
    title: t('theCommonestClasses'),
    language: 'sparql',
    needs: ['triples'],
    query: 'SELECT ?class ?classLabel (COUNT(?item) AS ?items) WHERE {\n  ?item wdt:P31 ?class.\n  SERVICE wikibase:label { bd:serviceParam wikibase:language "en,mul". }\n}\nGROUP BY ?class ?classLabel\nORDER BY DESC(?items)\nLIMIT 50\n',
  },
  {
    title: t('theLargestPopulations'),
    language: 'sparql',
    needs: ['triples'],
    query: 'SELECT ?item ?itemLabel ?people ?place WHERE {\n  ?item wdt:P1082 ?people.\n  OPTIONAL { ?item wdt:P625 ?place. }\n  SERVICE wikibase:label { bd:serviceParam wikibase:language "en,mul". }\n}\nORDER BY DESC(?people)\nLIMIT 100\n',
  },
  {
    title: t('byDateOfFoundation'),
    language: 'sparql',
    needs: ['triples'],
    query: 'SELECT ?item ?itemLabel ?begun ?place WHERE {\n  ?item wdt:P571 ?begun.\n  OPTIONAL { ?item wdt:P625 ?place. }\n  SERVICE wikibase:label { bd:serviceParam wikibase:language "en,mul". }\n}\nORDER BY ?begun\nLIMIT 200\n',
  },
  {
    title: t('classesAndWhatIsAboveThem'),
    language: 'sparql',
    needs: ['triples'],
    query: '#defaultView:Graph\nSELECT ?class ?classLabel ?above ?aboveLabel WHERE {\n  ?class wdt:P279 ?above.\n  SERVICE wikibase:label { bd:serviceParam wikibase:language "en,mul". }\n}\nLIMIT 200\n',
  },
  {
    title: t('elementsAndTheirItemsHow'),
    language: 'sparql',
    needs: ['elements', 'triples'],
    query:
      '# Tags name items; both say where they are.\nSELECT ?element ?item ?itemLabel ?metres ?here WHERE {\n  ?element osm2rdfkey:wikidata ?item; geo:hasCentroid/geo:asWKT ?here.\n  ?item wdt:P625 ?there.\n  BIND(geof:distance(?here, ?there, uom:metre) AS ?metres)\n  SERVICE wikibase:label { bd:serviceParam wikibase:language "en,mul". }\n}\nORDER BY DESC(?metres)\nLIMIT 200\n',
  },
  {
    title: t('elementsByWhatTheirItems'),
    language: 'sparql',
    needs: ['elements', 'triples'],
    query:
      'SELECT ?element ?item ?itemLabel ?class ?classLabel WHERE {\n  ?element osm2rdfkey:wikidata ?item.\n  ?item wdt:P31 ?class.\n  SERVICE wikibase:label { bd:serviceParam wikibase:language "en,mul". }\n}\nLIMIT 500\n',
  },
  {
    title: t('shopsInEachMunicipality'),
    language: 'sparql',
    needs: ['elements'],
    query: 'SELECT ?town ?name (COUNT(?shop) AS ?shops) WHERE {\n  ?town osmkey:admin_level 8; osmkey:name ?name; ogc:sfContains ?shop.\n  ?shop osmkey:shop ?kind.\n}\nGROUP BY ?town ?name\nORDER BY DESC(?shops)\n',
  },
  {
    title: t('busRoutesAndTheirMembersAs'),
    language: 'sparql',
    needs: ['elements'],
    query: '#defaultView:Graph\nSELECT ?route ?routeLabel ?member ?edgeLabel WHERE {\n  ?route osmkey:route "bus"; osmkey:name ?routeLabel; osmrel:member ?place.\n  ?place osmrel:member_id ?member; osmrel:member_role ?edgeLabel.\n  FILTER(?edgeLabel != "")\n}\nLIMIT 400\n',
  },
  {
    title: t('anOverpassQueryCountedBy'),
    language: 'sparql',
    needs: ['elements'],
    query:
      'SELECT ?cuisine (COUNT(?place) AS ?places) WHERE {\n  SERVICE terrapin:overpass {\n    [] terrapin:query "nwr[amenity=restaurant][cuisine];out;"; terrapin:element ?place.\n  }\n  ?place osmkey:cuisine ?cuisine.\n}\nGROUP BY ?cuisine\nORDER BY DESC(?places)\n',
  },
];

/** The examples that are about something this snapshot has. */
export function fitting({ counts, triples }: Snapshot): Example[] {
  const has: Record<Part, boolean> = { elements: counts.nodes > 0, triples: triples !== null };
  const languages = labelLanguages().join();
  return examples().filter((example) => example.needs.every((part) => has[part])).map((example) => ({ ...example, query: example.query.replaceAll('"en,mul"', `"${languages}"`) }));
}

/** Counts the rows of an example; null if that takes too long, fails, or only running it tells. */
export async function tried(example: Example, around: Surroundings, signal: AbortSignal): Promise<number | null> {
  try {
    if (example.language === 'sparql') {
      // Labels are not counted, and cost most.
      const bare = example.query.replace(/\s*SERVICE wikibase:label \{[^}]*\}/, '');
      const inner = (bare === example.query ? bare : bare.replace(/(\?\w+)Label/g, '')).replace(/GROUP BY (\?\w+)\s*$/m, 'GROUP BY $1');
      const rows = await sparql(`SELECT (COUNT(*) AS ?n) WHERE { { ${inner} } }`, { signal, seconds: 5 });
      return Number(rows[0]?.n?.value ?? 0);
    }
    // Rows that are derived cannot be counted without making them.
    if (/\b(for|foreach|make|convert)\b/.test(example.query)) return null;
    const { text } = await expand(example.query, around);
    const counted = text.replace(/\[out:csv\([^)]*\)\]/, '[out:json]').replace(/\[timeout:\d+\]/, '[timeout:5]').replace(/\bout(\s+(geom|center|\d+))*;\s*$/, 'out count;');
    const { elements } = await overpass<{ tags?: { total?: string } }>(counted, signal);
    return Number(elements[0]?.tags?.total ?? 0);
  } catch {
    return null;
  }
}

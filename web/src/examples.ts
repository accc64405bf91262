// A shelf of queries. Each is tried on this snapshot when the shelf is opened, and says how much it finds here.

import type { Language } from './link';
import { overpass, sparql } from './service';
import { expand, type Surroundings } from './shortcuts';

export interface Example {
  title: string;
  language: Language;
  query: string;
}

export const EXAMPLES: Example[] = [
  {
    title: 'Cafés in view',
    language: 'overpassql',
    query: '[out:json][timeout:25];\n// What the map shows is the box.\nnode[amenity=cafe]({{bbox}});\nout;\n',
  },
  {
    title: 'Schools, with their grounds',
    language: 'overpassql',
    query: '[out:json][timeout:25];\nnwr[amenity=school]({{bbox}});\nout geom;\n',
  },
  {
    title: 'Restaurants by cuisine, coloured',
    language: 'overpassql',
    query:
      '[out:json][timeout:25];\nnwr[amenity=restaurant][cuisine]({{bbox}});\nout center;\n\n{{style:\n  node[cuisine=~/pizza|italian/] { color: #b91c1c; fill-color: #ef4444; text: name; }\n  node[cuisine=~/chinese|asian|japanese|sushi/] { color: #a16207; fill-color: #eab308; text: name; }\n}}\n',
  },
  {
    title: 'Bus stops within 100 m of a school',
    language: 'overpassql',
    query: '[out:json][timeout:25];\nnwr[amenity=school]({{bbox}})->.schools;\nnode(around.schools:100)[highway=bus_stop];\nout;\n',
  },
  {
    title: 'Castles, forts and ruins',
    language: 'overpassql',
    query: '[out:json][timeout:25];\nnwr[historic~"^(castle|fort|ruins|archaeological_site)$"]({{bbox}});\nout geom;\n',
  },
  {
    title: 'Bus routes with their stops',
    language: 'overpassql',
    query: '[out:json][timeout:25];\nrel[type=route][route=bus]({{bbox}});\nout geom 20;\n',
  },
  {
    title: 'Municipalities as areas',
    language: 'overpassql',
    query: '[out:json][timeout:25];\nrel[boundary=administrative][admin_level=8]({{bbox}});\nout geom;\n',
  },
  {
    title: 'Named places as a table',
    language: 'overpassql',
    query: '[out:csv(::type, ::id, ::lat, ::lon, name, place, population)][timeout:25];\nnode[place][name]({{bbox}});\nout;\n',
  },
  {
    title: 'Streets by length',
    language: 'overpassql',
    query: '[out:json][timeout:25];\nway[highway][name]({{bbox}});\nfor (t["name"])\n{\n  make street name=_.val, pieces=count(ways), metres=sum(length());\n  out;\n}\n',
  },
  {
    title: 'Every building in view',
    language: 'overpassql',
    query: '[out:json][timeout:60];\nwr[building]({{bbox}});\nout geom;\n',
  },
  {
    title: 'What is where: all that has coordinates',
    language: 'sparql',
    query: 'SELECT ?item ?itemLabel ?place WHERE {\n  ?item wdt:P625 ?place.\n  SERVICE wikibase:label { bd:serviceParam wikibase:language "en,mul". }\n}\nLIMIT 2000\n',
  },
  {
    title: 'The commonest classes',
    language: 'sparql',
    query: 'SELECT ?class ?classLabel (COUNT(?item) AS ?items) WHERE {\n  ?item wdt:P31 ?class.\n  SERVICE wikibase:label { bd:serviceParam wikibase:language "en,mul". }\n}\nGROUP BY ?class ?classLabel\nORDER BY DESC(?items)\nLIMIT 50\n',
  },
  {
    title: 'The largest populations',
    language: 'sparql',
    query: 'SELECT ?item ?itemLabel ?people ?place WHERE {\n  ?item wdt:P1082 ?people.\n  OPTIONAL { ?item wdt:P625 ?place. }\n  SERVICE wikibase:label { bd:serviceParam wikibase:language "en,mul". }\n}\nORDER BY DESC(?people)\nLIMIT 100\n',
  },
  {
    title: 'By date of foundation',
    language: 'sparql',
    query: 'SELECT ?item ?itemLabel ?begun ?place WHERE {\n  ?item wdt:P571 ?begun.\n  OPTIONAL { ?item wdt:P625 ?place. }\n  SERVICE wikibase:label { bd:serviceParam wikibase:language "en,mul". }\n}\nORDER BY ?begun\nLIMIT 200\n',
  },
];

/** How much an example finds; nothing where that takes too long, or fails. */
export async function tried(example: Example, around: Surroundings, signal: AbortSignal): Promise<number | null> {
  try {
    if (example.language === 'sparql') {
      const inner = example.query.replace(/\s*SERVICE wikibase:label \{[^}]*\}/, '').replace(/(\?\w+)Label/g, '').replace(/GROUP BY (\?\w+)\s*$/m, 'GROUP BY $1');
      const rows = await sparql(`SELECT (COUNT(*) AS ?n) WHERE { { ${inner} } }`, signal);
      return Number(rows[0]?.n?.value ?? 0);
    }
    const { text } = await expand(example.query, around);
    const counted = text.replace(/\[out:csv\([^)]*\)\]/, '[out:json]').replace(/\[timeout:\d+\]/, '[timeout:5]').replace(/for \([\s\S]*$/, 'out count;').replace(/\bout(\s+(geom|center|\d+))*;\s*$/, 'out count;');
    const { elements } = await overpass<{ tags?: { total?: string } }>(counted, signal);
    return Number(elements[0]?.tags?.total ?? 0);
  } catch {
    return null;
  }
}

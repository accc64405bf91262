// The language that a text is written in, where it is not the one that is chosen.

import { looksLikeSparql, type Language } from '../link';

/** The beginning of a query in OverpassQL or its XML form. */
const OVERPASS = /^(?:\[\s*(?:out|timeout|maxsize|bbox|date|diff|adiff)\b|<(?:osm-script|query|union)\b|\(?\s*(?:node|way|rel|relation|nwr|nw|nr|wr|area|is_in)\s*[[(.{;])/i;

/** Returns the other language if the text looks as if it is written in it. */
export function otherLanguage(text: string, chosen: Language): Language | null {
  if (chosen === 'overpassql') return looksLikeSparql(text) && text.includes('{') ? 'sparql' : null;
  const bare = text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '').trimStart();
  return OVERPASS.test(bare) ? 'overpassql' : null;
}

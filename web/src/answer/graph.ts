// What the rows of an answer link: things as nodes, and between them what a row says. Of rows of a SELECT the first thing that a
// row names is linked with each of the others, of triples the subject with the object.

import type { Graph, Link, Node } from './model';
import { cellOfTerm, type Read, type Term } from './table';

/** More nodes, and more links between them, than that nobody can tell apart. */
const NODES = 300;
const LINKS = 900;
/** Labels of one link that rows give. */
const LABELS = 3;

const TRIPLE = ['subject', 'predicate', 'object'];
const NAMING = /(rdf-schema#label|schema\.org\/name|core#prefLabel)$/;
const PREDICATE = /^https?:\/\/www\.wikidata\.org\/prop\//;

/** A thing that a row names. */
interface Named {
  id: string;
  name: string;
  column: number;
  label: string;
}

/** What a row links, as it says it. */
interface Said {
  things: Named[];
  /** What the link is called; for each column where that differs. */
  link(column: number): string;
}

/** The nodes that a row names. */
export const named = (found: Read, index: number): string[] => (found.kind === 'solutions' ? said(found, index).things.map((thing) => thing.id) : []);

/** Whether a row links two things. */
export const linked = (found: Read): boolean => found.kind === 'solutions' && found.rows.some(({ terms = [] }, i) => terms.filter(isThing).length > 1 && new Set(named(found, i)).size > 1);

const isThing = (term: Term | undefined): boolean => term !== undefined && term.type !== 'literal';

/** The graph of some rows without a layout. Labels that rows do not have are the things' names. */
export function graph(found: Read, rows: Iterable<number> = found.rows.keys()): Graph {
  const places = new Map<string, number>();
  const nodes: Node[] = [];
  const links = new Map<string, Link & { labels: Set<string> }>();
  const left = { nodes: new Set<string>(), links: new Set<string>() };
  for (const row of rows) {
    const { things, link } = said(found, row);
    for (const { id, name, column, label } of things) {
      const place = places.get(id);
      const node = place === undefined ? undefined : nodes[place];
      if (node) {
        if (node.label === node.name && label) node.label = label;
      } else if (nodes.length < NODES) {
        places.set(id, nodes.length);
        nodes.push({ id, name, label: label || name, column, row, x: 0, y: 0 });
      } else left.nodes.add(id);
    }
    const [first, ...others] = things;
    for (const other of others) {
      if (!first || first.id === other.id) continue;
      const key = `${first.id} ${other.id}`;
      const [from, to] = [places.get(first.id), places.get(other.id)];
      const known = links.get(key);
      if (known) {
        if (known.labels.size < LABELS) known.labels.add(link(other.column));
      } else if (from === undefined || to === undefined || links.size >= LINKS) left.links.add(key);
      else links.set(key, { from, to, label: '', labels: new Set([link(other.column)]) });
    }
  }
  const drawn = [...links.values()].map(({ from, to, labels }) => ({ from, to, label: [...labels].filter(Boolean).join(', ') }));
  return { columns: found.columns, nodes, links: drawn, more: { nodes: left.nodes.size, links: left.links.size } };
}

function said(found: Read, index: number): Said {
  const terms = found.rows[index]?.terms ?? [];
  return TRIPLE.every((name, i) => found.columns[i] === name) && found.columns.length === 3 ? triple(terms) : solution(found.columns, terms);
}

function triple([subject, predicate, object]: (Term | undefined)[]): Said {
  const about = thing(subject, 0);
  const value = thing(object, 2);
  const isName = object?.type === 'literal' && NAMING.test(String(predicate?.value));
  if (about && isName) about.label = String(object.value);
  return { things: [about, value].filter((each) => each !== null), link: () => shortened(predicate) };
}

function solution(columns: string[], terms: (Term | undefined)[]): Said {
  const labels = new Map(columns.map((name, i) => [name, terms[i]?.type === 'literal' ? String(terms[i].value) : '']));
  const labelOf = (column: number) => labels.get(`${columns[column]}Label`) ?? '';
  const things: Named[] = [];
  let predicate = labels.get('edgeLabel') ?? '';
  terms.forEach((term, column) => {
    if (term?.type !== 'uri') return;
    if (PREDICATE.test(String(term.value))) {
      predicate ||= labelOf(column) || shortened(term);
      return;
    }
    const found = thing(term, column);
    // What has no page here is an address or a word of a vocabulary.
    if (found?.id.startsWith('/')) things.push({ ...found, label: labelOf(column) });
  });
  return { things, link: (column) => predicate || (columns[column] ?? '') };
}

function thing(term: Term | undefined, column: number): Named | null {
  if (!term || !isThing(term) || typeof term.value !== 'string') return null;
  const { text, href } = cellOfTerm(term);
  return { id: href ?? text, name: shortened(term), column, label: '' };
}

/** The last part of an IRI that tells something. */
function shortened(term: Term | undefined): string {
  const { text } = cellOfTerm(term);
  return /^https?:/.test(text) ? decoded(text.replace(/[/#]$/, '').replace(/^.*[/#]/, '')) : text;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

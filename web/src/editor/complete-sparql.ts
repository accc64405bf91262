// Completion in SPARQL: words of the language and of the vocabularies that need no declaration, variables of the text, and what
// the snapshot has: items and properties by label, keys and values of elements.

import type { Completion, CompletionContext, CompletionResult } from '@codemirror/autocomplete';
import { count } from '../dom';
import { words } from './complete';
import { FUNCTIONS, KEYWORDS, PREFIXES, services, terms } from './sparql';
import { entities, keys, values, type Counted } from './vocabulary';

/** Where a word with a prefix may begin. */
const BEFORE = '(?:^|[\\s/|^(!{;,*+=<])';
const WIKIDATA = new RegExp(`${BEFORE}(wd|wdt|p|ps|pq|psv|pr|wdno):([\\p{L}\\p{N}_ -]*)$`, 'u');
const KEY = new RegExp(`${BEFORE}(osmkey|osm2rdfkey):([\\p{L}\\p{N}_:.-]*)$`, 'u');
const VALUE = /\bosmkey:([\p{L}\p{N}_:.-]*[\p{L}\p{N}_-])\s+(["']?)([^"'\s;.?$<{}][^"';?$<{}]*)?$/u;
const TERM = new RegExp(`${BEFORE}(\\w+):(\\w*)$`);

export async function completeSparql(context: CompletionContext): Promise<CompletionResult | null> {
  const line = context.state.doc.lineAt(context.pos);
  const before = line.text.slice(0, context.pos - line.from);
  if (/(^|\s)#[^<>"]*$/.test(before)) return null;
  const value = VALUE.exec(before);
  if (value && (value[2] || value[3] || context.explicit)) return tagged(context, value[1] ?? '', value[2] ?? '', value[3] ?? '');
  const key = KEY.exec(before);
  if (key) return keyed(context, key[1] === 'osm2rdfkey', key[2] ?? '');
  const name = WIKIDATA.exec(before);
  if (name) return named(context, name[1] === 'wd' ? 'item' : 'property', name[2] ?? '');
  const term = TERM.exec(before);
  if (term) return spoken(context, term[1] ?? '', term[2] ?? '');
  const variable = context.matchBefore(/[?$][\p{L}\p{N}_]*/u);
  if (variable) {
    const names = new Set([...context.state.doc.toString().matchAll(/[?$][\p{L}\p{N}_]+/gu)].map((match) => match[0]));
    names.delete(variable.text);
    return { from: variable.from, options: words([...names].sort(), 'variable'), validFor: /^[?$][\p{L}\p{N}_]*$/u };
  }
  const word = context.matchBefore(/[\p{L}_][\p{L}\p{N}_]*/u);
  if (!word && !context.explicit) return null;
  const prefixes = Object.entries(PREFIXES).map(([prefix, iri]): Completion => ({ label: `${prefix}:`, detail: iri, type: 'namespace' }));
  const called = services().map(([label, detail, apply]): Completion => ({ label, detail, apply, type: 'keyword' }));
  return {
    from: word?.from ?? context.pos,
    options: [...words(KEYWORDS, 'keyword'), ...words(FUNCTIONS, 'function'), ...prefixes, ...called],
    validFor: /^[\p{L}\p{N}_]*$/u,
  };
}

/** Items or properties by label. */
async function named(context: CompletionContext, kind: 'item' | 'property', typed: string): Promise<CompletionResult | null> {
  const part = typed.trim();
  if (!part) return null;
  const found = await entities(kind, part).catch(() => []);
  if (context.aborted || !found.length) return null;
  const options = found.map(({ id, label, description }, i): Completion => ({
    label: `${label}`,
    detail: id,
    info: description || undefined,
    type: kind === 'item' ? 'class' : 'property',
    boost: 50 - i,
    apply: id,
  }));
  return { from: context.pos - typed.length, options, filter: false };
}

/** Keys of elements, those that a prefixed name can have; of `osm2rdfkey:` those whose values are items. */
async function keyed(context: CompletionContext, isLink: boolean, part: string): Promise<CompletionResult | null> {
  const found = await keys(isLink && !part.includes('wikidata') ? 'wikidata' : part).catch(() => []);
  if (context.aborted) return null;
  const fitting = found.filter(({ text }) => /^[\p{L}\p{N}_](?:[\p{L}\p{N}_:.-]*[\p{L}\p{N}_-])?$/u.test(text) && (!isLink || (/(^|:)wikidata$/.test(text) && text.includes(part))));
  return { from: context.pos - part.length, options: fitting.map(option(({ text }) => text)), filter: false };
}

/** Values of a key. */
async function tagged(context: CompletionContext, key: string, quote: string, part: string): Promise<CompletionResult | null> {
  const found = await values(key, part).catch(() => []);
  if (context.aborted) return null;
  const literal = (text: string) => {
    const escaped = text.replace(/[\\"]/g, '\\$&').replace(/\n/g, '\\n');
    // Levels are numbers, all else is text.
    if (key === 'admin_level' && /^\d+$/.test(text) && !quote) return text;
    return quote ? escaped : `"${escaped}"`;
  };
  return { from: context.pos - part.length, options: found.map(option(({ text }) => literal(text))), filter: false };
}

const option =
  (apply: (found: Counted) => string) =>
  (found: Counted, i: number): Completion => ({ label: found.text, detail: count(found.count), type: 'property', boost: 50 - i, apply: apply(found) });

/** Words of a vocabulary, with what they say. */
function spoken(context: CompletionContext, prefix: string, part: string): CompletionResult | null {
  const known = terms()[prefix];
  if (!known) return null;
  const options = Object.entries(known).map(([label, info]): Completion => ({ label, info, type: 'property' }));
  return { from: context.pos - part.length, options, validFor: /^\w*$/ };
}

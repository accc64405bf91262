// Completion in OverpassQL: words of the language, named sets and variables of the text, and what the snapshot has.

import type { Completion, CompletionContext, CompletionResult } from '@codemirror/autocomplete';
import { count } from '../dom';
import * as overpass from './overpass';
import { keys, values, type Counted } from './vocabulary';

/** Words as they are. */
export const words = (list: string[], type: string, after = ''): Completion[] => list.map((label) => ({ label, type, apply: label + after }));

export async function completeOverpass(context: CompletionContext): Promise<CompletionResult | null> {
  const before = context.state.sliceDoc(0, context.pos);
  if (/\/\/[^\n]*$/.test(before)) return null;
  const shortcut = /\{\{(\w*)$/.exec(before);
  if (shortcut) return { from: context.pos - (shortcut[1] ?? '').length, options: words(overpass.SHORTCUTS, 'macro'), validFor: /^\w*$/ };

  // Within brackets: settings before the first statement, a key, or a value.
  const bracket = /\[((?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^\]["'])*(?:["'][^"'\]]*)?)$/.exec(before);
  if (bracket) {
    const inside = bracket[1] ?? '';
    const head = before.slice(0, before.length - inside.length - 1).replace(/\[[^\]]*\]|\/\*[\s\S]*?\*\/|\/\/[^\n]*|\s/g, '');
    if (head === '') {
      const format = /^\s*out\s*:\s*(\w*)$/.exec(inside);
      if (format) return { from: context.pos - (format[1] ?? '').length, options: words(overpass.FORMATS, 'constant'), validFor: /^\w*$/ };
      const setting = /^\s*(\w*)$/.exec(inside);
      if (setting) return { from: context.pos - (setting[1] ?? '').length, options: words(overpass.SETTINGS, 'keyword', ':'), validFor: /^\w*$/ };
      return null;
    }
    const value = /^\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|([^"'\s=~!]+))\s*(=|!=|~|!~)\s*(["']?)([^"']*)$/.exec(inside);
    if (value) {
      const key = value[1] ?? value[2] ?? value[3] ?? '';
      const part = value[6] ?? '';
      // Of alternatives the last one.
      const last = (value[4] ?? '').includes('~') ? part.replace(/^.*[|^(]/, '') : part;
      return counted(context, last, value[5] ?? '', () => values(key, last));
    }
    const key = /^\s*!?\s*(["']?)([^"'=~!]*)$/.exec(inside);
    if (key) return counted(context, key[2] ?? '', key[1] ?? '', () => keys(key[2] ?? ''));
    return null;
  }

  const set = /(->\s*\.|(?:^|[\s;(\])}a-z])\.)(\w*)$/.exec(before);
  if (set && /(->\s*\.|[a-z\]);\s(]\.)\w*$/.test(before)) {
    const names = new Set([...context.state.doc.toString().matchAll(/->\s*\.(\w+)/g)].map((match) => match[1] ?? ''));
    names.delete(set[2] ?? '');
    return { from: context.pos - (set[2] ?? '').length, options: words(['_', ...names], 'variable'), validFor: /^\w*$/ };
  }
  const word = context.matchBefore(/[A-Za-z_]\w*/);
  if (!word && !context.explicit) return null;
  const from = word?.from ?? context.pos;
  const lead = before.slice(0, before.length - (word?.text.length ?? 0));
  if (/\bout\b[^;]*$/.test(lead)) return { from, options: words(overpass.MODES, 'keyword'), validFor: /^\w*$/ };
  if (/\b(?:node|way|rel|relation|nwr|nw|nr|wr|area)(?:\.\w+)?(?:\[[^\]]*\]|\([^()]*\))*\(\s*$/.test(lead)) {
    const options: Completion[] = overpass.FILTERS.map((label) => ({ label, type: 'function', apply: /^(around|poly|id|user|uid|newer|changed|if)$/.test(label) ? `${label}:` : label === 'area' ? 'area.' : label }));
    return { from, options: [{ label: '{{bbox}}', type: 'macro' }, ...options], validFor: /^\w*$/ };
  }
  return { from, options: [...words(overpass.TYPES, 'type'), ...words(overpass.STATEMENTS, 'keyword')], validFor: /^\w*$/ };
}

/** What the snapshot has, with counts; quoted where the language wants it. */
async function counted(context: CompletionContext, part: string, quote: string, ask: () => Promise<Counted[]>): Promise<CompletionResult | null> {
  let found: Counted[];
  try {
    found = await ask();
  } catch {
    return null;
  }
  if (context.aborted) return null;
  const options = found.map(({ text, count: n }, i): Completion => {
    const plain = /^[\p{L}_][\p{L}\p{N}_]*$/u.test(text) || quote !== '';
    const escaped = text.replace(/[\\"]/g, '\\$&');
    return { label: text, detail: count(n), type: 'property', boost: 50 - i, apply: plain ? escaped : `"${escaped}"` };
  });
  return { from: context.pos - part.length, options, filter: false };
}

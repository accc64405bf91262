// What stands under the mouse: identifiers of Wikidata with their label, tags with how often they are used.

import { hoverTooltip, type EditorView, type Tooltip } from '@codemirror/view';
import { count, h } from '../dom';
import type { Language } from '../link';
import { combinations, entity_of, keys, values } from './vocabulary';

export const hover = (language: () => Language) =>
  hoverTooltip(async (view, at) => (language() === 'sparql' ? entity(view, at) : tag(view, at)), { hoverTime: 250 });

async function entity(view: EditorView, at: number): Promise<Tooltip | null> {
  const found = within(view, at, /\b(?:wd|wdt|p|ps|pq|psv|pr|wdno):([QPL]\d+)/g);
  if (!found) return null;
  const known = await entity_of(found.match[1] ?? '').catch(() => undefined);
  if (!known || known.label === known.id) return null;
  return shown(found, h('div', {}, h('strong', {}, known.label), ` ${known.id}`), known.description);
}

async function tag(view: EditorView, at: number): Promise<Tooltip | null> {
  const found = within(view, at, /\[\s*!?\s*(?:"([^"]+)"|'([^']+)'|([^\]\s"'=~!:]+))\s*(?:(=)\s*(?:"([^"]*)"|'([^']*)'|([^\]"'\s]+)))?/g);
  if (!found) return null;
  const key = found.match[1] ?? found.match[2] ?? found.match[3] ?? '';
  const value = found.match[5] ?? found.match[6] ?? found.match[7];
  const same = (text: string) => (entry: { text: string }) => entry.text === text;
  const uses = value === undefined ? (await keys(key)).find(same(key)) : (await values(key, value)).find(same(value));
  const title = h('div', {}, h('strong', {}, value === undefined ? key : `${key}=${value}`));
  if (!uses) return shown(found, title, 'Nothing in this snapshot has it.');
  const others = await combinations(key, value).catch(() => []);
  return shown(found, title, `${count(uses.count)} elements`, others.length ? `often with ${others.join(', ')}` : '');
}

interface Found {
  from: number;
  to: number;
  match: RegExpExecArray;
}

/** The match of a pattern in the line, at this place. */
function within(view: EditorView, at: number, pattern: RegExp): Found | undefined {
  const line = view.state.doc.lineAt(at);
  for (let match = pattern.exec(line.text); match; match = pattern.exec(line.text)) {
    const from = line.from + match.index;
    if (from <= at && at <= from + match[0].length) return { from, to: from + match[0].length, match };
  }
  return undefined;
}

function shown({ from, to }: Found, title: HTMLElement, ...lines: string[]): Tooltip {
  const dom = h('div', { class: 'cm-hover' }, title, ...lines.filter(Boolean).map((line) => h('div', {}, line)));
  return { pos: from, end: to, above: true, create: () => ({ dom }) };
}

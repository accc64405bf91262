// What stands under the mouse: identifiers of Wikidata with their label, tags with how often they are used, words of
// vocabularies with what they say.

import { hoverTooltip, type EditorView, type Tooltip } from '@codemirror/view';
import { h } from '../dom';
import type { Language } from '../link';
import { t } from '../text/lookup';
import { terms } from './sparql';
import { combinations, entity_of, keys, values } from './vocabulary';

export const hover = (language: () => Language) =>
  hoverTooltip(async (view, at) => (language() === 'sparql' ? ((await entity(view, at)) ?? (await tagOfElements(view, at)) ?? term(view, at)) : tag(view, at)), { hoverTime: 250 });

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
  return uses(found, key, found.match[5] ?? found.match[6] ?? found.match[7]);
}

/** `osmkey:amenity`, and `osmkey:amenity "cafe"`. */
async function tagOfElements(view: EditorView, at: number): Promise<Tooltip | null> {
  const found = within(view, at, /\bosmkey:([\p{L}\p{N}_:.-]*[\p{L}\p{N}_-])(?:\s+(?:"([^"]*)"|'([^']*)'|(\d+)\b))?/gu);
  return found ? uses(found, found.match[1] ?? '', found.match[2] ?? found.match[3] ?? found.match[4]) : null;
}

/** A word of a vocabulary. */
function term(view: EditorView, at: number): Tooltip | null {
  const found = within(view, at, /\b(\w+):(\w+)/g);
  const says = found && terms()[found.match[1] ?? '']?.[found.match[2] ?? ''];
  return found && says ? shown(found, h('div', {}, h('strong', {}, found.match[0])), says) : null;
}

/** How often a key or tag is used, and with what else. */
async function uses(found: Found, key: string, value: string | undefined): Promise<Tooltip | null> {
  const same = (text: string) => (entry: { text: string }) => entry.text === text;
  const known = value === undefined ? (await keys(key)).find(same(key)) : (await values(key, value)).find(same(value));
  const title = h('div', {}, h('strong', {}, value === undefined ? key : `${key}=${value}`));
  if (!known) return shown(found, title, t('nothingInThisSnapshotHasIt'));
  const others = await combinations(key, value).catch(() => []);
  return shown(found, title, t('nElements', { n: known.count }), others.length ? t('oftenWith', { tags: others.join(', ') }) : '');
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

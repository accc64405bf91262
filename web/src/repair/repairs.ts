// Why a query has no results or fails, by `/feedback`, and what would give it some: each is one click that edits the query
// and runs it.

import { count, h } from '../dom';
import type { Language } from '../link';
import { json } from '../service';
import { t } from '../text/lookup';

/** A query as it was written and as it was sent, and where places of the sent one are in the written one. */
export interface RunQuery {
  language: Language;
  text: string;
  query: string;
  origin: (at: number) => number;
}

interface Edit {
  /** Bytes of the query that was sent. */
  start: number;
  end: number;
  text: string;
}

interface Repair {
  title: string;
  results: number | null;
  lang: Language;
  edits: Edit[];
}

interface Feedback {
  warnings: { message: string; nearest: string[] }[];
  repairs?: Repair[];
}

/** What repairs do with the page. */
export interface RepairWiring {
  /** Puts a query into the editor and runs it. */
  adopt: (language: Language, text: string) => void;
  /** Shows all of the data on the map and runs the query again; nothing if the snapshot has no extent. */
  everywhere: (() => void) | null;
}

/** Explains and repairs a query: paragraphs and buttons, or nothing if there is nothing to say. */
export async function explain(sent: RunQuery, wiring: RepairWiring, signal?: AbortSignal): Promise<HTMLElement | null> {
  const body = JSON.stringify({ query: sent.query, lang: sent.language, sample: 1 });
  const said = await json<Feedback>('/feedback', { method: 'POST', body, headers: { 'Content-Type': 'application/json' }, signal }).catch(() => null);
  if (!said) return null;
  const warnings = said.warnings.map(({ message, nearest }) => h('li', {}, nearest.length ? `${message}. ${t('thereIs', { values: nearest.join(', ') })}` : message));
  const buttons = (said.repairs ?? []).map((repair) => button(repair, sent, wiring));
  if (!warnings.length && !buttons.length) return null;
  return h('div', { class: 'repairs' }, warnings.length > 0 && h('ul', {}, warnings), buttons.length > 0 && h('div', { class: 'repair-buttons', role: 'group', 'aria-label': t('repairs') }, buttons));
}

function button(repair: Repair, sent: RunQuery, wiring: RepairWiring): HTMLElement {
  const number = repair.results === null ? '' : count(repair.results);
  const [edit] = repair.edits;
  // The box of the map stays in the query: the map moves instead.
  if (edit && wiring.everywhere && !edit.text && /\{\{(bbox|wsen)\}\}/.test(original(edit, sent))) return item(t('searchAllOfTheData'), number, wiring.everywhere);
  const title = repair.title.slice(0, 1).toUpperCase() + repair.title.slice(1);
  return item(title, number, () => wiring.adopt(repair.lang, repaired(repair.edits, sent)));
}

function item(title: string, number: string, onclick: () => void): HTMLElement {
  return h('button', { type: 'button', class: 'button small repair', onclick }, h('span', {}, title), number && h('span', { class: 'count' }, number));
}

/** Returns the place in the written text of a byte of the sent text. */
function placeOf(at: number, { query, origin }: RunQuery): number {
  const bytes = new TextEncoder().encode(query);
  return origin(new TextDecoder().decode(bytes.subarray(0, at)).length);
}

/** Returns what the user wrote for the part of the sent query that an edit replaces. */
function original(edit: Edit, sent: RunQuery): string {
  return sent.text.slice(placeOf(edit.start, sent), placeOf(edit.end, sent));
}

/** Returns the written text with edits of the sent one. */
export function repaired(edits: Edit[], sent: RunQuery): string {
  let text = sent.text;
  for (const edit of [...edits].sort((a, b) => b.start - a.start)) {
    const start = placeOf(edit.start, sent);
    const end = Math.max(start, placeOf(edit.end, sent));
    text = text.slice(0, start) + edit.text + text.slice(end);
  }
  return text;
}

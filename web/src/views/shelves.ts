// What opens beside the buttons at the top: examples, history, links, what is served, keys.

import { copies } from '../clipboard';
import { TEXTS as CODE_TEXTS, open as openCode } from '../code/panel';
import { codeFor, type Repeated } from '../code/snippets';
import { frameFor } from '../embed/embed';
import { count, h, popover, rows } from '../dom';
import { tried, type Example } from '../examples';
import { forget, past, type Past } from '../history';
import { LANGUAGES, write as writeLink, type Language } from '../link';
import { headers, type Snapshot } from '../service';
import type { Surroundings } from '../shortcuts';
import { dateText } from '../text/formats';
import { t, type PlainKey } from '../text/lookup';
import { plain, wording } from '../wording';

/** Examples, each tried when the shelf opens: how much it finds here and now. */
export function exampleShelf(button: HTMLElement, examples: Example[], around: () => Surroundings, take: (example: Example) => void): void {
  const shelf = h('div', { class: 'shelf', role: 'dialog', 'aria-label': t('examples') });
  let control = new AbortController();
  shelf.addEventListener('beforetoggle', (event) => {
    control.abort();
    if ((event as ToggleEvent).newState !== 'open') return;
    control = new AbortController();
    shelf.replaceChildren();
    const found: [Example, HTMLElement][] = [];
    for (const language of Object.keys(LANGUAGES) as Language[]) {
      const own = examples.filter((one) => one.language === language);
      if (own.length) shelf.append(h('h2', {}, LANGUAGES[language]));
      for (const example of own) {
        const number = h('span', { class: 'count' }, '…');
        found.push([example, number]);
        shelf.append(h('button', { type: 'button', class: 'item', onclick: () => (shelf.hidePopover(), take(example)) }, h('span', {}, example.title), number));
      }
    }
    void fill(found, around(), control.signal);
  });
  popover(button, shelf);
}

async function fill(found: [Example, HTMLElement][], around: Surroundings, signal: AbortSignal): Promise<void> {
  for (const [example, number] of found) {
    if (signal.aborted) return;
    const results = await tried(example, around, signal);
    number.textContent = results === null ? '' : count(results);
    number.closest('button')?.classList.toggle('faint', results === 0);
  }
}

/** What was run before. */
export function historyShelf(button: HTMLElement, take: (entry: Past) => void): void {
  const shelf = h('div', { class: 'shelf', role: 'dialog', 'aria-label': t('history') });
  const item = (entry: Past) => {
    const short = entry.query.replace(/\[[^\]]*(out|timeout):[^\]]*\]/g, '').replace(/\/\/.*$/gm, '').replace(/\s+/g, ' ').replace(/^[; ]+/, '').slice(0, 110);
    return h('button', { type: 'button', class: 'item past', onclick: () => (shelf.hidePopover(), take(entry)) }, h('code', {}, short), h('span', { class: 'count' }, `${rows(entry.rows)} · ${dateText(new Date(entry.at), 'local')}`));
  };
  shelf.addEventListener('beforetoggle', (event) => {
    if ((event as ToggleEvent).newState !== 'open') return;
    const all = past();
    if (!all.length) return shelf.replaceChildren(h('p', { class: 'muted pad' }, t('queriesThatYouRunAreKept')));
    shelf.replaceChildren(...all.map(item), h('button', { type: 'button', class: 'item muted', onclick: () => (forget(), shelf.hidePopover()) }, t('forgetAll')));
  });
  popover(button, shelf);
}

export interface Shared {
  language: Language;
  /** The query as it was written. */
  text: string;
  view: [number, number, number] | undefined;
  snapshot: string;
}

/** What the page tells of what it shows. */
export interface Showing {
  shared(): Shared;
  /** The query without shortcuts, as the server is asked. */
  sent(): Promise<string>;
  /** The same with its server, for code that repeats it. */
  repeated(): Promise<Repeated>;
}

/** The query in another form of its language, by the server. */
async function converted(query: string, target: 'xml' | 'compact' | 'mapql'): Promise<string> {
  const answer = await fetch('/api/convert', { method: 'POST', body: new URLSearchParams({ data: query, target }), headers: headers() });
  const text = await answer.text();
  const found = /<pre>([\s\S]*?)<\/pre>/.exec(text)?.[1];
  if (!answer.ok || found === undefined) throw new Error(wording(text, answer.headers.get('content-type') ?? '', answer.status));
  return plain(found);
}

/** A link to query, map and snapshot, and lines that ask the same. */
export function shareShelf(button: HTMLElement, { shared, sent, repeated }: Showing): void {
  const field = h('input', { type: 'text', readonly: true, class: 'field', 'aria-label': t('link') });
  const run = h('input', { type: 'checkbox', id: 'share-run', checked: true });
  const update = () => {
    const { language, text, view, snapshot } = shared();
    field.value = writeLink({ query: text, language, view, run: run.checked, snapshot });
  };
  run.addEventListener('change', update);
  field.addEventListener('focus', () => field.select());
  const copied = (label: string, text: () => string | Promise<string>) => {
    const copy = h('button', { type: 'button', class: 'item' }, label);
    copies(copy, text);
    return copy;
  };
  const overpass = h(
    'div',
    {},
    h('h2', {}, t('theQueryWithoutShortcuts')),
    copied(t('copyItAsItIsSent'), sent),
    copied(t('copyItOnOneLine'), async () => converted(await sent(), 'compact')),
    copied(t('copyItAsXML'), async () => converted(await sent(), 'xml')),
  );
  const panel: HTMLElement = h(
    'div',
    { class: 'shelf share', role: 'dialog', 'aria-label': t('share') },
    h('h2', {}, t('linkToThisQueryMapAnd')),
    field,
    h('label', { class: 'check', for: 'share-run' }, run, t('runWhenOpened')),
    copied(t('copyTheLink'), () => field.value),
    copied(t('copyHTMLForAFrame'), () => frameFor(field.value)),
    h('h2', {}, t('toAskTheSameAgain')),
    copied(t('copyACURLLine'), async () => codeFor('curl', await repeated())),
    copied(t('copyPython'), async () => codeFor('python', await repeated())),
    h('button', { type: 'button', class: 'item', onclick: () => (panel.hidePopover(), void openCode(repeated)) }, CODE_TEXTS.more),
    overpass,
  );
  panel.addEventListener('beforetoggle', () => {
    update();
    overpass.hidden = shared().language !== 'overpassql';
  });
  popover(button, panel);
}

/** What is served. */
export function about(snapshot: Snapshot): HTMLElement {
  const { counts } = snapshot;
  return h(
    'div',
    { class: 'shelf about', role: 'dialog', 'aria-label': t('snapshot') },
    h('h2', {}, t('theSnapshotThatAnswers')),
    h(
      'dl',
      { class: 'pairs' },
      h('dt', {}, t('digest')),
      h('dd', {}, h('code', { class: 'break' }, snapshot.digest)),
      snapshot.content && [h('dt', {}, t('content')), h('dd', {}, h('code', { class: 'break' }, snapshot.content))],
      h('dt', {}, t('dataOf')),
      h('dd', {}, snapshot.data_time),
      h('dt', {}, t('elements')),
      h('dd', {}, t('nodesWaysRelationsAreas', { nodes: counts.nodes, ways: counts.ways, relations: counts.relations, areas: counts.areas })),
      snapshot.triples !== null && [h('dt', {}, t('triples')), h('dd', {}, count(snapshot.triples))],
      snapshot.sources.flatMap((source) => [h('dt', {}, t('source')), h('dd', {}, source.name, h('br'), h('span', { class: 'muted' }, source.licence))]),
      h('dt', {}, 'Terrapin'),
      h('dd', {}, snapshot.version),
    ),
    h('p', { class: 'pad' }, h('a', { href: '/services' }, t('services')), ' · ', h('a', { href: '/page/licences.txt' }, t('licencesOfThisPage'))),
  );
}

const KEYS: [keys: string, what: PlainKey][] = [
  ['Ctrl Enter', 'keyRun'],
  ['Ctrl Space', 'keyComplete'],
  ['Shift Alt F', 'layTheQueryOut'],
  ['Esc', 'leaveTheEditorStopClose'],
  ['F6', 'editorMapTable'],
  ['F8', 'nextProblem'],
  ['Ctrl /', 'commentALine'],
  ['Ctrl F', 'findInTheQuery'],
  ['↑ ↓ Enter', 'inTheTableGoShowOn'],
];

export function help(): HTMLElement {
  return h('div', { class: 'shelf narrow', role: 'dialog', 'aria-label': t('keys') }, h('h2', {}, t('keys')), h('dl', { class: 'pairs' }, ...KEYS.flatMap(([key, what]) => [h('dt', {}, h('kbd', {}, key)), h('dd', {}, t(what))])));
}

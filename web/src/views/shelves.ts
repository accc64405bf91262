// What opens beside the buttons at the top: examples, history, links, what is served, keys.

import { curl, python } from '../copy';
import { announce, count, h, popover, rows } from '../dom';
import { tried, type Example } from '../examples';
import { forget, past, type Past } from '../history';
import { LANGUAGES, write as writeLink, type Language } from '../link';
import { headers, type Snapshot } from '../service';
import type { Surroundings } from '../shortcuts';
import { plain, wording } from '../wording';

/** Examples, each tried when the shelf opens: how much it finds here and now. */
export function exampleShelf(button: HTMLElement, examples: Example[], around: () => Surroundings, take: (example: Example) => void): void {
  const shelf = h('div', { class: 'shelf', role: 'dialog', 'aria-label': 'Examples' });
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
  const shelf = h('div', { class: 'shelf', role: 'dialog', 'aria-label': 'History' });
  const item = (entry: Past) => {
    const short = entry.query.replace(/\[[^\]]*(out|timeout):[^\]]*\]/g, '').replace(/\/\/.*$/gm, '').replace(/\s+/g, ' ').replace(/^[; ]+/, '').slice(0, 110);
    return h('button', { type: 'button', class: 'item past', onclick: () => (shelf.hidePopover(), take(entry)) }, h('code', {}, short), h('span', { class: 'count' }, `${rows(entry.rows)} · ${new Date(entry.at).toLocaleString()}`));
  };
  shelf.addEventListener('beforetoggle', (event) => {
    if ((event as ToggleEvent).newState !== 'open') return;
    const all = past();
    if (!all.length) return shelf.replaceChildren(h('p', { class: 'muted pad' }, 'Queries that you run are kept here, in this browser alone.'));
    shelf.replaceChildren(...all.map(item), h('button', { type: 'button', class: 'item muted', onclick: () => (forget(), shelf.hidePopover()) }, 'Forget all'));
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
export function shareShelf(button: HTMLElement, { shared, sent }: Showing): void {
  const field = h('input', { type: 'text', readonly: true, class: 'field', 'aria-label': 'Link' });
  const run = h('input', { type: 'checkbox', id: 'share-run', checked: true });
  const update = () => {
    const { language, text, view, snapshot } = shared();
    field.value = writeLink({ query: text, language, view, run: run.checked, snapshot });
  };
  run.addEventListener('change', update);
  field.addEventListener('focus', () => field.select());
  const copied = (label: string, text: () => string | Promise<string>) => {
    const copy = h('button', { type: 'button', class: 'item' }, label);
    copy.addEventListener('click', async () => {
      try {
        const line = await text();
        await navigator.clipboard.writeText(line).catch(() => {
          throw new Error('The browser does not allow it');
        });
        copy.textContent = 'Copied';
      } catch (problem) {
        copy.textContent = ((problem as Error).message.split('\n')[0] ?? '').slice(0, 200);
      }
      announce(copy.textContent ?? '');
      setTimeout(() => (copy.textContent = label), 2500);
    });
    return copy;
  };
  const overpass = h(
    'div',
    {},
    h('h2', {}, 'The query without shortcuts'),
    copied('Copy it as it is sent', sent),
    copied('Copy it on one line', async () => converted(await sent(), 'compact')),
    copied('Copy it as XML', async () => converted(await sent(), 'xml')),
  );
  const panel = h(
    'div',
    { class: 'shelf share', role: 'dialog', 'aria-label': 'Share' },
    h('h2', {}, 'Link to this query, map and snapshot'),
    field,
    h('label', { class: 'check', for: 'share-run' }, run, 'Run when opened'),
    copied('Copy the link', () => field.value),
    h('h2', {}, 'To ask the same again'),
    copied('Copy a cURL line', async () => curl(shared().language, await sent(), location.origin)),
    copied('Copy Python', async () => python(shared().language, await sent(), location.origin)),
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
    { class: 'shelf about', role: 'dialog', 'aria-label': 'Snapshot' },
    h('h2', {}, 'The snapshot that answers'),
    h(
      'dl',
      { class: 'pairs' },
      h('dt', {}, 'Digest'),
      h('dd', {}, h('code', { class: 'break' }, snapshot.digest)),
      snapshot.content && [h('dt', {}, 'Content'), h('dd', {}, h('code', { class: 'break' }, snapshot.content))],
      h('dt', {}, 'Data of'),
      h('dd', {}, snapshot.data_time),
      h('dt', {}, 'Elements'),
      h('dd', {}, `${count(counts.nodes)} nodes, ${count(counts.ways)} ways, ${count(counts.relations)} relations, ${count(counts.areas)} areas`),
      snapshot.triples !== null && [h('dt', {}, 'Triples'), h('dd', {}, count(snapshot.triples))],
      snapshot.sources.flatMap((source) => [h('dt', {}, 'Source'), h('dd', {}, source.name, h('br'), h('span', { class: 'muted' }, source.licence))]),
      h('dt', {}, 'Terrapin'),
      h('dd', {}, snapshot.version),
    ),
    h('p', { class: 'pad' }, h('a', { href: '/services' }, 'Services'), ' · ', h('a', { href: '/page/licences.txt' }, 'Licences of this page')),
  );
}

const KEYS: [string, string][] = [
  ['Ctrl Enter', 'run'],
  ['Ctrl Space', 'complete'],
  ['Shift Alt F', 'lay the query out'],
  ['Esc', 'leave the editor, stop, close'],
  ['F6', 'editor, map, table'],
  ['F8', 'next problem'],
  ['Ctrl /', 'comment a line'],
  ['Ctrl F', 'find in the query'],
  ['↑ ↓ Enter', 'in the table: go, show on the map'],
];

export function help(): HTMLElement {
  return h('div', { class: 'shelf narrow', role: 'dialog', 'aria-label': 'Keys' }, h('h2', {}, 'Keys'), h('dl', { class: 'pairs' }, ...KEYS.flatMap(([key, what]) => [h('dt', {}, h('kbd', {}, key)), h('dd', {}, what)])));
}

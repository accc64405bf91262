// Code to repeat the query in other programs: a dialog with a tab for each, and a button that copies.

import './code.css';
import { copies } from '../clipboard';
import { ICONS, h, icon, save } from '../dom';
import { setSetting, setting } from '../history';
import { arrowKeys } from '../keys';
import type { Language } from '../link';
import { hasToken, sourceName, type Snapshot } from '../service';
import { SNIPPETS, type Repeated, type Snippet } from './snippets';
import { t } from '../text/lookup';

export const TEXTS = {
  get button() { return t('code'); },
  get more() { return t('codeMore'); },
  get title() { return t('codeTitle'); },
  get programs() { return t('program'); },
  get close() { return t('close'); },
  get copy() { return t('copy'); },
  get save() { return t('saveAsAFile'); },
  needs: (what: string) => t('codeNeeds', { what }),
  get token() { return t('codeToken'); },
  failed: (why: string) => t('theQueryCannotBeSent', { why }),
};

/** The setting with the program that was shown last. */
const KEY = 'code';
const ICON = 'm5.5 4.5-3.5 3.5 3.5 3.5m5-7 3.5 3.5-3.5 3.5M9.2 3l-2.4 10';

/** Returns a button that opens the dialog. `repeated` gives the query as it is sent. */
export function codeButton(repeated: () => Promise<Repeated>): HTMLElement {
  return h('button', { type: 'button', class: 'button quiet only-icon code-button', 'aria-label': TEXTS.button, title: TEXTS.title, onclick: () => void open(repeated) }, icon(ICON));
}

/** Returns a query of this server with what its programs need. */
export function repeatedQuery(language: Language, query: string, { digest, sources }: Snapshot): Repeated {
  return { language, query, origin: location.origin, snapshot: `${sourceName(sources[0]?.name ?? '') || 'snapshot'}.terrapin`, digest, token: hasToken() };
}

/** Opens the dialog. It is made anew each time, as the query is another one. */
export async function open(repeated: () => Promise<Repeated>): Promise<void> {
  const dialog = h('dialog', { class: 'code-dialog', 'aria-label': TEXTS.title });
  dialog.addEventListener('close', () => dialog.remove());
  // A click beside the dialog closes it.
  dialog.addEventListener('click', (event) => event.target === dialog && dialog.close());
  const close = h('button', { type: 'button', class: 'button quiet only-icon', 'aria-label': TEXTS.close, onclick: () => dialog.close() }, icon(ICONS.close));
  const head = h('header', {}, h('h2', {}, TEXTS.title), h('span', { class: 'grow' }), close);
  let body: HTMLElement[];
  try {
    body = tabs(await repeated());
  } catch (problem) {
    body = [h('p', { class: 'pad' }, TEXTS.failed((problem as Error).message))];
  }
  dialog.append(h('div', { class: 'code-inner' }, head, ...body));
  document.body.append(dialog);
  dialog.showModal();
}

function tabs(repeated: Repeated): HTMLElement[] {
  const snippets = SNIPPETS.filter((snippet) => snippet.fits(repeated));
  const list = h('div', { role: 'tablist', class: 'tabs code-tabs', 'aria-label': TEXTS.programs });
  const code = h('pre', { tabindex: '0', role: 'tabpanel', id: 'code-panel' });
  const needs = h('p', { class: 'muted' });
  let shown: Snippet | undefined;
  const show = (snippet: Snippet) => {
    shown = snippet;
    code.textContent = snippet.text(repeated);
    code.setAttribute('aria-labelledby', `code-${snippet.id}`);
    needs.textContent = [TEXTS.needs([snippet.install, ...(snippet.needs ?? []).map((key) => t(key))].filter(Boolean).join('; ')), repeated.token && snippet.id !== 'python' && snippet.id !== 'terrapin' ? TEXTS.token : ''].filter(Boolean).join(' ');
    for (const tab of list.children) {
      const on = tab.id === `code-${snippet.id}`;
      tab.setAttribute('aria-selected', String(on));
      (tab as HTMLElement).tabIndex = on ? 0 : -1;
    }
    setSetting(KEY, snippet.id);
  };
  for (const snippet of snippets) list.append(h('button', { type: 'button', role: 'tab', id: `code-${snippet.id}`, 'aria-controls': 'code-panel', onclick: () => show(snippet) }, snippet.title));
  arrowKeys(list, () => [...list.children] as HTMLElement[], 'sides', (tab) => tab.click());
  const copy = h('button', { type: 'button', class: 'button primary' }, TEXTS.copy);
  copies(copy, () => code.textContent ?? '');
  const file = h('button', { type: 'button', class: 'button', onclick: () => save(new Blob([code.textContent ?? ''], { type: 'text/plain' }), shown?.file ?? 'query.txt') }, TEXTS.save);
  const first = snippets.find(({ id }) => id === setting(KEY)) ?? snippets[0];
  if (first) show(first);
  return [list, code, h('footer', {}, needs, h('span', { class: 'grow' }), file, copy)];
}

// Texts for the clipboard, also over plain HTTP, where browsers have no `navigator.clipboard`.

import { announce, h } from './dom';
import { t } from './text/lookup';

/** Milliseconds for which a button says that the text was copied. */
const SHOWN = 2500;

/** Copies a text. Returns whether the browser allowed it. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

/** Copies a text as the command "Copy" does, which needs no TLS. */
function copyBySelection(text: string): boolean {
  const focused = document.activeElement as HTMLElement | null;
  const field = h('textarea', { class: 'unseen', readonly: true, 'aria-hidden': 'true' });
  field.value = text;
  // Outside of an open dialog nothing can be selected.
  (focused?.closest('dialog, [popover]') ?? document.body).append(field);
  field.focus();
  field.select();
  try {
    return document.execCommand('copy');
  } catch {
    return false;
  } finally {
    field.remove();
    focused?.focus();
  }
}

/** Lets a button copy a text and say so, or what went wrong, for a moment. */
export function copies(button: HTMLElement, text: () => string | Promise<string>): void {
  const label = button.textContent;
  let waiting = 0;
  button.addEventListener('click', async () => {
    let said: string;
    try {
      said = t((await copyText(await text())) ? 'copied' : 'theBrowserDoesNotAllowIt');
    } catch (problem) {
      said = ((problem as Error).message.split('\n')[0] ?? '').slice(0, 200);
    }
    button.textContent = said;
    announce(said);
    clearTimeout(waiting);
    waiting = window.setTimeout(() => (button.textContent = label), SHOWN);
  });
}

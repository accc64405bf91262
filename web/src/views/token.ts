// The token that a server may want.

import { h } from '../dom';
import { setToken } from '../service';

/** Asks for the token that the server wants. */
export function askToken(then: () => void): void {
  const field = h('input', { type: 'password', class: 'field', 'aria-label': 'Token', autocomplete: 'off', autofocus: true });
  const dialog = h('dialog', { 'aria-label': 'Token' }, h('form', { method: 'dialog' }, h('p', {}, 'This server wants a token.'), field, h('button', { class: 'button primary' }, 'Go on')));
  document.body.append(dialog);
  dialog.addEventListener('close', () => {
    dialog.remove();
    if (!field.value) return;
    setToken(field.value);
    then();
  });
  dialog.showModal();
}

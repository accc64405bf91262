// The token that a server may want.

import { h } from '../dom';
import { hasToken, setToken } from '../service';

/** Asks for the token that the server wants; `otherwise` is what happens where none is given. */
export function askToken(then: () => void, otherwise: () => void = () => undefined): void {
  const field = h('input', { type: 'password', class: 'field', 'aria-label': 'Token', autocomplete: 'off', autofocus: true });
  const wanted = hasToken() ? 'This server does not take the token that it was given.' : 'This server wants a token.';
  const dialog = h('dialog', { 'aria-label': 'Token' }, h('form', { method: 'dialog' }, h('p', {}, wanted), field, h('button', { class: 'button primary' }, 'Go on')));
  document.body.append(dialog);
  dialog.addEventListener('close', () => {
    dialog.remove();
    if (!field.value) return otherwise();
    setToken(field.value);
    then();
  });
  dialog.showModal();
}

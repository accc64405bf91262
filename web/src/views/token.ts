// The token that a server may want.

import { h } from '../dom';
import { hasToken, setToken } from '../service';
import { t } from '../text/lookup';

/** Asks for the token that the server wants; `otherwise` is what happens where none is given. */
export function askToken(then: () => void, otherwise: () => void = () => undefined): void {
  const field = h('input', { type: 'password', class: 'field', 'aria-label': t('token'), autocomplete: 'off', autofocus: true });
  const wanted = hasToken() ? t('thisServerDoesNotTakeThe') : t('thisServerWantsAToken');
  const dialog = h('dialog', { 'aria-label': t('token') }, h('form', { method: 'dialog' }, h('p', {}, wanted), field, h('button', { class: 'button primary' }, t('goOn'))));
  document.body.append(dialog);
  dialog.addEventListener('close', () => {
    dialog.remove();
    if (!field.value) return otherwise();
    setToken(field.value);
    then();
  });
  dialog.showModal();
}

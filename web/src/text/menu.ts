// The menu of languages: that of the page, and that of labels, which follows it unless it is set apart.

import './text.css';
import { h, icon, popover } from '../dom';
import { PAGE_LANGUAGES, chooseLanguage, labelSetting, nameOfLanguage, setLabelSetting, type PageLanguage } from './languages';
import { locale, t } from './lookup';

/** Two letters, of two scripts. */
const ICON = 'M2 4h7M5.5 2.5V4M3 10.5c2.5-1.3 4-3.500 4.500-6.500M3.800 6c.7 1.800 2 3.100 3.700 4M8 14l3-7.500L14 14M9 11.500h4';

/** The language tag of names that are the same in all languages, and of names as they are on the spot. */
const LOCAL = 'mul';

export function languageMenu(): HTMLElement {
  const button = h('button', { type: 'button', class: 'button quiet only-icon', title: t('language'), 'aria-label': t('language') }, icon(ICON));
  const choose = (language: PageLanguage) => {
    chooseLanguage(language);
    // Drafts are kept, and the address has the query and the view of the last run.
    location.reload();
  };
  const languages = PAGE_LANGUAGES.map((language) =>
    h('button', { type: 'button', class: 'item', role: 'radio', 'aria-checked': String(language === locale()), lang: language, autofocus: language === locale(), onclick: () => choose(language) }, nameOfLanguage(language)),
  );
  const labels = h('select', { class: 'field', onchange: () => (setLabelSetting(labels.value), location.reload()) },
    h('option', { value: '' }, t('asThePage')),
    ...PAGE_LANGUAGES.map((language) => h('option', { value: language, lang: language }, nameOfLanguage(language))),
    h('option', { value: LOCAL }, t('localNames')),
  );
  labels.value = labelSetting() ?? '';
  const panel = h('div', { class: 'shelf language-menu', role: 'dialog', 'aria-label': t('language') },
    h('div', { class: 'languages', role: 'radiogroup', 'aria-label': t('languageOfThePage') }, languages),
    h('label', { class: 'labels' }, h('span', {}, t('languageOfLabels')), labels),
  );
  popover(button, panel);
  return h('span', { class: 'language' }, button);
}

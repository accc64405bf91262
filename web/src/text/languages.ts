// The languages of the page: which there are, which one is shown, and which one labels of the data have.

import { setSetting, setting, store, stored } from '../history';
import { en } from './en';
import { isRtl, useCatalogue, type Catalogue, type Texts } from './lookup';

/** Languages by tag (BCP 47): their own name, and their texts, which are loaded when they are needed. */
const LANGUAGES = {
  en: { name: 'English', load: async (): Promise<Texts> => en },
  de: { name: 'Deutsch', load: async (): Promise<Texts> => (await import('./text-de')).de },
  fr: { name: 'Français', load: async (): Promise<Texts> => (await import('./text-fr')).fr },
  es: { name: 'Español', load: async (): Promise<Texts> => (await import('./text-es')).es },
  it: { name: 'Italiano', load: async (): Promise<Texts> => (await import('./text-it')).it },
  pt: { name: 'Português', load: async (): Promise<Texts> => (await import('./text-pt')).pt },
  ja: { name: '日本語', load: async (): Promise<Texts> => (await import('./text-ja')).ja },
  zh: { name: '简体中文', load: async (): Promise<Texts> => (await import('./text-zh')).zh },
  ar: { name: 'العربية', load: async (): Promise<Texts> => (await import('./text-ar')).ar },
} as const;

export type PageLanguage = keyof typeof LANGUAGES;

export const PAGE_LANGUAGES = Object.keys(LANGUAGES) as PageLanguage[];

export const nameOfLanguage = (language: PageLanguage): string => LANGUAGES[language].name;

/** The key of the browser's storage for the language of the page, and for that of labels. */
const SETTING = 'language';
const LABELS = 'label-language';

/** Returns the language of the page for a tag such as `pt-BR`. */
export function pageLanguage(tag: string): PageLanguage | undefined {
  const main = tag.toLowerCase().split(/[-_]/)[0] ?? '';
  return PAGE_LANGUAGES.find((language) => language === main);
}

/** Returns the language of `?lang=` in the address, which counts for the tab. */
function ofTab(): string {
  const given = new URLSearchParams(location.search).get('lang') ?? '';
  if (!pageLanguage(given)) return stored(SETTING, '', 'sessionStorage');
  store(SETTING, given, 'sessionStorage');
  return given;
}

/**
 * Returns the language to show: that of the address, else the one that was chosen, else the browser's first one, else the
 * operator's, else the first known one of the browser's others. English is the last resort.
 */
export function chosenLanguage(ofOperator?: string | null): PageLanguage {
  const [first = '', ...others] = navigator.languages;
  const wanted = [ofTab(), setting(SETTING) ?? '', first, ofOperator ?? '', ...others];
  return wanted.map(pageLanguage).find((language) => language !== undefined) ?? 'en';
}

/** Keeps a choice of the user, which replaces that of the address. */
export function chooseLanguage(language: PageLanguage): void {
  setSetting(SETTING, language);
  store(SETTING, null, 'sessionStorage');
  const fields = new URLSearchParams(location.search);
  if (!pageLanguage(fields.get('lang') ?? '')) return;
  fields.delete('lang');
  history.replaceState(history.state, '', `${location.pathname}${fields.size ? `?${fields}` : ''}${location.hash}`);
}

let shown: Catalogue = { tag: 'en', texts: en };

/** The catalogue of the page, for workers. */
export const shownCatalogue = (): Catalogue => shown;

/** Loads the texts of a language and shows the page in it. English is shown if they cannot be loaded. */
export async function showLanguage(language: PageLanguage): Promise<void> {
  shown = await LANGUAGES[language].load().then((texts) => ({ tag: language, texts }), () => ({ tag: 'en', texts: en }));
  useCatalogue(shown);
  document.documentElement.lang = shown.tag;
  document.documentElement.dir = isRtl() ? 'rtl' : 'ltr';
}

/** Returns the language of labels that was set apart from that of the page; `null` if none was. */
export const labelSetting = (): string | null => (setting(LABELS) || null);

export const setLabelSetting = (tag: string): void => setSetting(LABELS, tag);

/** Returns the language of labels: names on the map, and labels of items and properties. */
export const labelLanguage = (): string => labelSetting() ?? shown.tag;

/** Returns the languages of labels with those that replace a missing one: the chosen one, English, names for all languages. */
export const labelLanguages = (): string[] => [...new Set([labelLanguage(), 'en', 'mul'])];

// Texts of the page in the language that is chosen: looked up by name, with values in them and the plural of the language.
// It holds no texts itself, so that the worker of answers, which gets them from the page, can use it as well.

import type { editorEn } from './editor-en';
import type { en } from './en';

export type TextKey = keyof typeof en;

/** A text that depends on the value `n`: one for each plural category of the language that differs. */
export type Plural = { other: string } & { [category in Intl.LDMLPluralRule]?: string };

/** The catalogue of a language: every text of the English one, of the same shape. */
export type Texts = { readonly [K in TextKey]: (typeof en)[K] extends string ? string : Plural };

/** The part of a catalogue that the editor shows. */
export type EditorTexts = Pick<Texts, keyof typeof editorEn>;

/** Names of the values in a text, from its `{name}`. */
type Names<S> = S extends `${string}{${infer Name}}${infer Rest}` ? Name | Names<Rest> : never;
type TextOf<K extends TextKey> = (typeof en)[K] extends { other: infer S } ? S : (typeof en)[K];

type Value = string | number;
/** Names of texts without values. */
export type PlainKey = { [K in TextKey]: Names<TextOf<K>> extends never ? K : never }[TextKey];

/** A language as the worker gets it. */
export interface Catalogue {
  /** The tag of the language (BCP 47). */
  tag: string;
  texts: Texts;
}

let texts: Texts | undefined;
let tag = 'en';
let plurals = new Intl.PluralRules(tag);
let numbers = new Intl.NumberFormat(tag);
let isRightToLeft = false;

/** Scripts that are written from right to left, by language. */
const RIGHT_TO_LEFT = new Set(['ar', 'fa', 'he', 'ur']);

/** From now on texts are those of a catalogue. */
export function useCatalogue(catalogue: Catalogue): void {
  ({ tag, texts } = catalogue);
  plurals = new Intl.PluralRules(tag);
  numbers = new Intl.NumberFormat(tag);
  isRightToLeft = RIGHT_TO_LEFT.has(tag);
}

/** Returns the language tag of the texts, for dates and numbers. */
export const locale = (): string => tag;

export const isRtl = (): boolean => isRightToLeft;

/** The keys that go to what is before and to what is after, in the direction of the language. */
export const sideKeys = (): [before: string, after: string] => (isRightToLeft ? ['ArrowRight', 'ArrowLeft'] : ['ArrowLeft', 'ArrowRight']);

/** Returns a number as the language writes it, such as 12,345. */
export const formatNumber = (value: number): string => numbers.format(value);

/** Returns the text of a name. Numbers among the values are formatted; `n` selects the plural. */
export function t<K extends TextKey>(key: K, ...[values]: Names<TextOf<K>> extends never ? [] : [Record<Names<TextOf<K>>, Value>]): string {
  const entry = texts?.[key] as string | Plural | undefined;
  if (entry === undefined) return key;
  const given = (values ?? {}) as Record<string, Value>;
  const pattern = typeof entry === 'string' ? entry : (entry[plurals.select(Number(given.n))] ?? entry.other);
  return pattern.replace(/\{(\w+)\}/g, (whole, name: string) => {
    const value = given[name];
    if (value === undefined) return whole;
    return typeof value === 'number' ? formatNumber(value) : isolated(value);
  });
}

/** Keeps a number with its unit from left to right within a text from right to left. */
export const measure = (text: string): string => (isRightToLeft ? `\u2066${text}\u2069` : text);

/** Keeps a value in its own direction within a text from right to left. */
const isolated = (value: string): string => (isRightToLeft ? `\u2068${value}\u2069` : value);

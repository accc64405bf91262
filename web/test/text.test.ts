// The catalogues have the same texts with the same values, and no text of the page is anywhere else.

import { readFileSync, readdirSync } from 'node:fs';
import { parseSync } from 'vite';
import { describe, expect, test } from 'vitest';
import { en } from '../src/text/en';
import { PAGE_LANGUAGES, chosenLanguage, pageLanguage, showLanguage, shownCatalogue } from '../src/text/languages';
import { t, useCatalogue, type Plural, type TextKey, type Texts } from '../src/text/lookup';

const KEYS = Object.keys(en) as TextKey[];
const forms = (entry: string | Plural): [string, string][] => (typeof entry === 'string' ? [['', entry]] : Object.entries(entry));
const values = (text: string): string[] => [...new Set([...text.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? ''))].sort();

Object.assign(globalThis, { document: { documentElement: {} } });
const catalogues: [string, Texts][] = [];
for (const language of PAGE_LANGUAGES) {
  await showLanguage(language);
  catalogues.push([language, shownCatalogue().texts]);
}
useCatalogue({ tag: 'en', texts: en });

describe.each(catalogues)('%s', (language, texts) => {
  test('has every text and no other', () => expect(Object.keys(texts).sort()).toEqual([...KEYS].sort()));

  test('has the values of the English texts', () => {
    const different = KEYS.flatMap((key) => {
      const wanted = values(forms(en[key]).at(-1)?.[1] ?? '');
      // One, two and none need no numeral.
      return forms(texts[key]).filter(([category, text]) => values(text).join() !== wanted.join() && !(['zero', 'one', 'two'].includes(category) && [...values(text), 'n'].sort().join() === wanted.join())).map(([category]) => `${key} ${category}`);
    });
    expect(different).toEqual([]);
  });

  test('has the plurals of the language', () => {
    // Where there is a category for millions (French, Spanish), `other` is right for it.
    const categories = new Intl.PluralRules(language).resolvedOptions().pluralCategories.filter((one) => language === 'ar' ? one !== 'zero' : one !== 'many');
    const lacking = KEYS.filter((key) => typeof en[key] !== 'string' && !categories.every((category) => category in (texts[key] as object)));
    expect(lacking).toEqual([]);
  });

  test('is translated', () => {
    const letters = KEYS.filter((key) => forms(texts[key]).some(([, text]) => !text.trim()));
    expect(letters).toEqual([]);
    if (language === 'en') return;
    // Words that are the same in both are few.
    const same = KEYS.filter((key) => JSON.stringify(texts[key]) === JSON.stringify(en[key]));
    expect(same.length).toBeLessThan(40);
  });
});

test('values are put into texts, and numbers select the plural', () => {
  expect(t('nRows', { n: 1 })).toBe('1 row');
  expect(t('nRows', { n: 12_345 })).toBe('12,345 rows');
  expect(t('runItAs', { language: 'SPARQL' })).toBe('Run it as SPARQL');
  const [, german] = catalogues.find(([language]) => language === 'de') ?? [];
  const [, arabic] = catalogues.find(([language]) => language === 'ar') ?? [];
  useCatalogue({ tag: 'de', texts: german as Texts });
  expect(t('nRows', { n: 12_345 })).toBe('12.345 Zeilen');
  useCatalogue({ tag: 'ar', texts: arabic as Texts });
  // CLDR: one, two, few (3 to 10), many (11 to 99), other (100).
  expect([1, 2, 3, 11, 100].map((n) => t('nRows', { n }).replace(/[\d٠-٩]+/, '#'))).toEqual(['صف واحد', 'صفان', '# صفوف', '# صفًا', '# صف']);
  // Names keep their own direction.
  expect(t('removeNamed', { name: 'a (b)' })).toContain('\u2068a (b)\u2069');
  useCatalogue({ tag: 'en', texts: en });
});

test('the language is that of the address, the choice, the browser', () => {
  expect(['pt-BR', 'zh-Hans-CN', 'DE', 'ar', 'sv', ''].map(pageLanguage)).toEqual(['pt', 'zh', 'de', 'ar', undefined, undefined]);
  const languages = (...all: string[]) => Object.defineProperty(globalThis, 'navigator', { value: { languages: all }, configurable: true });
  languages('sv', 'fr-CH', 'en');
  expect(chosenLanguage()).toBe('fr');
  expect(chosenLanguage('ja')).toBe('ja');
  languages('it', 'en');
  expect(chosenLanguage('ja')).toBe('it');
  localStorage.setItem('setting-language', JSON.stringify('es'));
  expect(chosenLanguage()).toBe('es');
  localStorage.clear();
  languages('sv');
  expect(chosenLanguage()).toBe('en');
});

// Texts in the sources.

interface Node {
  type: string;
  start: number;
  end: number;
  [key: string]: unknown;
}

/** Attributes that people read or hear. */
const SPOKEN = new Set(['title', 'aria-label', 'aria-description', 'placeholder', 'alt']);
/** Functions that show an argument, by its place; `h` shows all from the third on. */
const SHOWN: Record<string, number> = { say: 0, announce: 0, sayOfDraft: 0, markStale: 0, failed: 0, section: 0, copied: 0, entry: 0, keyed: 1, Error: 0, Failed: 1, Refused: 1, Unknown: 2 };
/** Files with errors and values that no user reads. */
const INTERNAL = new Set(['answer/wkt.ts', 'answer/table.ts']);
/** Names that are the same in every language, signs and names of keys. */
const NAMES = /^(Terrapin|OverpassQL|SPARQL|iD|JOSM|openstreetmap\.org|wikidata\.org|Fleiss' kappa|Ctrl ↵|annotations\.jsonl|MapLibre: |stopped|Python|overpy|SPARQLWrapper|JavaScript|Julia|cURL|terrapin|Okabe–Ito|Tol, (bright|muted)|Viridis|Cividis|ColorBrewer \w+|\{"layers".*)$/;

/** Returns the texts of a source that are shown and stand in it literally. */
function literals(source: string): string[] {
  const found: string[] = [];
  const walk = (node: unknown, parents: Node[]): void => {
    if (Array.isArray(node)) return node.forEach((one) => walk(one, parents));
    if (typeof node !== 'object' || node === null) return;
    const one = node as Node;
    if (one.type === 'ImportDeclaration' || one.type?.startsWith('TSTypeParameter')) return;
    const text = one.type === 'Literal' && typeof one.value === 'string' ? one.value : one.type === 'TemplateElement' ? ((one.value as { cooked: string }).cooked ?? '') : '';
    if (/\p{L}{2}/u.test(text) && !NAMES.test(text) && isShown(one, parents)) found.push(text);
    for (const [key, child] of Object.entries(one)) if (key !== 'type' && typeof child === 'object') walk(child, [...parents, one]);
  };
  const isShown = (node: Node, parents: Node[]): boolean => {
    let child = node;
    for (const parent of [...parents].reverse()) {
      if (parent.type === 'Property') return (parent.value as Node) === child && SPOKEN.has(String((parent.key as Node).name ?? (parent.key as Node).value));
      if (parent.type === 'CallExpression' || parent.type === 'NewExpression') {
        const callee = source.slice((parent.callee as Node).start, (parent.callee as Node).end);
        const at = (parent.arguments as Node[]).indexOf(child);
        const name = callee.replace(/^.*\./, '');
        return name === 'h' ? at >= 2 : at >= 0 && SHOWN[name] === at;
      }
      // A text that depends on something, or is composed, is a text as well; a comparison is not.
      const isPart = parent.type === 'TemplateLiteral' || parent.type === 'ArrayExpression' || parent.type === 'LogicalExpression' || (parent.type === 'ConditionalExpression' && parent.test !== child) || (parent.type === 'BinaryExpression' && parent.operator === '+');
      if (!isPart) return false;
      child = parent;
    }
    return false;
  };
  walk(parseSync('source.ts', source).program.body, []);
  return found;
}

test('literal texts are found', () => {
  expect(literals("h('p', { class: 'a b', title: on ? 'Some text' : '' }, 'More text', t('run'), `and ${n} others`)")).toEqual(['Some text', 'More text', 'and ', ' others']);
  expect(literals("if (kind === 'error') announce('Gone'); throw new Error(`no ${name}`);")).toEqual(['Gone', 'no ']);
});

test('no text of the page is outside of the catalogues', () => {
  const root = new URL('../src/', import.meta.url).pathname;
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts') && !name.startsWith('text/') && !INTERNAL.has(name));
  const found = files.flatMap((name) => literals(readFileSync(root + name, 'utf8')).map((text) => `${name}: ${text}`));
  expect(found).toEqual([]);
}, 60_000);

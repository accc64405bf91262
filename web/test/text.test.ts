// The catalogues have the same texts with the same values, and no text of the page is anywhere else.

import { readFileSync, readdirSync } from 'node:fs';
import { EditorState } from '@codemirror/state';
import { parseSync } from 'vite';
import { describe, expect, test } from 'vitest';
import { phrases } from '../src/editor/phrases';
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

/** Attributes and properties that people read or hear. */
const SPOKEN = new Set(['title', 'aria-label', 'aria-description', 'placeholder', 'alt', 'label', 'detail', 'info', 'hint', 'message', 'description', 'textContent', 'innerText', 'ariaLabel']);
/** Functions that show an argument, by its place. */
const SHOWN: Record<string, number> = { say: 0, announce: 0, sayOfDraft: 0, markStale: 0, failed: 0, section: 0, copied: 0, entry: 0, keyed: 1, add: 1, Error: 0, Failed: 1, Refused: 1, Unknown: 2 };
/** Functions that show all arguments from a place on. */
const SHOWN_FROM: Record<string, number> = { h: 2, replaceChildren: 0, append: 0, prepend: 0, before: 0, after: 0 };
/** Properties with words that are no texts: classes, relations of links, queries, and commands that install a program. */
const UNREAD = /^(class|rel|query|install|data-.*)$/;
/** Files with errors and values that no user reads. */
const INTERNAL = new Set(['answer/wkt.ts', 'answer/table.ts']);
/** Names that are the same in every language, signs and names of keys. */
const NAMES = /^(Terrapin|OverpassQL|SPARQL|overpassql|sparql|iD|JOSM|openstreetmap\.org|wikidata\.org|Fleiss' kappa|Ctrl ↵|annotations\.jsonl|MapLibre: |stopped|Python|overpy|SPARQLWrapper|JavaScript|Julia|cURL|terrapin|Okabe–Ito|Tol, (bright|muted)|Viridis|Cividis|ColorBrewer \w+|\{"layers".*|\{\{bbox\}\})$/;
/** Texts in files, which are the same whatever the language of the page is. */
const IN_FILES = /^(the first | of the | rows of (a longer|the) answer|OpenStreetMap contributors, ODbL 1\.0; Wikidata, CC0)$/;
/** Words without the signs of code. */
const PROSE = /^(?!.*--)[\p{L}\p{N}\s,.;:!?'’…-]+$/u;

const nameOf = (property: Node): string => String((property.key as Node).name ?? (property.key as Node).value);

/** Returns the texts of a source that are shown and stand in it literally. */
function literals(source: string): string[] {
  const found: string[] = [];
  const textOf = (node: Node): string => source.slice(node.start, node.end);
  const isText = (node: Node): boolean => node.type === 'CallExpression' && textOf(node.callee as Node) === 't';
  const walk = (node: unknown, parents: Node[]): void => {
    if (Array.isArray(node)) return node.forEach((one) => walk(one, parents));
    if (typeof node !== 'object' || node === null) return;
    const one = node as Node;
    if (one.type === 'ImportDeclaration' || one.type?.startsWith('TS')) return one.expression === undefined ? undefined : walk(one.expression, parents);
    const text = one.type === 'Literal' && typeof one.value === 'string' ? one.value : one.type === 'TemplateElement' ? ((one.value as { cooked: string }).cooked ?? '') : '';
    if (/\p{L}{2}/u.test(text) && !NAMES.test(text) && !IN_FILES.test(text) && isShown(text, one, parents)) found.push(text);
    for (const [key, child] of Object.entries(one)) if (key !== 'type' && typeof child === 'object') walk(child, [...parents, one]);
  };
  /** Whether a text is the value of a property that is read. */
  const isRead = (text: string, property: Node, object: Node | undefined, isMarkup: boolean): boolean => {
    const name = nameOf(property);
    if (SPOKEN.has(name)) return true;
    if (!PROSE.test(text) || UNREAD.test(name)) return false;
    // Words in a sentence, or in an object that has texts of the catalogues for the most part.
    const all = ((object?.properties ?? []) as Node[]).filter((one) => one.type === 'Property');
    return /\p{Ll}{2}[,;:]? \p{Ll}{2}/u.test(text) || (!isMarkup && all.filter((one) => isText(one.value as Node)).length > all.length / 2 && !all.some((one) => nameOf(one).startsWith('aria-')));
  };
  const isShown = (text: string, node: Node, parents: Node[]): boolean => {
    let child = node;
    for (const [at, parent] of [...parents.entries()].reverse()) {
      if (parent.type === 'Property') return (parent.value as Node) === child && isRead(text, parent, parents[at - 1], parents[at - 2]?.type === 'CallExpression' && textOf(parents[at - 2]?.callee as Node) === 'h');
      if (parent.type === 'AssignmentExpression') return (parent.right as Node) === child && SPOKEN.has(textOf(parent.left as Node).replace(/^.*\./s, ''));
      if (parent.type === 'VariableDeclarator' || parent.type === 'ReturnStatement' || parent.type === 'ArrowFunctionExpression' || parent.type === 'PropertyDefinition') return (parent.init ?? parent.argument ?? parent.body ?? parent.value) === child && PROSE.test(text) && /\p{L} ?\p{Ll}{2,} \p{Ll}{2}/u.test(text);
      if (parent.type === 'CallExpression' || parent.type === 'NewExpression') {
        const name = textOf(parent.callee as Node).replace(/^.*\./s, '');
        const place = (parent.arguments as Node[]).indexOf(child);
        if (name === 'setAttribute') return place === 1 && SPOKEN.has(String((parent.arguments as Node[])[0]?.value));
        return place >= 0 && (place === SHOWN[name] || place >= (SHOWN_FROM[name] ?? Infinity));
      }
      // A text that depends on something, or is composed, is a text as well; a comparison is not.
      const isPart = parent.type === 'TemplateLiteral' || parent.type === 'ParenthesizedExpression' || parent.type === 'ArrayExpression' || parent.type === 'LogicalExpression' || (parent.type === 'ConditionalExpression' && parent.test !== child) || (parent.type === 'BinaryExpression' && parent.operator === '+');
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

test('literal texts of tables and results are found', () => {
  expect(literals("const all = { label: t('theLabel'), length: 'metres', kind: t('kind') };")).toEqual(['metres']);
  expect(literals("const all: Program[] = [{ id: 'curl', needs: 'curl and a shell', query: 'out all of it', install: 'pip install overpy' }];")).toEqual(['curl and a shell']);
  expect(literals("const named = (n: number): string => (n ? 'it has been found' : 'node'); let words = 'nothing is here';")).toEqual(['it has been found', 'nothing is here']);
  expect(literals("button.textContent = 'Gone'; button.title ??= 'Away'; button.className = 'quiet'; list.append(h('b'), 'Rows'); one.setAttribute('aria-label', 'Table'); one.setAttribute('role', 'table');")).toEqual(['Gone', 'Away', 'Rows', 'Table']);
  expect(literals("const made = { detail: 'commonest' } as Completion;")).toEqual(['commonest']);
});

test('values that are no texts are left out', () => {
  expect(literals("h('div', { class: 'cell number', role: 'row', 'aria-label': t('row'), rel: 'noopener noreferrer' }); view.of({ 'aria-label': t('query'), spellcheck: 'false' });")).toEqual([]);
  expect(literals("type Kind = 'elements and rows'; const kind = all.kind === 'the table' ? 'table' : 'text'; const font = 'system-ui';")).toEqual([]);
});

test("CodeMirror's own phrases are translated", () => {
  // Parts of CodeMirror that the editor leaves out: folding.
  const unused = new Set(['Folded lines', 'Unfolded lines', 'to', 'folded code', 'unfold', 'Fold line', 'Unfold line']);
  const packages = new URL('../node_modules/@codemirror/', import.meta.url).pathname;
  const found = readdirSync(packages).flatMap((name) => [...readFileSync(`${packages}${name}/dist/index.js`, 'utf8').matchAll(/\bphrase\((?:view, )?([^()]*)/g)].flatMap(([, given = '']) => [...given.matchAll(/"([^"]+)"/g)].map(([, phrase = '']) => phrase)));
  expect(found).toContain('match case');
  expect([...new Set(found)].filter((phrase) => !unused.has(phrase)).sort()).toEqual(Object.keys(phrases()).sort());
  for (const [phrase, text] of Object.entries(phrases())) expect((text.match(/\$/g) ?? []).length, phrase).toBe((phrase.match(/\$/g) ?? []).length);
  const [, french] = catalogues.find(([language]) => language === 'fr') ?? [];
  useCatalogue({ tag: 'fr', texts: french as Texts });
  const state = EditorState.create({ extensions: EditorState.phrases.of(phrases()) });
  expect(state.phrase('Find')).toBe('Chercher');
  expect(state.phrase('replaced match on line $', 7)).toBe('occurrence remplacée à la ligne 7');
  useCatalogue({ tag: 'en', texts: en });
});

test('no text of the page is outside of the catalogues', () => {
  const root = new URL('../src/', import.meta.url).pathname;
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts') && !name.startsWith('text/') && !INTERNAL.has(name));
  const found = files.flatMap((name) => literals(readFileSync(root + name, 'utf8')).map((text) => `${name}: ${text}`));
  expect(found).toEqual([]);
}, 60_000);

// Texts are readable in the light and the dark colours: 4.5:1 at least (WCAG 2.2, 1.4.3), signs of the focus 3:1 (1.4.11).

import { readFileSync, readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';

const root = new URL('../src/', import.meta.url).pathname;
const files = readdirSync(root, { recursive: true, encoding: 'utf8' });
/** All rules of the page; what is printed has the colours of paper. */
const rules = files
  .filter((name) => name.endsWith('.css') && !name.endsWith('print.css'))
  .flatMap((name) => [...readFileSync(root + name, 'utf8').replace(/\/\*.*?\*\/|@import [^;]*;/gs, '').matchAll(/([^{}]+)\{([^{}]*)\}/g)].map(([, selector = '', body = '']) => ({ name: `${name}: ${selector.trim()}`, body })));
/** Styles in the sources: of the editor, and of drawings. */
const styles = files.filter((name) => name.endsWith('.ts')).flatMap((name) => [...readFileSync(root + name, 'utf8').matchAll(/\{([^{}]*var\(--[^{}]*)\}/g)].map(([, body = '']) => ({ name, body: body.replace(/['"]/g, '').replace('backgroundColor', 'background') })));

type Colours = Record<string, string>;

function variables(selector: string): Colours {
  const body = rules.find(({ name }) => name.endsWith(`: ${selector}`))?.body ?? '';
  return Object.fromEntries([...body.matchAll(/--([\w-]+):\s*(#[\da-f]{6});/g)].map(([, name = '', value = '']) => [name, value]));
}

const light = variables(':root');
const dark = { ...light, ...variables(":root[data-theme='dark']") };

/** Relative luminance of sRGB, as WCAG defines it. */
function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16) / 255).map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: string, other: string): number {
  const [high = 0, low = 0] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (high + 0.05) / (low + 0.05);
}

const colourOf = (body: string, property: string): string | undefined => new RegExp(`(?:^|[;,{\\s])${property}:\\s*var\\(--([\\w-]+)\\)`).exec(body)?.[1];
/** Colours that any rule gives to a text. */
const texts = new Set([...rules, ...styles].flatMap(({ body }) => colourOf(body, 'color') ?? []));
const GROUNDS = ['paper', 'raised', 'field', 'line-active'];
/** Pairs that rules do not have next to each other: what is on a selected line, in a group of choices, in the editor. */
const NESTED: [text: string, ground: string][] = [
  ...['ink', 'muted', 'accent'].map((text): [string, string] => [text, 'accent-soft']),
  ...['ink', 'muted'].map((text): [string, string] => [text, 'edge']),
  ...['ink', 'error'].map((text): [string, string] => [text, 'error-soft']),
  ...Object.keys(light).filter((name) => name.startsWith('code-')).map((text): [string, string] => [text, 'selection']),
];

test('the contrast is that of WCAG', () => {
  expect(contrast('#000000', '#ffffff')).toBeCloseTo(21);
  // W3C, Understanding 1.4.3: the darkest grey that fails on white is #777777.
  expect(contrast('#777777', '#ffffff')).toBeLessThan(4.5);
  expect(contrast('#767676', '#ffffff')).toBeGreaterThan(4.5);
});

test('the colours of texts are found', () => {
  for (const name of ['ink', 'muted', 'accent', 'accent-ink', 'error', 'warning', 'code-comment']) expect([...texts]).toContain(name);
});

describe.each([['light', light], ['dark', dark]])('%s', (_, colours) => {
  const tooLow = (pairs: [string, string][], least: number) =>
    pairs.flatMap(([text, ground]) => {
      const ratio = contrast(colours[text] ?? '', colours[ground] ?? '');
      return ratio >= least ? [] : [`${text} on ${ground}: ${ratio.toFixed(2)}`];
    });

  test('texts on the grounds of the page', () => {
    // This one is only on what has the accent.
    const plain = [...texts].filter((text) => text !== 'accent-ink' && text !== 'column');
    expect(tooLow(plain.flatMap((text) => GROUNDS.map((ground): [string, string] => [text, ground])), 4.5)).toEqual([]);
  });

  test('texts on a ground of their own', () => {
    const pairs = [...rules, ...styles].flatMap(({ body }): [string, string][] => {
      const [text, ground] = [colourOf(body, 'color'), colourOf(body, 'background')];
      return text && ground && colours[text] && colours[ground] ? [[text, ground]] : [];
    });
    expect(pairs).toContainEqual(['accent-ink', 'accent']);
    expect(tooLow(pairs, 4.5)).toEqual([]);
    expect(tooLow(NESTED, 4.5)).toEqual([]);
  });

  test('the focus', () => expect(tooLow([...GROUNDS, 'accent-soft', 'edge'].map((ground): [string, string] => ['focus', ground]), 3)).toEqual([]));
});

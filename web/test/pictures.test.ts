import { beforeAll, describe, expect, it } from 'vitest';
import { ratioOf } from '../src/pictures/chart';
import { footOf, measure, measureInAnyFont, shortened, wrapped } from '../src/pictures/foot';
import { drawLegend, legendOf, legendParts, type LegendLine } from '../src/pictures/legend';
import { byLayers, mapSvg } from '../src/pictures/map';
import { useFakeDom, type FakeElement } from './fake-dom';

beforeAll(useFakeDom);

const six = (text: string): number => 6 * [...text].length;
const LEGENDS: LegendLine[][] = [
  [{ title: 'population' }, { low: 'few', high: 'many', colours: ['#000000', '#888888', '#ffffff'] }],
  [{ title: 'shop' }, { name: 'bakery', colour: '#0072b2' }, { name: 'a name that is longer than any legend is wide, and even longer', colour: '#d55e00' }],
];

/** Calls of a canvas, in their order. */
function recorded(): { context: CanvasRenderingContext2D; calls: [string, ...unknown[]][]; stops: [number, string][] } {
  const calls: [string, ...unknown[]][] = [];
  const stops: [number, string][] = [];
  const gradient = { addColorStop: (at: number, colour: string) => stops.push([at, colour]) };
  const context = new Proxy({} as CanvasRenderingContext2D, { get: (_, name) => (...given: unknown[]) => (calls.push([String(name), ...given]), gradient), set: () => true });
  return { context, calls, stops };
}

describe('legends', () => {
  it.each(LEGENDS)('have the same in PNG and SVG', (...legend) => {
    const { context, calls, stops } = recorded();
    drawLegend(context, legend, 400, 300, six, (name) => name);
    const parts = legendParts(legend, 400, 300, six, (name) => name) as unknown as FakeElement[];
    const texts = parts.filter(({ tag }) => tag === 'text');
    expect(texts.map((one) => [one.textContent, one.number('x'), one.number('y')])).toEqual(calls.filter(([name]) => name === 'fillText').map(([, ...given]) => given));
    expect(parts.flatMap((one) => one.all('stop')).map((stop) => [stop.number('offset'), stop.getAttribute('stop-color')])).toEqual(stops);
    const box = parts[0];
    const right = (box?.number('x') ?? 0) + (box?.number('width') ?? 0);
    for (const one of texts) expect(one.number('x') + six(one.textContent)).toBeLessThanOrEqual(right);
    expect(right).toBeLessThanOrEqual(400);
  });

  it('of a heat map have its colours from few to many', () => {
    const { context, stops, calls } = recorded();
    drawLegend(context, LEGENDS[0] ?? [], 400, 300, six, (name) => name);
    expect(stops).toEqual([[0, '#000000'], [0.5, '#888888'], [1, '#ffffff']]);
    expect(calls.filter(([name]) => name === 'fillText').map(([, text]) => text)).toEqual(['population', 'few', 'many']);
  });

  it('are read from the page', () => {
    Object.assign(globalThis, { getComputedStyle: ({ colour }: { colour: string }) => ({ backgroundColor: colour }) });
    const item = (found: Record<string, unknown>, textContent = '') => ({ textContent, querySelector: (selector: string) => found[selector] ?? null });
    const items = [item({}, 'rows'), item({ '.heat-bar': { previousSibling: { textContent: 'few' }, nextSibling: { textContent: 'many' }, dataset: { colours: '#000,#fff' } } }), item({ '.dot': { nextElementSibling: { textContent: 'bakery' }, colour: 'red' } })];
    expect(legendOf({ querySelectorAll: () => items } as unknown as HTMLElement)).toEqual([{ title: 'rows' }, { low: 'few', high: 'many', colours: ['#000', '#fff'] }, { name: 'bakery', colour: 'red' }]);
  });
});

describe('the foot of a picture', () => {
  const texts = ['© OpenStreetMap contributors, ODbL · Wikidata, CC0 · © Operator of a server with a long name', '© OpenStreetMap の協力者、ODbL・ウィキデータ、CC0・とても長い名前の運営者', 'x'.repeat(300), ''];

  it.each([60, 160, 320, 900])('has the whole text within %i pixels', (width) => {
    for (const text of texts) {
      const { lines, height } = footOf([text], width, six);
      for (const line of lines) {
        expect(line.x + six(line.text)).toBeLessThanOrEqual(width);
        expect(line.y).toBeLessThan(height);
      }
      expect(lines.map((line) => line.text).join('').replace(/\s/g, '')).toBe(text.replace(/\s/g, ''));
    }
  });

  it('breaks at spaces, and in words that are too long', () => {
    expect(wrapped('aa bb cc dd', 30, six)).toEqual(['aa bb', 'cc dd']);
    expect(wrapped('a bbbbbbbbb', 30, six)).toEqual(['a', 'bbbbb', 'bbbb']);
    expect(footOf(['', 'a'], 100, six).lines.map(({ text }) => text)).toEqual(['a']);
  });

  it('is measured in its font, in files with room for wider ones', () => {
    expect(measure()('abc')).toBe(18);
    expect(measureInAnyFont()('abc')).toBeCloseTo(19.8);
  });

  it('names are shortened to a width', () => {
    expect(shortened('bakery', 36, six)).toBe('bakery');
    expect(shortened('bakery', 30, six)).toBe('bake…');
    expect(shortened('bakery', 0, six)).toBe('…');
  });
});

it('a PNG has no more pixels than browsers draw', () => {
  for (const [width, height] of [[800, 600], [66_000, 900], [300, 13_300], [9000, 9000]] as const) {
    const ratio = ratioOf(width, height);
    expect(Math.max(width, height) * ratio).toBeLessThanOrEqual(16_001);
    expect(width * height * ratio ** 2).toBeLessThan(64.1e6);
  }
  expect(ratioOf(800, 600)).toBe(2);
});

it('an SVG of the map has its layers in order, and says what it lacks', () => {
  const feature = (id: string, type: string, source: string, layout = {}) => ({ layer: { id, type, paint: {}, layout }, source, geometry: { type: 'Point', coordinates: [1, 2] } });
  const shapes = [feature('points', 'circle', 'answer'), feature('points', 'circle', 'answer'), feature('names', 'symbol', 'answer', { 'text-field': 'A' })];
  const map = (features: object[]) => ({ getContainer: () => ({ clientWidth: 400, clientHeight: 300 }), queryRenderedFeatures: () => features, getStyle: () => ({ layers: ['points', 'names', 'heat', 'poi'].map((id) => ({ id, type: 'circle' })) }), project: ([x, y]: number[]) => ({ x, y }) }) as unknown as Parameters<typeof mapSvg>[0];
  let drawn: FakeElement | undefined;
  Object.assign(globalThis, { getComputedStyle: () => ({ getPropertyValue: () => '#000' }), XMLSerializer: class { serializeToString = (one: FakeElement) => ((drawn = one), one.textContent); } });
  Object.assign(document, { documentElement: null });
  expect(mapSvg(map(shapes), LEGENDS[0] ?? []).note).toBe('');
  expect(drawn?.all('circle')).toHaveLength(2);
  expect(drawn?.all('linearGradient')).toHaveLength(1);
  // Icons of the map below the answer are no data.
  const { text, note } = mapSvg(map([...shapes, feature('heat', 'heatmap', 'answer'), feature('names', 'symbol', 'answer'), feature('poi', 'symbol', 'tiles')]), []);
  expect(note).toBe('The picture lacks 2 features: it has no icons, no heat map and at most 60,000 features.');
  expect(text.replace(/\s/g, '')).toContain(note.replace(/\s/g, ''));
  expect(mapSvg(map(Array.from({ length: 60_001 }, () => shapes[0] as object)), []).note).toContain('lacks 1 feature:');
});

it('features are grouped by their layers, and counted over the limit', () => {
  const features = Array.from({ length: 400_000 }, (_, i) => ({ layer: { id: `layer ${i % 2}` }, i }));
  const { layers, over } = byLayers(features, 300_000);
  expect([...layers].map(([id, all]) => [id, all.length])).toEqual([['layer 0', 150_000], ['layer 1', 150_000]]);
  expect(over).toBe(100_000);
});

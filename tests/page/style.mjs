// Style without code: colours, sizes, heat maps and clusters by the panel on the map, written into queries, and pasted styles.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { shot } from './browser.mjs';
import { PHONE, asked, editor, open, pixels, run, test, violations, write } from './kit.mjs';

const TOURISM = '[out:json];node[tourism];out;';
const colourOf = (tab) => tab.locator('.style-panel select').nth(0);
const sizeOf = (tab) => tab.locator('.style-panel select').nth(2);
/** Names with their numbers of rows in the legend. */
const legend = (tab) => tab.$$eval('.legend li:not(.legend-key)', (all) => all.map((one) => [one.children[1].textContent, Number(one.querySelector('.count').textContent.replaceAll(',', ''))]));
const text = (tab) => tab.evaluate(() => [...document.querySelector('.editor').shadowRoot.querySelectorAll('.cm-line')].map((line) => line.textContent).join('\n'));

test('colours by a tag are chosen by keys alone, written into the query, and the same when it runs again', async ({ url }) => {
  const { tab, context, messages } = await open(url);
  await run(tab, TOURISM);
  await tab.locator('.style-button').focus();
  await tab.keyboard.press('Enter');
  await tab.waitForFunction(() => document.activeElement.matches('.style-panel select'));
  await tab.keyboard.type('tourism');
  await tab.waitForSelector('.legend .legend-key:has-text("tourism")');
  const counts = new Map();
  for (const { tags } of await asked(url, TOURISM)) counts.set(tags.tourism, (counts.get(tags.tourism) ?? 0) + 1);
  const most = [...counts].sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1));
  const rest = most.slice(7).reduce((sum, [, number]) => sum + number, 0);
  const expected = [...most.slice(0, 7), ['other', rest]];
  assert.deepEqual(await legend(tab), expected);
  await shot(tab, 'style-colours');
  // From the list of columns to the button by Tab.
  for (let i = 0; i < 20 && !(await tab.evaluate(() => document.activeElement.matches('.style-actions .primary'))); i += 1) await tab.keyboard.press('Tab');
  await tab.keyboard.press('Enter');
  await tab.waitForFunction(() => !document.querySelector('.style-panel').matches(':popover-open'));
  const written = await text(tab);
  assert.match(written, /\{\{style:\n[\s\S]*node\[tourism=(\w+)\], way\[tourism=\1\], relation\[tourism=\1\] \{ color: #0072b2; fill-color: #0072b2; \}/);
  await run(tab);
  assert.deepEqual(await legend(tab), expected);
  // Writing it again replaces it.
  await tab.click('.style-button');
  await colourOf(tab).selectOption('name');
  await tab.waitForSelector('.legend .legend-key:has-text("name")');
  await tab.click('.style-actions .primary');
  assert.equal((await text(tab)).match(/\{\{style:/g).length, 1);
  assert.deepEqual(messages, []);
  await context.close();
});

test('numbers have colours and sizes in five steps, each with its rows', async ({ url }) => {
  const { tab, context, messages } = await open(url);
  const query = '[out:json];way["building:levels"];out geom;';
  await run(tab, query);
  await tab.click('.style-button');
  await colourOf(tab).selectOption('building:levels');
  await tab.waitForSelector('.legend .legend-key');
  const found = await legend(tab);
  const levels = (await asked(url, query)).map(({ tags }) => tags['building:levels']);
  const numbers = levels.filter((value) => Number.isFinite(Number(value))).length;
  const steps = found.filter(([name]) => name !== 'other');
  assert.ok(steps.length >= 2 && steps.length <= 5, JSON.stringify(found));
  for (const [name] of steps) assert.match(name, /^(< -?[\d,.]+|-?[\d,.]+ – -?[\d,.]+|≥ -?[\d,.]+)$/);
  assert.match(steps[0][0], /^</);
  assert.match(steps.at(-1)[0], /^≥/);
  assert.equal(steps.reduce((sum, [, rows]) => sum + rows, 0), numbers);
  await tab.getByLabel('A colour for each number').check();
  await tab.waitForFunction(() => !/[<–]/.test(document.querySelector('.legend')?.textContent));
  await sizeOf(tab).selectOption('building:levels');
  await tab.click('.style-actions .primary');
  const written = await text(tab);
  assert.match(written, /node\[building:levels<-?[\d.]+\], way\[building:levels<-?[\d.]+\], relation\[building:levels<-?[\d.]+\] \{ symbol-size: 3; width: 1\.5; \}/);
  // overpass-turbo reads types, and conditions with `=`, `<` and `>`; it fails at `*`, and takes `>=1` for `> "=1"`.
  for (const rule of /\{\{style:\n([\s\S]*)\n\}\}/.exec(written)[1].split('\n')) assert.match(rule, /^\s*(node|way|relation|area)(\[[\w:]+[=<>][^=\]]+\])?(, (way|relation)(\[[\w:]+[=<>][^=\]]+\])?)* \{ [^{}*]+ \}$/);
  assert.deepEqual(messages, []);
  await context.close();
});

test('a SPARQL query has its style in the comment of the Wikidata Query Service', async ({ url }) => {
  const { tab, context, messages } = await open(url);
  await tab.click('[data-language=sparql]');
  await run(tab, '#defaultView:Map{"layer":"?kind","palette":"tol-muted"}\nSELECT ?place ?kind WHERE { ?place osmkey:tourism ?kind } ORDER BY ?place LIMIT 400');
  await tab.waitForSelector('.legend .legend-key:has-text("kind")');
  assert.equal(await tab.locator('.notice').count(), 0);
  assert.equal((await legend(tab)).reduce((sum, [, rows]) => sum + rows, 0), 400);
  await tab.click('.style-button');
  assert.equal(await colourOf(tab).inputValue(), 'kind');
  await tab.locator('.style-panel select').nth(1).selectOption('okabe-ito');
  await tab.getByLabel('Close points as one').check();
  await tab.click('.style-actions .primary');
  const [first] = (await text(tab)).split('\n');
  assert.deepEqual(JSON.parse(first.replace('#defaultView:Map', '')), { layer: '?kind', palette: 'okabe-ito', markercluster: true });
  // A column that is not there, and options that are no JSON, are named.
  await run(tab, '#defaultView:Map{"layer":"?sort"}\nSELECT ?place ?kind WHERE { ?place osmkey:tourism ?kind } LIMIT 5');
  assert.match(await tab.locator('.notice').textContent(), /names \?sort, which is no column/);
  await run(tab, '#defaultView:Map{layer}\nSELECT ?place ?kind WHERE { ?place osmkey:tourism ?kind } LIMIT 5');
  assert.match(await tab.locator('.notice').textContent(), /options are not JSON/);
  assert.deepEqual(messages, []);
  await context.close();
});

const LINE = [194, 65, 12];
const POINT = [234, 122, 63];
/** Linear RGB as seen with no and with three deficiencies: Machado, Oliveira and Fernandes (2009), severity 1. */
const SEEN = {
  all: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  protanopia: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
  deuteranopia: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
  tritanopia: [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
};

/** CIE L*a*b* (D65) of a colour as it is seen. */
function lab(colour, seen) {
  const linear = [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16) / 255).map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  const [r, g, b] = seen.map((row) => Math.max(0, row.reduce((sum, factor, i) => sum + factor * linear[i], 0)));
  const f = (t) => (t > 0.008856 ? Math.cbrt(t) : 7.787 * t + 16 / 116);
  const [x, y, z] = [(0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.95047, 0.2126 * r + 0.7152 * g + 0.0722 * b, (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.08883].map(f);
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

test('palettes are safe for the colour-blind', async () => {
  const source = (name) => readFileSync(new URL(`../../web/src/${name}`, import.meta.url), 'utf8');
  const listOf = (text) => [...text.matchAll(/#[0-9a-f]{6}/g)].map(([colour]) => colour);
  const palettes = [...source('style/palettes.ts').matchAll(/id: '([\w-]+)'.*kind: '(\w+)', colours: \[(.*)\]/g)].map(([, id, kind, colours]) => ({ id, kind, colours: listOf(colours) }));
  palettes.push({ id: 'layers', kind: 'categories', colours: listOf(/COLOURS = .*/.exec(source('answer/layers.ts'))[0]) });
  assert.equal(palettes.length, 9);
  for (const { id, kind, colours } of palettes) {
    for (const [who, seen] of Object.entries(SEEN)) {
      const places = colours.map((colour) => lab(colour, seen));
      // Names: no two are near. Numbers: from one to the next it gets lighter or darker, on both sides of the middle.
      const pairs = places.flatMap((a, i) => places.slice(0, i).map((b) => Math.hypot(...a.map((part, k) => part - b[k]))));
      if (kind === 'categories') assert.ok(Math.min(...pairs) >= 10, `${id}, ${who}: ${Math.min(...pairs)}`);
      const steps = places.slice(1).map(([lightness], i) => Math.sign(lightness - places[i][0]));
      const turns = steps.slice(1).filter((step, i) => step !== steps[i]).length;
      if (kind === 'steps') assert.ok(turns <= (id === 'puor' ? 1 : 0), `${id}, ${who}: ${turns} turns of lightness`);
    }
  }
});

const mapOf = (tab) => tab.locator('.map');

/** Waits until a count of pixels satisfies a condition. */
async function until(tab, colour, holds, what) {
  let found = -1;
  for (let tries = 0; tries < 30; tries += 1) {
    found = await pixels(tab, await mapOf(tab).screenshot(), colour, 16);
    if (holds(found)) return;
    await tab.waitForTimeout(400);
  }
  assert.fail(`${what}: ${found} pixels`);
}

test('a heat map, and points that are close as one or each, are chosen and written', async ({ url }) => {
  const { tab, context, messages } = await open(url);
  await run(tab, '[out:json];nwr[amenity];out center;');
  // A cluster is drawn in another colour than a point.
  await until(tab, POINT, (found) => found > 5 && found < 250, 'points besides clusters');
  await tab.click('.style-button');
  await tab.getByLabel('Close points as one').uncheck();
  await until(tab, POINT, (found) => found > 450, 'each point');
  await tab.getByLabel('Heat map').check();
  await until(tab, POINT, (found) => found < 50, 'no points');
  await shot(tab, 'style-heat');
  await tab.click('.style-actions .primary');
  assert.match(await text(tab), /canvas \{ -x-heat: viridis; -x-cluster: no; \}/);
  await run(tab);
  await until(tab, POINT, (found) => found < 50, 'no points after a run');
  assert.deepEqual(messages, []);
  await context.close();
});

test('a style of MapLibre is pasted, written and drawn again; what is none is explained', async ({ url }) => {
  const { tab, context, messages, elsewhere } = await open(url);
  await run(tab, TOURISM);
  await tab.click('.style-button');
  await tab.click('.style-panel summary');
  const take = async (style) => {
    await tab.fill('.style-panel textarea', style);
    await tab.click('.style-panel details .button');
  };
  await take('{');
  await tab.waitForSelector('.style-problem:has-text("not JSON")');
  await take('{"version": 8}');
  await tab.waitForSelector('.style-problem:has-text("no \\"layers\\"")');
  await take('{"layers": [{"type": "circle", "paint": {"circle-color": 3}}]}');
  await tab.waitForSelector('.style-problem:has-text("circle-color")');
  const green = ['match', ['get', 'tourism'], 'hotel', '#00ff00', '#0000ff'];
  await take(JSON.stringify({ version: 8, sprite: 'https://tiles.example/sprite', sources: { x: { type: 'geojson', data: 'https://tiles.example/x' } }, layers: [{ id: 'a', type: 'circle', source: 'x', paint: { 'circle-color': green, 'circle-radius': 6 } }] }));
  await until(tab, [0, 255, 0], (found) => found > 200, 'hotels');
  await until(tab, [0, 0, 255], (found) => found > 200, 'others');
  await tab.click('.style-actions .primary');
  assert.match(await text(tab), /\{\{style:\n\s*\{\n[\s\S]*"circle-color"/);
  await run(tab);
  await until(tab, [0, 255, 0], (found) => found > 200, 'hotels after a run');
  assert.deepEqual(elsewhere, []);
  assert.deepEqual(messages.filter((message) => !/circle-color/.test(message)), []);
  await context.close();
});

test('short lines stay lines, and small areas are dots', async ({ url }) => {
  const { tab, context } = await open(url);
  await run(tab, '[out:json];way[highway=primary];out geom;');
  await tab.evaluate(() => (location.hash = 'C=35.9;14.4;10'));
  // The colour of dots is not that of lines.
  await until(tab, LINE, (found) => found > 500, 'lines');
  await until(tab, POINT, (found) => found < 5, 'dots of lines');
  await shot(tab, 'lines');
  await run(tab, '[out:json];way[building=church];out geom;');
  await until(tab, POINT, (found) => found > 200, 'dots of areas');
  await context.close();
});

for (const [name, options] of Object.entries({ light: {}, dark: { colorScheme: 'dark' }, phone: PHONE })) {
  test(`the panel for styles is in nobody's way: ${name}`, async ({ url }) => {
    const { tab, context } = await open(url, '/', { ...options, bypassCSP: true });
    await run(tab, TOURISM);
    if (name === 'phone') await tab.click('.panes [data-pane=map]');
    await tab.click('.style-button');
    await colourOf(tab).selectOption('tourism');
    await tab.waitForSelector('.legend .legend-key');
    await tab.click('.style-panel summary');
    await tab.waitForTimeout(800);
    await shot(tab, `style-panel-${name}`);
    assert.deepEqual(await violations(tab), []);
    await tab.keyboard.press('Escape');
    assert.ok(await tab.evaluate(() => document.activeElement.matches('.style-button')));
    await tab.waitForTimeout(400);
    await shot(tab, `style-legend-${name}`);
    assert.deepEqual(await violations(tab), []);
    if (name === 'phone') assert.equal(await tab.evaluate(() => document.documentElement.scrollWidth), 390);
    await context.close();
  });
}

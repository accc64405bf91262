// What who comes from overpass-turbo or from the Wikidata Query Service is used to.

import assert from 'node:assert/strict';
import { editor, open, pixels, run, test, write } from './kit.mjs';

test('styles draw lines, dashes, casings, areas, points and symbols', async ({ url }) => {
  const { tab, context, messages } = await open(url, '/#C=35.8978;14.5125;15');
  const seen = async (query, style, colour, least) => {
    await run(tab, `[out:json];${query}({{bbox}});out geom;{{style: ${style} }}`);
    for (let tries = 0; ; tries += 1) {
      const number = await pixels(tab, await tab.locator('.map').screenshot(), colour);
      if (number >= least || tries > 20) return number;
      await tab.waitForTimeout(250);
    }
  };
  const [GREEN, RED] = [[0, 255, 0], [255, 0, 0]];
  const roads = 'way[highway=residential]';
  const whole = await seen(roads, 'way { color: #00ff00; opacity: 1; width: 6 }', GREEN, 2000);
  assert.ok(whole > 2000, `${whole}`);
  const dashed = await seen(roads, 'way { color: #00ff00; opacity: 1; width: 6; dashes: 6,12 }', GREEN, 300);
  assert.ok(dashed > 300 && dashed < 0.6 * whole, `${dashed} of ${whole}`);
  assert.ok((await seen(roads, 'way { color: #00ff00; opacity: 1; width: 6; casing-color: red; casing-width: 2 }', RED, 500)) > 500);
  // A class, and what is closed.
  assert.ok((await seen(roads, 'way[name] { set .named; } way.named:!closed { color: #00ff00; opacity: 1; width: 6 }', GREEN, 1000)) > 1000);
  assert.equal(await seen(roads, 'way:active { color: #00ff00; opacity: 1; width: 9 }', GREEN, 1), 0);
  assert.ok((await seen('way[leisure=park]', 'area { fill-color: #00ff00; fill-opacity: 1 }', GREEN, 500)) > 500);
  assert.ok((await seen('node[amenity=cafe]', 'node { symbol-size: 9; symbol-fill-color: #00ff00; symbol-stroke-color: red; symbol-stroke-width: 3; opacity: 1 }', RED, 200)) > 200);
  assert.ok((await seen('node[amenity=cafe]', "node { icon-image: url('icons/maki/cafe-18.png'); color: #00ff00; }", GREEN, 60)) > 60);
  // The rule ends where its shortcut does.
  assert.match(await run(tab, '[out:json];node[amenity=cafe]({{bbox}});out;{{style: node { icon-image: nosuch }}}'), /rows/);
  await tab.waitForTimeout(500);
  assert.deepEqual(messages, []);
  await context.close();
});

test('what has no place is told of, and all of an answer is looked at', async ({ url }) => {
  const { tab, context } = await open(url);
  await run(tab, '[out:json];nwr[amenity=school];out;');
  const [, rows, placed] = /^(\d+) rows, (\d+) on the map$/.exec(await tab.locator('.tally').textContent());
  assert.ok(Number(placed) > 0);
  assert.equal(await tab.locator('.notice[data-kind=unplaced] p').textContent(), `Of ${rows - placed} elements the answer does not say where they are.`);
  await tab.click('.notice[data-kind=unplaced] button:has-text("Ask")');
  await tab.waitForFunction((text) => document.querySelector('.tally')?.textContent === text, `${rows} rows, ${rows} on the map`);
  const view = async () => {
    await tab.click('button[aria-label=Share]');
    const link = new URL(await tab.locator('.share input[type=text]').inputValue());
    await tab.keyboard.press('Escape');
    return new URLSearchParams(link.hash.slice(1)).get('C').split(';').map(Number);
  };
  await tab.waitForTimeout(800);
  const all = await view();
  await tab.locator('.table-body .table-row').first().click();
  await tab.waitForTimeout(800);
  assert.notDeepEqual(await view(), all);
  await tab.click('button[aria-label="All of the answer"]');
  await tab.waitForTimeout(800);
  assert.deepEqual(await view(), all);
  await context.close();
});

test('a query is copied without its shortcuts, in each of its forms', async ({ url }) => {
  const { tab, context } = await open(url);
  await write(tab, '[out:json];\n{{k=cafe}}node[amenity={{k}}]({{bbox}});\nout;');
  await tab.keyboard.press('Escape');
  await tab.click('button[aria-label=Share]');
  const copied = async (label) => {
    await tab.evaluate(() => navigator.clipboard.writeText(''));
    await tab.click(`.share button:has-text("${label}")`);
    await tab.waitForFunction(async () => (await navigator.clipboard.readText()) !== '');
    return tab.evaluate(() => navigator.clipboard.readText());
  };
  // It was not run yet.
  assert.match(await copied('Copy a cURL line'), /node\[amenity=cafe\]\(\d+\.\d+,/);
  assert.match(await copied('Copy it as it is sent'), /^\[out:json\];\nnode\[amenity=cafe\]\(\d+\.\d+,[^{}]*\);\nout;$/);
  assert.match(await copied('Copy it on one line'), /^\[out:json\];node\["amenity"="cafe"\]\([^\n]*\);out;$/);
  assert.match(await copied('Copy it as XML'), /<has-kv k="amenity"[^>]* v="cafe"\/>/);
  await tab.keyboard.press('Escape');
  await write(tab, '{{data:sql,server=https://example.org}}\nSELECT 1');
  await tab.waitForSelector('.cm-lintRange-error');
  await run(tab, '{{data:overpass,server=https://overpass-api.de/api/}}[out:json];node[amenity=cafe];out;');
  assert.match(await tab.locator('.notice[data-kind=elsewhere]').textContent(), /another server/);
  await context.close();
});

test('queries of Wikidata open in the view that they name, and layers have colours', async ({ url }) => {
  const { tab, context, messages, elsewhere } = await open(url, `/#${encodeURIComponent('#defaultView:Graph\nSELECT ?a ?b WHERE { ?a wdt:P530 ?b } LIMIT 9')}`);
  assert.match(await editor(tab).textContent(), /defaultView:Graph.*P530/s);
  const view = () => tab.locator('[role=tab][aria-selected=true]').textContent();
  await run(tab);
  await tab.waitForSelector('.network .node');
  assert.equal(await view(), 'Graph');
  const dated = '#defaultView:Timeline\nSELECT ?item ?begun WHERE { ?item wdt:P571 ?begun } LIMIT 20';
  await run(tab, dated);
  await tab.waitForSelector('.timeline-view circle');
  assert.equal(await view(), 'Timeline');
  for (const [name, shown] of [['BarChart', 'Chart'], ['ImageGrid', 'Table'], ['constructor', 'Table']]) {
    await run(tab, dated.replace('Timeline', name));
    assert.equal(await view(), shown, name);
  }
  await run(tab, '#defaultView:Map\nSELECT ?item ?place ?layer WHERE { ?item wdt:P625 ?place; wdt:P17 ?layer } LIMIT 60');
  const layers = await tab.locator('.legend li').allTextContents();
  assert.equal(layers.length, 13);
  assert.match(layers[0], /^Q\d+\d+$/);
  assert.match(layers[12], /^\d+ others\d+$/);
  await run(tab, 'SELECT ?item ?image ?place ("00ff00" AS ?rgb) WHERE { ?item wdt:P625 ?place; wdt:P18 ?image } LIMIT 40');
  assert.equal(await tab.locator('.legend li').count(), 0);
  await tab.waitForTimeout(1500);
  assert.ok((await pixels(tab, await tab.locator('.map').screenshot(), [0, 255, 0])) > 60);
  assert.deepEqual(elsewhere, []);
  assert.deepEqual(messages, []);
  await context.close();
});

test('F6 goes on where a part is not seen', async ({ url }) => {
  const { tab, context } = await open(url, '/relation/7510580');
  await tab.waitForSelector('.entity section');
  const at = () => tab.evaluate(() => document.activeElement.className + document.activeElement.tagName);
  assert.match(await at(), /^titleH2$/);
  await tab.keyboard.press('F6');
  assert.match(await at(), /canvas/);
  // There is no answer yet.
  await tab.keyboard.press('F6');
  assert.match(await at(), /^titleH2$/);
  await tab.keyboard.press('Shift+F6');
  assert.match(await at(), /canvas/);
  await context.close();
});

test('pieces of a raw answer end where letters do', async ({ url }) => {
  const { tab, context } = await open(url);
  await run(tab, `[out:json];node(35.7,14.1,36.1,14.7);convert x t="${'é€𐍈'.repeat(30)}";out 3000;`);
  await tab.click('[role=tab]:has-text("Raw")');
  for (let i = 0; i < 4; i += 1) await tab.click('.raw-view button');
  await tab.waitForTimeout(500);
  const text = await tab.locator('.raw-view pre').textContent();
  assert.ok(text.length > 300_000 && !text.includes('\ufffd'));
  await context.close();
});

test('places are found while one types, by keys alone', async ({ url }) => {
  const { tab, context } = await open(url);
  await tab.locator('.finder input').focus();
  await tab.keyboard.type('vallet', { delay: 30 });
  await tab.waitForFunction(() => /^Valletta/.test(document.querySelector('.finder .results:not([hidden]) button')?.textContent ?? ''));
  await tab.keyboard.press('ArrowDown');
  await tab.keyboard.press('Enter');
  await tab.waitForFunction(() => /^Valletta/.test(document.getElementById('live').textContent));
  assert.ok(await tab.evaluate(() => document.activeElement.matches('.finder input')));
  assert.equal(await tab.locator('.finder .results').isVisible(), false);
  await tab.keyboard.type(' qqq');
  await tab.keyboard.press('Enter');
  await tab.waitForSelector('.finder .results:has-text("No such place")');
  await context.close();
});

test('a link that is looked at leaves what was being written', async ({ url }) => {
  const { tab, context } = await open(url);
  await write(tab, 'node[shop=own];out;');
  await tab.goto(`${url}/?Q=${encodeURIComponent('node[shop=theirs];out;')}`);
  await tab.waitForFunction(() => /theirs/.test(document.querySelector('.editor')?.shadowRoot?.querySelector('.cm-content')?.textContent ?? ''));
  await tab.goto(url);
  await tab.waitForFunction(() => /own/.test(document.querySelector('.editor')?.shadowRoot?.querySelector('.cm-content')?.textContent ?? ''));
  await context.close();
});

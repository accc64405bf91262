// Charts, images, pictures, paper, and code that repeats a query.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { shot } from './browser.mjs';
import { CAFES, PHONE, open, run, test, violations } from './kit.mjs';

const POPULATIONS = (view) => `#defaultView:${view}
SELECT ?year ?population ?countryLabel WHERE {
  VALUES (?year ?population ?countryLabel) { (1960 46647521 "France") (1980 55053000 "France") (2000 60912500 "France") (1960 72207554 "Brazil") (1980 121740438 "Brazil") (2000 174504898 "Brazil") }
} ORDER BY ?year`;
const VALUES = (view, vars, rows) => `#defaultView:${view}\nSELECT * WHERE { VALUES (${vars}) { ${rows} } }`;
const TOWNS = '("Valletta" "Malta" 5157 0.6) ("Victoria" "Gozo" 7242 2.9) ("Sliema" "Malta" 19655 1.3) ("Xaghra" "Gozo" 5161 7.6)';

async function asSparql(url, query, options) {
  const opened = await open(url, '/', options);
  await opened.tab.click('[data-language=sparql]');
  await run(opened.tab, query);
  return opened;
}

const marks = (tab, selector) => tab.locator(`svg.chart ${selector}`).count();
const chart = (tab) => tab.waitForSelector('svg.chart');

test('charts: each view of the Wikidata Query Service is drawn from its comment', async ({ url }) => {
  const { tab, context, messages } = await open(url);
  await tab.click('[data-language=sparql]');
  const views = [
    ['BarChart', VALUES('BarChart', '?town ?island ?people ?area', TOWNS), 'rect.mark', 4],
    ['LineChart', POPULATIONS('LineChart'), 'path', 2],
    ['AreaChart', POPULATIONS('AreaChart'), 'path', 2],
    ['ScatterChart', VALUES('ScatterChart', '?town ?island ?people ?area', TOWNS), 'circle.mark', 4],
    ['BubbleChart', VALUES('BubbleChart', '?town ?people', '("Valletta" 5157) ("Victoria" 7242)'), 'circle.mark', 2],
    ['TreeMap', VALUES('TreeMap', '?island ?town ?people', '("Malta" "Valletta" 5157) ("Gozo" "Victoria" 7242) ("Malta" "Sliema" 19655)'), 'rect.mark', 3],
    ['Tree', VALUES('Tree', '?parent ?child', '("Malta" "Valletta") ("Malta" "Sliema") ("Europe" "Malta")'), 'circle.mark', 4],
    ['Dimensions', VALUES('Dimensions', '?town ?island ?people ?area', TOWNS), 'path.mark', 4],
  ];
  for (const [view, query, selector, number] of views) {
    await run(tab, query);
    await chart(tab);
    assert.equal(await tab.locator('#tab-chart').getAttribute('aria-selected'), 'true', view);
    assert.equal(await marks(tab, selector), number, view);
    assert.match(await tab.locator('svg.chart > desc').textContent(), /^[\d,]+ .*The table has the same values as text\.$/, view);
    await shot(tab, `chart-${view}`);
  }
  assert.deepEqual(messages, []);
  await context.close();
});

test('charts: only those that fit the columns can be chosen, and a choice is written into the query', async ({ url }) => {
  const { tab, context } = await asSparql(url, `SELECT ?town ?people ?area WHERE { VALUES (?town ?people ?area) { ("Valletta" 5157 0.6) ("Victoria" 7242 2.9) } }`);
  await tab.click('#tab-chart');
  await chart(tab);
  const options = await tab.locator('.chart-tools select').first().locator('option').allTextContents();
  assert.deepEqual(options, ['Bars', 'Lines', 'Areas', 'Scatter', 'Bubbles', 'Tree map', 'Dimensions']);
  await tab.locator('.chart-tools select').first().selectOption({ label: 'Bars' });
  await tab.locator('.chart-fields select').nth(1).selectOption({ label: 'area' });
  await tab.waitForFunction(() => document.querySelector('svg.chart > title')?.textContent === 'Bars: area by town');
  await tab.click('.chart-tools >> text=Write it into the query');
  assert.match(await tab.locator('.cm-content').innerText(), /^#defaultView:BarChart\{"y":"\?area"\}/);
  await context.close();
});

test('charts: values of OverpassQL are counted, the filter acts on them, a mark selects its row', async ({ url }) => {
  const { tab, context } = await open(url);
  await run(tab, '[out:json];node[place~"^(town|village|city)$"];out;');
  await tab.click('#tab-chart');
  await chart(tab);
  await tab.locator('.chart-fields select').first().selectOption({ label: 'place' });
  await tab.waitForFunction(() => document.querySelector('svg.chart > title')?.textContent === 'Bars: number of rows by place');
  const bars = await marks(tab, 'rect.mark');
  assert.ok(bars > 1, `${bars} bars`);
  await tab.locator('svg.chart rect.mark').first().click();
  await tab.waitForSelector('.card:not([hidden])');
  await tab.click('#tab-table');
  await tab.fill('.table-tools input', 'place=town');
  await tab.waitForTimeout(600);
  await tab.click('#tab-chart');
  await tab.waitForFunction(() => document.querySelectorAll('svg.chart rect.mark').length === 1);
  await context.close();
});

test('charts: an answer without columns for one has none', async ({ url }) => {
  const { tab, context } = await asSparql(url, 'SELECT ?x WHERE { VALUES ?x { "only" } }');
  assert.equal(await tab.locator('#tab-chart').isVisible(), false);
  assert.equal(await tab.locator('#tab-images').isVisible(), false);
  await run(tab, '#defaultView:BarChart\nSELECT (<http://a.example/> AS ?x) WHERE {}');
  assert.match(await tab.locator('.status').textContent(), /1 row/);
  await context.close();
});

test('charts: light, dark and narrow, without violations', async ({ url }) => {
  for (const [name, options] of [['light', {}], ['dark', { colorScheme: 'dark' }], ['phone', PHONE]]) {
    const { tab, context, messages } = await asSparql(url, POPULATIONS('LineChart'), options);
    await chart(tab);
    await shot(tab, `chart-lines-${name}`);
    assert.deepEqual(await violations(tab), [], name);
    assert.ok(await tab.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${name}: wider than the window`);
    assert.deepEqual(messages, []);
    await context.close();
  }
});

const IMAGES = `#defaultView:ImageGrid{"hide":"?town"}
SELECT * WHERE { VALUES (?town ?townLabel ?image) { (wd:Q23800 "Valletta" <http://commons.wikimedia.org/wiki/Special:FilePath/Valletta%20a.jpg>) (wd:Q1 "None" UNDEF) } }`;

test('images: a grid of links, and nothing is fetched from elsewhere', async ({ url }) => {
  for (const [name, options] of [['light', {}], ['phone', PHONE]]) {
    const { tab, context, elsewhere, messages } = await asSparql(url, IMAGES, options);
    await tab.waitForSelector('.image-grid li');
    assert.equal(await tab.locator('.image-grid li').count(), 1);
    assert.equal(await tab.locator('.image-grid a').getAttribute('href'), 'https://commons.wikimedia.org/wiki/File:Valletta_a.jpg');
    assert.equal(await tab.locator('.image-grid img').count(), 0);
    await shot(tab, `images-${name}`);
    assert.deepEqual(await violations(tab), [], name);
    assert.deepEqual([elsewhere, messages], [[], []]);
    await context.close();
  }
});

/** Saves a file by an action and returns its bytes. */
async function saved(tab, act) {
  const [download] = await Promise.all([tab.waitForEvent('download'), act()]);
  return readFileSync(await download.path());
}

const isPng = (bytes) => bytes.subarray(0, 8).toString('latin1') === '\x89PNG\r\n\x1a\n';

test('pictures: a chart as SVG and PNG with attribution', async ({ url }) => {
  const { tab, context, messages } = await asSparql(url, VALUES('BarChart', '?town ?people', '("Valletta" 5157) ("Victoria" 7242)'));
  await chart(tab);
  const text = (await saved(tab, () => tab.click('[aria-label="Save as SVG"]'))).toString();
  assert.match(text, /^<svg [^>]*xmlns="http:\/\/www\.w3\.org\/2000\/svg"/);
  assert.match(text, /© OpenStreetMap contributors, ODbL · Wikidata, CC0/);
  assert.doesNotMatch(text, /var\(|data-index/);
  const png = await saved(tab, () => tab.click('[aria-label="Save as PNG"]'));
  assert.ok(isPng(png) && png.length > 3000, `${png.length} bytes`);
  assert.deepEqual(messages, []);
  await context.close();
});

test('pictures: the map as PNG and SVG with legend and attribution', async ({ url }) => {
  const { tab, context, messages } = await open(url);
  await run(tab, CAFES);
  await tab.waitForTimeout(1500);
  const item = (label) => async () => {
    await tab.click('.dock-head >> text=Export');
    await tab.click(`.shelf >> text=${label}`);
  };
  const png = await saved(tab, item('Map as PNG'));
  assert.ok(isPng(png) && png.length > 20_000, `${png.length} bytes`);
  const text = (await saved(tab, item('Map as SVG'))).toString();
  assert.match(text, /© OpenStreetMap contributors, ODbL/);
  assert.match(text, /<g id="answer-points">|<g id="answer-clusters">/);
  assert.deepEqual(messages, []);
  await context.close();
});

test('paper: query, answer and attribution, and no buttons', async ({ url }) => {
  const { tab, context } = await open(url, '/', { colorScheme: 'dark' });
  await run(tab, '[out:json];node[place=town][name];out;');
  await tab.waitForTimeout(500);
  await tab.evaluate(() => dispatchEvent(new Event('beforeprint')));
  await tab.emulateMedia({ media: 'print' });
  assert.match(await tab.locator('.printed pre').innerText(), /place=town/);
  assert.ok((await tab.locator('.printed tbody tr').count()) > 3);
  assert.match(await tab.locator('.printed footer').innerText(), /© OpenStreetMap contributors/);
  assert.equal(await tab.locator('button:visible').count(), 0);
  assert.ok(await tab.evaluate(() => {
    const canvas = document.querySelector('.printed canvas');
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    return new Set(new Uint32Array(data.buffer)).size > 20;
  }), 'the map is empty on paper');
  await shot(tab, 'paper');
  await tab.evaluate(() => dispatchEvent(new Event('afterprint')));
  await context.close();
});

test('code: a dialog with programs, by keyboard, copied and without violations', async ({ url }) => {
  const { tab, context, messages } = await open(url);
  await run(tab, CAFES);
  await tab.click('.code-button');
  const dialog = tab.locator('.code-dialog');
  assert.deepEqual(await dialog.locator('[role=tab]').allTextContents(), ['Python', 'overpy', 'R', 'JavaScript', 'Julia', 'cURL', 'terrapin']);
  await dialog.locator('[role=tab]').first().focus();
  await tab.keyboard.press('End');
  assert.match(await dialog.locator('pre').textContent(), /^terrapin query --lang overpassql -- '.*\.terrapin' '\[out:json\];node\[amenity=cafe\];out;'\n$/);
  await tab.keyboard.press('ArrowLeft');
  await dialog.locator('text=Copy').click();
  assert.match(await tab.evaluate(() => navigator.clipboard.readText()), /^curl -sS 'http:\/\/127/);
  assert.deepEqual(await violations(tab), []);
  await shot(tab, 'code');
  await tab.keyboard.press('Escape');
  assert.equal(await dialog.count(), 0);
  assert.deepEqual(messages, []);
  await context.close();
});

test('code: on a phone from the menu "Share"', async ({ url }) => {
  const { tab, context } = await open(url, '/', { ...PHONE, colorScheme: 'dark' });
  await tab.click('button[aria-label=Share]');
  await tab.click('text=Python, R, JavaScript');
  await tab.waitForSelector('.code-dialog pre');
  assert.deepEqual(await violations(tab), []);
  await shot(tab, 'code-phone');
  await context.close();
});

// What users of overpass-turbo, of other windows and of several tabs met.

import { strict as assert } from 'node:assert';
import { CAFES, editor, open, run, test, write } from './kit.mjs';

/** The box that a query with `{{bbox}}` is sent with, as the server gets it. */
async function sentBox(tab) {
  const request = tab.waitForRequest((request) => request.url().endsWith('/api/interpreter') && /cinema/.test(request.postData() ?? ''));
  const status = await run(tab, '[out:json];node[amenity=cinema]({{bbox}});out;');
  const box = /\(([-\d.,]+)\)/.exec(new URLSearchParams((await request).postData()).get('data'))[1].split(',').map(Number);
  return { status, box };
}

test('the box of a query is one that the server takes, wherever the map is', async ({ url }) => {
  // A map that shows more than the whole world; one across 180 degrees; one beyond it.
  for (const [view, right] of [
    ['0;0;0', ([, west, , east]) => west === -180 && east === 180],
    ['-17;180;7', ([, west, , east]) => west > 170 && west < 180 && east < -170 && east > -180],
    ['-17;-179;7', ([, west, , east]) => west > 170 && west < 180 && east < -170 && east > -180],
    ['35.9;14.45;11', ([, west, , east]) => west > 13.9 && west < east && east < 15],
  ]) {
    const { tab, context } = await open(url, `/#C=${view}`);
    await tab.waitForTimeout(300);
    const { status, box } = await sentBox(tab);
    assert.match(status, /rows?\b/, view);
    assert.ok(right(box) && box[0] >= -90 && box[2] <= 90, `${view}: ${box}`);
    await context.close();
  }
});

test('nothing is cut off in windows of any width', async ({ url }) => {
  for (const width of [390, 761, 800, 900, 1024, 1440]) {
    const { tab, context } = await open(url, '/', { viewport: { width, height: 768 } });
    await run(tab, CAFES);
    const rights = await tab.$$eval('.dock-head button, .maplibregl-ctrl-zoom-in, .maplibregl-ctrl-attrib', (all) => all.map((one) => [one.className, one.getBoundingClientRect().right]));
    for (const [name, right] of rights) assert.ok(right <= width, `${width} px: ${name} ends at ${right}`);
    await context.close();
  }
});

test('an answer that is not that of the query or the view says so', async ({ url }) => {
  const { tab, context } = await open(url);
  await run(tab, CAFES);
  const stale = tab.locator('.stale');
  assert.equal(await stale.isVisible(), false);
  await run(tab, '[out:json];node[amenity=cafe;out;');
  assert.equal(await stale.textContent(), 'of an earlier query');
  await run(tab, CAFES.replace(';out', '({{bbox}});out'));
  assert.equal(await stale.isVisible(), false);
  await tab.click('.maplibregl-ctrl-zoom-out');
  await tab.waitForFunction(() => document.querySelector('.stale')?.textContent === 'of another view');
  await context.close();
  // The rows of the first answer take a part of the map's place, which moves nothing.
  const fresh = await open(url);
  await run(fresh.tab, CAFES.replace(';out', '({{bbox}});out'));
  await fresh.tab.waitForTimeout(1500);
  assert.equal(await fresh.tab.locator('.stale').isVisible(), false);
  await fresh.context.close();
});

test('each tab keeps its own draft', async ({ url }) => {
  const { tab, context } = await open(url);
  await write(tab, 'node[shop=a];out;');
  const other = await context.newPage();
  await other.goto(url);
  await other.waitForSelector('.maplibregl-canvas', { state: 'attached' });
  await write(other, 'node[shop=b];out;');
  await tab.reload();
  await tab.waitForSelector('.maplibregl-canvas', { state: 'attached' });
  assert.match(await editor(tab).textContent(), /shop=a/);
  await context.close();
});

test('Tab leaves the editor, and indents what is being written', async ({ url }) => {
  const { tab, context } = await open(url);
  const text = await editor(tab).textContent();
  const inEditor = () => tab.evaluate(() => document.activeElement?.classList.contains('editor') ?? false);
  let stops = 0;
  for (; stops < 30 && !(await inEditor()); stops += 1) await tab.keyboard.press('Tab');
  assert.ok(await inEditor(), `not reached in ${stops} stops`);
  await tab.keyboard.press('Tab');
  assert.equal(await inEditor(), false);
  assert.equal(await editor(tab).textContent(), text);
  await write(tab, '(');
  await tab.keyboard.press('Enter');
  await tab.keyboard.press('Tab');
  assert.ok(await inEditor());
  await context.close();
});

test('short forms of links open: wizard, template, place, and a place alone', async ({ url }) => {
  const wizard = await open(url, `/?w=${encodeURIComponent('amenity=cafe and name=* in Valletta')}&R`);
  await wizard.tab.waitForFunction(() => /rows/.test(document.querySelector('.status')?.textContent));
  assert.match(await editor(wizard.tab).textContent(), /nwr\[amenity=cafe\]\[name\]\(area\.searchArea\)/);
  assert.match(await wizard.tab.locator('.tally').textContent(), /^[1-9]/);
  await wizard.context.close();
  const template = await open(url, '/?template=key-value&key=amenity&value=cinema');
  assert.match(await editor(template.tab).textContent(), /nwr\["amenity"="cinema"\]\(\{\{bbox\}\}\)/);
  await template.context.close();
  const unknown = await open(url, '/?w=xyzzy');
  await unknown.tab.locator('.words-chip.unknown').waitFor();
  await unknown.context.close();
  const view = (tab) => tab.locator('.maplibregl-ctrl-scale').textContent();
  const { tab, context } = await open(url, '/?lat=35.9&lon=14.45&zoom=16');
  const near = await view(tab);
  assert.match(near, /^\d+\sm$/);
  await tab.evaluate(() => (location.hash = '#C=35.9;14.45;5'));
  await tab.waitForFunction((before) => document.querySelector('.maplibregl-ctrl-scale')?.textContent !== before, near);
  assert.match(await view(tab), /km$/);
  await context.close();
});

test('the time of an answer is that of all of it, and what is named otherwise is said', async ({ url }) => {
  const { tab, context } = await open(url);
  await run(tab, '[out:json];{{geocodeArea:Vallettaa}}->.a;node(area.a)[amenity=cafe];out;');
  assert.match(await tab.locator('.notice[data-kind=guessed]').textContent(), /"Vallettaa" was taken for/);
  await run(tab, '[out:json];{{geocodeArea:Valletta}}->.a;node(area.a)[amenity=cafe];out;');
  assert.equal(await tab.locator('.notice[data-kind=guessed]').count(), 0);
  await context.close();
});

test('files that an answer has nothing for are not offered', async ({ url }) => {
  const { tab, context } = await open(url);
  await run(tab, '[out:csv(name)];node[amenity=cafe];out;');
  await tab.click('button:has-text("Export")');
  const offered = await tab.$$eval('[data-format]', (all) => all.filter((one) => !one.disabled).map((one) => one.dataset.format));
  assert.ok(offered.includes('csv') && offered.includes('raw') && !offered.includes('geojson') && !offered.includes('kml'), offered.join());
  await context.close();
});

test('{{wsen}} is the box of the map with the west first', async ({ url }) => {
  const { tab, context } = await open(url, '/#C=35.9;14.45;11');
  const request = tab.waitForRequest((request) => request.url().endsWith('/api/interpreter') && /convert/.test(request.postData() ?? ''));
  await run(tab, '[out:json];node[amenity=cafe]({{bbox}});convert box wsen="{{wsen}}";out;');
  const query = new URLSearchParams((await request).postData()).get('data');
  const numbers = (text) => text.split(',').map(Number);
  const [south, west, north, east] = numbers(/cafe\]\(([-\d.,]+)\)/.exec(query)[1]);
  assert.deepEqual(numbers(/wsen="([-\d.,]+)"/.exec(query)[1]), [west, south, east, north]);
  await context.close();
});

test('a row that was selected is selected again after Back', async ({ url }) => {
  const { tab, context } = await open(url);
  await run(tab, CAFES);
  await tab.click('.table-body .table-row:nth-child(3) .cell:nth-child(2)');
  await tab.waitForSelector('.card:not([hidden])');
  const title = await tab.locator('.card h2').textContent();
  await tab.click('.card a[data-view]');
  await tab.waitForSelector('.entity .kind');
  assert.equal(await tab.locator('.card').isVisible(), false);
  await tab.goBack();
  await tab.waitForSelector('.card:not([hidden])');
  assert.equal(await tab.locator('.card h2').textContent(), title);
  await context.close();
});

test('an error is shown once, and a refused connection is an error', async ({ url }) => {
  const { tab, context } = await open(url);
  assert.match(await run(tab, '[out:json];node[amenity=cafe;out;'), /^Failed after \d/);
  assert.match(await tab.locator('.notice[data-kind=error] p').textContent(), /^line 1/);
  await context.route('**/api/interpreter', (route) => route.abort('connectionrefused'));
  assert.match(await run(tab, CAFES), /^Failed after \d/);
  assert.equal(await tab.locator('.notice[data-kind=error]').count(), 1);
  await context.close();
});

test('ids are not cut, wherever their row is', async ({ url }) => {
  const { tab, context } = await open(url);
  // Sorted by id, the longest ids come last.
  await run(tab, '[out:json];node[highway=crossing](35.7,14.1,36.1,14.7);out skel;');
  await tab.locator('.table').focus();
  await tab.keyboard.press('End');
  await tab.waitForTimeout(500);
  const cut = await tab.$$eval('.table-body .cell:first-child', (cells) => cells.filter((cell) => cell.scrollWidth > cell.clientWidth).map((cell) => cell.textContent));
  assert.deepEqual(cut, []);
  await context.close();
});

test('Tab goes through the header of the table in one step, arrows from column to column', async ({ url }) => {
  const { tab, context } = await open(url);
  await run(tab, CAFES);
  assert.ok((await tab.locator('.table-head button').count()) > 10);
  assert.equal(await tab.locator('.table-head button[tabindex="0"]').count(), 1);
  await tab.locator('.table-head button[tabindex="0"]').focus();
  await tab.keyboard.press('ArrowRight');
  assert.equal(await tab.evaluate(() => document.activeElement.title.split(' (')[0]), 'Sort by name');
  await tab.keyboard.press('Enter');
  assert.equal(await tab.locator('.table-head [aria-sort=ascending]').textContent(), 'name↑⋮');
  assert.equal(await tab.evaluate(() => document.activeElement.title.split(' (')[0]), 'Sort by name');
  await tab.keyboard.press('Tab');
  assert.equal(await tab.evaluate(() => document.activeElement.closest('.table-head')), null);
  await context.close();
});

test('the language in use is seen in forced colours, and the bar of times has a key', async ({ url }) => {
  const { tab, context } = await open(url, '/', { forcedColors: 'active' });
  const colours = await tab.$$eval('.segments [role=radio]', (all) => all.map((one) => getComputedStyle(one).backgroundColor));
  assert.equal(new Set(colours).size, 2);
  await run(tab, CAFES);
  await tab.click('[role=tab]:has-text("Statistics")');
  const parts = await tab.$$eval('.statistics .bar > span', (all) => all.map((one) => getComputedStyle(one).backgroundColor));
  const key = await tab.$$eval('.statistics .key', (all) => all.map((one) => getComputedStyle(one).backgroundColor));
  assert.deepEqual(key, parts);
  await context.close();
});

test('a long name in the list of a graph stays on one line', async ({ url }) => {
  const { tab, context } = await open(url);
  const name = 'a name that is longer than the list is wide '.repeat(3);
  await tab.click('.languages [data-language=sparql], .segments [data-language=sparql]');
  await run(tab, `#defaultView:Graph\nSELECT ?a ?aLabel ?b WHERE { VALUES (?a ?b) { (wd:Q1 wd:Q2) } BIND("${name}" AS ?aLabel) }`);
  await tab.waitForSelector('.graph-list .item');
  const heights = await tab.$$eval('.graph-list .item', (all) => all.map((one) => one.getBoundingClientRect().height));
  assert.equal(Math.max(...heights), Math.min(...heights));
  await context.close();
});

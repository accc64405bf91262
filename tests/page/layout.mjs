// The parts of the page and their places: at four widths, over Malta and over a snapshot without elements.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { folder, serve, shot } from './browser.mjs';
import { CAFES, editor, open, run, test, violations } from './kit.mjs';

const { TERRAPIN, TERRAPIN_SHARED } = process.env;

/** Nothing is wider than the window, and no control leaves it. */
async function fits(tab, width) {
  assert.equal(await tab.evaluate(() => document.documentElement.scrollWidth), width);
  const controls = await tab.$$eval('button, .field, .status, .intro', (all) => all.filter((one) => one.checkVisibility({ visibilityProperty: true }) && !one.closest('.table, .shelf')).map((one) => [one.getAttribute('aria-label') ?? one.textContent, one.getBoundingClientRect().left, one.getBoundingClientRect().right]));
  for (const [name, left, right] of controls) assert.ok(left >= -1 && right <= width + 1, `${name}: ${left} to ${right}`);
}

for (const width of [390, 800, 1024, 1440]) {
  for (const colorScheme of ['light', 'dark']) {
    test(`Malta at ${width} pixels, ${colorScheme}: start, answer and rows fit`, async ({ url }) => {
      const { tab, context, messages } = await open(url, '/', { viewport: { width, height: 800 }, colorScheme, bypassCSP: true });
      assert.match(await tab.locator('.intro').textContent(), /Loaded: malta-2024.* with [\d,]+ elements of OpenStreetMap/);
      await fits(tab, width);
      await shot(tab, `layout-${width}-${colorScheme}-start`);
      assert.deepEqual(await violations(tab), []);
      await run(tab, CAFES);
      await fits(tab, width);
      if (width < 761) await tab.click('.panes [data-pane=query]');
      // Run is above the code, and the code is as high as its text.
      const [button, code] = await Promise.all([tab.locator('.runbar .primary').boundingBox(), tab.locator('.editor').boundingBox()]);
      assert.ok(button.y + button.height <= code.y + 1);
      assert.ok(code.height < 120, `${code.height}`);
      if (width < 761) await tab.click('.panes [data-pane=answer]');
      await tab.waitForTimeout(1200);
      await shot(tab, `layout-${width}-${colorScheme}-answer`);
      assert.deepEqual(await violations(tab), []);
      assert.deepEqual(messages, []);
      await context.close();
    });
  }
}

test('rows are below the query or below the map, as the reader likes', async ({ url }) => {
  const { tab, context } = await open(url, '/', { viewport: { width: 1440, height: 900 } });
  await run(tab, CAFES);
  const places = () => Promise.all(['.dock', '.map-pane', '.query'].map((part) => tab.locator(part).boundingBox()));
  let [dock, map, query] = await places();
  assert.ok(dock.x < map.x && dock.y >= query.y + query.height - 1 && map.height > 800);
  await tab.click('button[aria-label="Rows below the map"]');
  [dock, map] = await places();
  assert.ok(Math.abs(dock.x - map.x) < 2 && dock.y >= map.y + map.height - 1);
  await tab.reload();
  await tab.waitForFunction(() => /rows/.test(document.querySelector('.status')?.textContent));
  [dock, map] = await places();
  assert.ok(Math.abs(dock.x - map.x) < 2);
  await tab.click('button[aria-label="Rows only"]');
  [dock] = await places();
  assert.ok(dock.height > 700);
  await context.close();
});

test('a long query scrolls in its place', async ({ url }) => {
  const { tab, context } = await open(url, '/', { viewport: { width: 1440, height: 900 } });
  await run(tab, `${'// a line of a long query\n'.repeat(120)}[out:json];node[amenity=cafe];out;`);
  const [code, dock] = await Promise.all([tab.locator('.editor').boundingBox(), tab.locator('.dock').boundingBox()]);
  assert.ok(code.height > 200 && code.height < 560, `${code.height}`);
  assert.ok(dock.height > 250 && dock.y + dock.height <= 901);
  await editor(tab).click();
  await context.close();
});

test('on a phone every control has 40 pixels', async ({ url }) => {
  const { tab, context } = await open(url, '/', { viewport: { width: 390, height: 780 }, deviceScaleFactor: 2, hasTouch: true, isMobile: true });
  await run(tab, '[out:json];node[amenity=caffe]({{bbox}});out;');
  await tab.waitForSelector('.repair');
  for (const pane of ['query', 'map', 'answer']) {
    await tab.click(`.panes [data-pane=${pane}]`);
    const small = await tab.$$eval('button, .field, .chip', (all) => all.filter((one) => one.checkVisibility({ visibilityProperty: true }) && !one.closest('.segments, .table-head, .maplibregl-ctrl-attrib')).map((one) => [one.getAttribute('aria-label') ?? one.textContent, one.getBoundingClientRect().height]).filter(([, height]) => height < 40));
    assert.deepEqual(small, [], pane);
  }
  await context.close();
});

test('a snapshot without elements: items on a map, and no words about elements', async () => {
  const path = join(folder, 'items.terrapin');
  const done = spawnSync(TERRAPIN, ['load', '--rdf', join(TERRAPIN_SHARED, 'data', 'wikidata', 'subset-full-entities.nt.gz'), '--out', path], { encoding: 'utf8' });
  assert.equal(done.status, 0, done.stderr);
  const server = await serve(path);
  for (const width of [390, 800, 1024, 1440]) {
    const { tab, context, messages } = await open(server.url, '/', { viewport: { width, height: 800 }, bypassCSP: true });
    const words = await tab.locator('.intro').textContent();
    assert.match(words, /[\d,]+ statements of Wikidata/);
    assert.doesNotMatch(words, /elements of OpenStreetMap/);
    await tab.click('[data-language=sparql]');
    await run(tab, 'SELECT ?item ?itemLabel ?place WHERE { ?item wdt:P625 ?place SERVICE wikibase:label { bd:serviceParam wikibase:language "en" } } LIMIT 50');
    assert.match(await tab.locator('.tally').textContent(), /50 rows, 50 on the map/);
    await fits(tab, width);
    await shot(tab, `items-${width}`);
    assert.deepEqual(await violations(tab), []);
    assert.deepEqual(messages, []);
    await context.close();
  }
  server.end();
});

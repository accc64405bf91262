// The page in windows of four widths, and over a snapshot without elements.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { folder, page, serve, shot } from './browser.mjs';
import { CAFES, PHONE, chrome, open, run, test, violations } from './kit.mjs';

const { TERRAPIN, TERRAPIN_SHARED } = process.env;

/** What reaches beyond the window and cannot be scrolled to. */
const beyond = (tab) =>
  tab.evaluate(() =>
    [...document.querySelectorAll('button, input, select, a')]
      .filter((one) => one.checkVisibility({ visibilityProperty: true }) && !one.closest('.unseen, .skip, .tabs, .table-scroll, .cm-editor, .maplibregl-ctrl-attrib') && !one.matches('.skip'))
      .map((one) => [one.getBoundingClientRect(), one])
      .filter(([box]) => box.width > 0 && (box.right > innerWidth + 1 || box.left < -1))
      .map(([box, one]) => `${one.getAttribute('aria-label') ?? one.textContent.slice(0, 30)} ends at ${Math.round(box.right)}`),
  );

for (const width of [390, 800, 1024, 1440]) {
  test(`widths: everything is within ${width} px, before and after an answer`, async ({ url }) => {
    const { tab, context, messages } = await open(url, '/', width === 390 ? PHONE : { viewport: { width, height: 800 } });
    assert.deepEqual(await beyond(tab), [], 'start');
    await run(tab, CAFES);
    for (const pane of width === 390 ? ['query', 'map', 'answer'] : ['']) {
      if (pane) await tab.click(`.panes [data-pane=${pane}]`);
      assert.deepEqual(await beyond(tab), [], `answer ${pane}`);
      await shot(tab, `width-${width}${pane && `-${pane}`}`);
    }
    if (await tab.locator('#tab-chart').isVisible()) await tab.click('#tab-chart');
    await tab.waitForSelector('svg.chart');
    assert.deepEqual(await beyond(tab), [], 'chart');
    assert.deepEqual(await violations(tab), []);
    assert.ok(await tab.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'the page is wider than the window');
    assert.deepEqual(messages, []);
    await context.close();
  });
}

test('widths: a snapshot without elements', async () => {
  const path = join(folder, 'items.terrapin');
  const done = spawnSync(TERRAPIN, ['load', '--rdf', join(TERRAPIN_SHARED, 'data/wikidata/subset-full-entities.nt.gz'), '--out', path], { encoding: 'utf8' });
  assert.equal(done.status, 0, done.stderr);
  const server = await serve(path);
  try {
    const { tab, context, elsewhere } = await page(chrome);
    await tab.goto(server.url);
    await tab.waitForSelector('.maplibregl-canvas', { state: 'attached' });
    await tab.click('[data-language=sparql]');
    await run(tab, 'SELECT ?item ?where WHERE { ?item wdt:P625 ?where } LIMIT 3');
    assert.match(await tab.locator('.status').textContent(), /3 rows/);
    assert.match(await tab.locator('.tally').textContent(), /3 on the map/);
    await shot(tab, 'no-elements');
    await tab.click('[data-language=overpassql]');
    await run(tab, 'node[amenity=cafe];out;');
    assert.match(await tab.locator('.notices').innerText(), /Nothing was found/);
    assert.deepEqual(await violations(tab), []);
    assert.deepEqual(elsewhere, []);
    await context.close();
  } finally {
    server.end();
  }
});

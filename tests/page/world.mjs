// The page over a snapshot of many places: extracts with cut coasts, and a first view of the whole Earth. TERRAPIN_PAGE_WORLD is
// the snapshot; without it patchwork-world is loaded, which takes a minute.

import { strict as assert } from 'node:assert';
import { serve, shot, snapshot } from './browser.mjs';
import { open, pixels, run, test } from './kit.mjs';

let started;
/** The address of a server over the world, which is started once and ends with the tests. */
async function world() {
  started ??= serve(process.env.TERRAPIN_PAGE_WORLD ?? snapshot('patchwork-world.osm.pbf')).then((server) => {
    process.on('exit', () => server.end());
    return server.url;
  });
  return started;
}

const WATER = [188, 212, 219];
const LAND = [243, 241, 234];

for (const width of [390, 800, 1024, 1440]) {
  test(`the world at ${width} pixels: the first run answers, nothing is cut off`, async () => {
    const { tab, context, messages } = await open(await world(), '/', { viewport: { width, height: 800 } });
    const status = await run(tab);
    assert.match(status, /rows?\b/);
    assert.match(await tab.locator('.tally').textContent(), /rows?, [1-9]/);
    if (width < 761) await tab.click('.panes [data-pane=answer]');
    assert.equal(await tab.evaluate(() => document.documentElement.scrollWidth), width);
    const rights = await tab.$$eval('.dock-head button, .maplibregl-ctrl-zoom-in, .maplibregl-ctrl-attrib', (all) => all.filter((one) => one.checkVisibility()).map((one) => [one.className, one.getBoundingClientRect().right]));
    for (const [name, right] of rights) assert.ok(right <= width, `${name} ends at ${right}`);
    await tab.waitForTimeout(1500);
    assert.equal(await tab.locator('.stale').isVisible(), false);
    await shot(tab, `world-${width}`);
    assert.deepEqual(messages, []);
    await context.close();
  });
}

test('at low zooms continents are land and oceans are sea', async () => {
  for (const [view, land, water] of [
    ['48;10;3', 0.3, 0.2],
    ['-12;-53;4.5', 0.8, 0],
    ['62;100;4', 0.8, 0],
    ['-20;-120;4', 0, 0.9],
    ['10;20;0.5', 0.2, 0.4],
  ]) {
    const { tab, context } = await open(await world(), `/#C=${view}`);
    const map = tab.locator('.map');
    const { width, height } = await map.boundingBox();
    const share = async (colour) => (await pixels(tab, await map.screenshot(), colour)) / (width * height);
    for (let tries = 0; ; tries += 1) {
      const found = [await share(LAND), await share(WATER)];
      if (found[0] >= land && found[1] >= water) break;
      assert.ok(tries < 30, `${view}: land ${found[0]}, water ${found[1]}`);
      await tab.waitForTimeout(500);
    }
    await shot(tab, `world-sea-${view.replaceAll(';', '_')}`);
    await context.close();
  }
});

test('of the examples over the world those that are counted have a number', async () => {
  const { tab, context } = await open(await world());
  await tab.click('.tools button[aria-label=Examples]');
  await tab.waitForFunction(() => [...document.querySelectorAll('.shelf .item .count')].every((number) => number.textContent !== '…'), null, { timeout: 120_000 });
  const counts = await tab.$$eval('.shelf .item .count', (all) => all.map((one) => one.textContent));
  assert.ok(counts.filter((number) => /^[1-9]/.test(number)).length > counts.length / 2, counts.join());
  await context.close();
});

test('of an answer over 128 MB the first rows are kept and exported', async () => {
  const { tab, context } = await open(await world());
  tab.setDefaultTimeout(240_000);
  const status = await run(tab, '[out:json][timeout:300];way[building];out meta geom;');
  assert.match(status, /rows/);
  assert.match(await tab.locator('.notice[data-kind=part]').textContent(), /first [\d,]+ rows/);
  await tab.click('button:has-text("Export")');
  const download = tab.waitForEvent('download');
  await tab.click('[data-format=geojson]');
  const { createReadStream } = await import('node:fs');
  let bytes = 0;
  for await (const piece of createReadStream(await (await download).path())) bytes += piece.length;
  assert.ok(bytes > 10_000_000, `${bytes} bytes`);
  await context.close();
});

// The map under the answer: what is seen where the snapshot has nothing, and how land and sea differ.

import assert from 'node:assert/strict';
import { shot } from './browser.mjs';
import { open, test } from './kit.mjs';

/** The colours of a picture with their shares, the most frequent first. */
async function colours(tab, picture) {
  return tab.evaluate(async (data) => {
    const image = await createImageBitmap(new Blob([Uint8Array.from(atob(data), (c) => c.charCodeAt(0))], { type: 'image/png' }));
    const context = new OffscreenCanvas(image.width, image.height).getContext('2d');
    context.drawImage(image, 0, 0);
    const all = context.getImageData(0, 0, image.width, image.height).data;
    const found = new Map();
    for (let i = 0; i < all.length; i += 4) {
      const colour = `${all[i]},${all[i + 1]},${all[i + 2]}`;
      found.set(colour, (found.get(colour) ?? 0) + 1);
    }
    return [...found].sort((a, b) => b[1] - a[1]).slice(0, 60).map(([colour, number]) => [colour.split(',').map(Number), number / (image.width * image.height)]);
  }, picture.toString('base64'));
}

/** Relative luminance and contrast as in WCAG 2.2. */
const luminance = (colour) => colour.map((part) => part / 255).map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)).reduce((sum, part, i) => sum + part * [0.2126, 0.7152, 0.0722][i], 0);
function contrast(a, b) {
  const [high, low] = [luminance(a), luminance(b)].sort((x, y) => y - x);
  return (high + 0.05) / (low + 0.05);
}

/** Waits until land and sea both take a part of the map, and returns its colours. */
async function drawn(tab) {
  for (let tries = 0; ; tries += 1) {
    const found = await colours(tab, await tab.locator('.map').screenshot());
    if (found[1]?.[1] > 0.1) return found;
    assert.ok(tries < 40, `there is one colour: ${JSON.stringify(found.slice(0, 3))}`);
    await tab.waitForTimeout(500);
  }
}

for (const theme of ['light', 'dark']) {
  test(`land and sea are told apart: ${theme}`, async ({ url }) => {
    const { tab, context, messages, elsewhere } = await open(url, '/#C=42;12;4', { colorScheme: theme });
    const [[first], [second]] = await drawn(tab);
    assert.ok(contrast(first, second) >= 1.3, `${first} and ${second}: ${contrast(first, second)}`);
    await tab.waitForTimeout(1500);
    await shot(tab, `world-${theme}`);
    // Where the snapshot begins, its own coast and streets are drawn.
    for (const view of ['35.9;14.4;9', '35.9;14.5;12', '35.898;14.512;15', '35.898;14.512;17']) {
      await tab.evaluate((view) => (location.hash = `C=${view}`), view);
      await tab.waitForTimeout(2500);
      await shot(tab, `map-${theme}-${view.replaceAll(';', '_')}`);
    }
    assert.deepEqual([messages, elsewhere], [[], []]);
    await context.close();
  });
}

test('where the snapshot has nothing there are borders, and names of countries and seas', async ({ url }) => {
  const other = async (view, without) => {
    const { tab, context } = await open(url, '/', {});
    if (without) await context.route(/\/world(-\w+)?\.js|world\.json/, (route) => route.abort());
    await tab.goto(`${url}/#C=${view}`);
    await tab.reload();
    await tab.waitForSelector('.maplibregl-canvas');
    await tab.waitForTimeout(5000);
    const found = await colours(tab, await tab.locator('.map').screenshot());
    await context.close();
    // What is neither the first colour nor the second.
    return 1 - found[0][1] - found[1][1];
  };
  for (const view of ['48;12;4.5', '30;-42;3', '9;8;8']) {
    const [shown, missing] = [await other(view, false), await other(view, true)];
    assert.ok(shown > missing + 0.001, `${view}: ${shown} with them, ${missing} without`);
  }
});

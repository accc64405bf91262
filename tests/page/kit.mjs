// What tests of the page have in common: the list of them, and how they work a page.

import { readFileSync } from 'node:fs';
import { browser, page } from './browser.mjs';

const AXE = readFileSync(new URL('../../web/node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');
export const CAFES = '[out:json];node[amenity=cafe];out;';
export const PHONE = { viewport: { width: 390, height: 780 }, deviceScaleFactor: 2, hasTouch: true, isMobile: true };

export const tests = [];
/** A test; it is given the `url` of the server, and the `path` of its snapshot. */
export const test = (name, run) => tests.push({ name, run });

export const chrome = await browser();

/** Opens an address of the server, and waits until the page stands. */
export async function open(url, path = '/', options = {}, browser = chrome) {
  const opened = await page(browser, options);
  await opened.tab.goto(url + path);
  await opened.tab.waitForSelector('.maplibregl-canvas', { state: 'attached' });
  return opened;
}

export const editor = (tab) => tab.locator('.cm-content');

export async function write(tab, text) {
  await editor(tab).click();
  await tab.keyboard.press('Control+a');
  await tab.keyboard.press('Delete');
  await tab.keyboard.insertText(text);
}

export async function run(tab, text) {
  if (text !== undefined) await write(tab, text);
  await tab.keyboard.press('Escape');
  await tab.click('.runbar .primary');
  await tab.waitForFunction(() => !document.querySelector('.runbar .primary').hidden && document.querySelector('.status').dataset.kind !== 'running' && document.querySelector('.status')?.textContent);
  await tab.waitForTimeout(150);
  return tab.locator('.status').textContent();
}

/** An answer of the server itself. */
export async function asked(url, query) {
  const answer = await fetch(`${url}/api/interpreter`, { method: 'POST', body: new URLSearchParams({ data: query }) });
  return (await answer.json()).elements;
}

/** What is wrong for those who do not see the page, or use no mouse. */
export async function violations(tab) {
  await tab.evaluate(AXE).catch(() => tab.addScriptTag({ content: AXE }));
  const found = await tab.evaluate(() => axe.run(document, { resultTypes: ['violations'] }));
  return found.violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.target.join(' ') + (node.any[0]?.message ? ` (${node.any[0].message})` : '')).join('; ')}`);
}

/** How many pixels of a picture have nearly this colour, each part of it within `tolerance`. */
export async function pixels(tab, picture, [red, green, blue], tolerance = 6) {
  return tab.evaluate(
    async ({ data, wanted, tolerance }) => {
      const image = await createImageBitmap(new Blob([Uint8Array.from(atob(data), (c) => c.charCodeAt(0))], { type: 'image/png' }));
      const context = new OffscreenCanvas(image.width, image.height).getContext('2d');
      context.drawImage(image, 0, 0);
      const all = context.getImageData(0, 0, image.width, image.height).data;
      let found = 0;
      for (let i = 0; i < all.length; i += 4) found += wanted.every((value, part) => Math.abs(all[i + part] - value) < tolerance) ? 1 : 0;
      return found;
    },
    { data: picture.toString('base64'), wanted: [red, green, blue], tolerance },
  );
}

// What lasts: addresses of runs, drafts of tabs, saved queries, frames; and what leads on from an element or a place.

import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { folder, shot } from './browser.mjs';
import { CAFES, PHONE, chrome, editor, open, run, test, violations, write } from './kit.mjs';

const answered = (tab) => tab.waitForFunction(() => /rows?\b/.test(document.querySelector('.status')?.textContent ?? ''));

test('a run writes the address: reloading and Back lead to answers', async ({ url }) => {
  const { tab, context, messages } = await open(url);
  await run(tab, CAFES);
  assert.match(new URL(tab.url()).hash, /Q=.*amenity.*cafe.*&R$/);
  await run(tab, '[out:json];node[amenity=pharmacy];out;');
  const hash = new URL(tab.url()).hash;
  await tab.reload();
  await answered(tab);
  assert.match(await editor(tab).textContent(), /pharmacy/);
  assert.equal(new URL(tab.url()).hash.replace(/C=[^&]*/, ''), hash.replace(/C=[^&]*/, ''));
  await tab.goBack();
  await tab.waitForFunction(() => /cafe/.test(document.querySelector('.editor').shadowRoot.textContent));
  await answered(tab);
  assert.deepEqual(messages, []);
  await context.close();
});

test('what was written after a run outlives reloading', async ({ url }) => {
  const { tab, context } = await open(url);
  await run(tab, CAFES);
  await write(tab, '[out:json];node[shop=bakery];out;');
  await tab.reload();
  await tab.waitForSelector('.cm-content');
  assert.match(await editor(tab).textContent(), /bakery/);
  await context.close();
});

test('two tabs keep their own drafts', async ({ url }) => {
  const { tab, context } = await open(url);
  await write(tab, 'node[first=tab];out;');
  const other = await context.newPage();
  await other.goto(url);
  await other.waitForSelector('.cm-content');
  await write(other, 'node[second=tab];out;');
  await tab.reload();
  await tab.waitForSelector('.cm-content');
  assert.match(await editor(tab).textContent(), /first/);
  assert.match(await editor(other).textContent(), /second/);
  await context.close();
});

test('queries are saved by name, and go to another browser by a file', async ({ url }) => {
  const { tab, context, messages } = await open(url, '/', { bypassCSP: true });
  await write(tab, CAFES);
  await tab.click('.tools button[aria-label=Saved]');
  await tab.fill('.saved-form input', 'All cafés');
  await tab.keyboard.press('Enter');
  await tab.waitForSelector('.saved-list .item:has-text("All cafés")');
  await shot(tab, 'saved');
  assert.deepEqual(await violations(tab), []);
  const download = tab.waitForEvent('download');
  await tab.click('.saved-files button:has-text("Save as a file")');
  const path = join(folder, 'queries.json');
  await writeFile(path, await readFile(await (await download).path()));
  assert.deepEqual(messages, []);
  await context.close();

  const other = await open(url, '/', { ...PHONE, bypassCSP: true });
  await other.tab.tap('.tools button[aria-label=Saved]');
  await other.tab.setInputFiles('.saved-files input[type=file]', path);
  const item = other.tab.locator('.saved-list .item:has-text("All cafés")');
  await item.waitFor();
  await shot(other.tab, 'saved-phone');
  assert.deepEqual(await violations(other.tab), []);
  await item.tap();
  assert.match(await editor(other.tab).textContent(), /amenity=cafe/);
  await other.tab.tap('.tools button[aria-label=Saved]');
  await other.tab.tap('button[aria-label="Remove All cafés"]');
  await other.tab.waitForFunction(() => !document.querySelector('.saved-list li'));
  await other.context.close();
});

test('an answer is shown in a frame', async ({ url }) => {
  const query = `Q=${encodeURIComponent('[out:json];node[amenity=cafe];out;')}&C=35.9;14.45;10`;
  for (const path of ['/embed', '/map.html']) {
    const { tab, context, messages } = await open(url, `${path}#${query}`, { viewport: { width: 800, height: 500 } });
    await tab.waitForFunction(() => document.querySelector('.layout').dataset.dock === 'none' && document.querySelector('.map-tools .all:not([hidden])'));
    assert.equal(await tab.locator('.query').isVisible(), false);
    assert.match(await tab.locator('.embed-link').getAttribute('href'), /^\/#Q=/);
    const map = await tab.locator('.map').boundingBox();
    assert.deepEqual([map.width, map.height], [800, 500]);
    await tab.waitForTimeout(1500);
    await shot(tab, `embed${path.replace(/\W/g, '-')}`);
    assert.deepEqual(messages, []);
    await context.close();
  }
  const table = await open(url, `/embed.html#${encodeURIComponent('SELECT ?class (COUNT(*) AS ?n) WHERE { ?item wdt:P31 ?class } GROUP BY ?class LIMIT 5')}`, { viewport: { width: 600, height: 400 } });
  await table.tab.waitForFunction(() => document.querySelectorAll('.table-body .table-row').length === 5);
  assert.equal(await table.tab.locator('.dock').isVisible(), true);
  await shot(table.tab, 'embed-table');
  await table.context.close();
  // Other sites may show it, but not the whole page.
  const policy = async (path) => (await fetch(url + path, { headers: { accept: 'text/html' } })).headers.get('content-security-policy');
  assert.match(await policy('/embed'), /frame-ancestors \*/);
  assert.match(await policy('/'), /frame-ancestors 'self'/);
});

test('from a selected element to the next, and to editors', async ({ url }) => {
  const { tab, context } = await open(url, '/', { bypassCSP: true });
  await run(tab, CAFES);
  await tab.click('.table-body .table-row:first-child .cell:nth-child(3)');
  await tab.waitForSelector('.card:not([hidden])');
  const links = await tab.$$eval('.card .edit-links a', (all) => all.map((one) => one.href));
  assert.match(links[0], /^https:\/\/www\.openstreetmap\.org\/edit\?editor=id&node=\d+$/);
  assert.match(links[1], /^http:\/\/127\.0\.0\.1:8111\/load_object\?.*objects=n\d+$/);
  await tab.click('.card button[aria-label="Next row"]');
  await tab.waitForFunction(() => document.querySelector('.table-body [aria-selected=true]')?.getAttribute('aria-rowindex') === '3');
  await tab.keyboard.press('Enter');
  await tab.waitForFunction(() => document.querySelector('.table-body [aria-selected=true]')?.getAttribute('aria-rowindex') === '4');
  await tab.click('.card button[aria-label="Previous row"]');
  await tab.waitForFunction(() => document.querySelector('.table-body [aria-selected=true]')?.getAttribute('aria-rowindex') === '3');
  assert.deepEqual(await violations(tab), []);
  await context.close();
});

test('what is here, by the right button and by the keyboard', async ({ url }) => {
  const { tab, context, messages } = await open(url, '/#C=35.8978;14.5125;17', { bypassCSP: true });
  const map = await tab.locator('.map').boundingBox();
  await tab.mouse.click(map.x + map.width / 2, map.y + map.height / 2, { button: 'right' });
  await tab.waitForSelector('.here h2');
  assert.match(await tab.locator('.here').textContent(), /35\.89\d\d\d, 14\.51\d\d\d.*Within \d+ m.*In the areas.*Valletta/s);
  await shot(tab, 'here');
  assert.deepEqual(await violations(tab), []);
  await tab.keyboard.press('Escape');
  await tab.waitForFunction(() => document.activeElement.matches('.maplibregl-canvas'));
  await tab.keyboard.press('Shift+F10');
  await tab.waitForSelector('.here h2');
  await tab.keyboard.press('ArrowDown');
  await tab.keyboard.press('Enter');
  await tab.waitForSelector('.entity h2');
  assert.deepEqual(messages, []);
  await context.close();
  void chrome;
});

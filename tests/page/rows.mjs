// The table as a tool: filters that act on everything, values with their numbers, columns, labels, numbers and dates.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { PHONE, open, run, test, violations } from './kit.mjs';
import { shot } from './browser.mjs';

const CAFES = '[out:json];nwr[amenity=cafe];out center;';
const tally = (tab) => tab.locator('.tally').textContent();
const filter = async (tab, text) => {
  await tab.fill('.table-tools input', text);
  await tab.waitForTimeout(500);
};
async function saved(tab, format) {
  await tab.click('button:has-text("Export")');
  const download = tab.waitForEvent('download');
  await tab.click(`[data-format=${format}]`);
  return readFile(await (await download).path(), 'utf8');
}

test('a filter acts on the rows, the map and files', async ({ url }) => {
  const { tab, context, messages } = await open(url, '/#C=35.9;14.45;11', { bypassCSP: true });
  await run(tab, CAFES);
  const all = Number(/^\d+/.exec(await tally(tab))[0]);
  await filter(tab, 'cuisine=coffee_shop -starbucks');
  await tab.waitForFunction(() => / of /.test(document.querySelector('.tally')?.textContent));
  const [, left] = /^(\d+) of \d+ rows, \1 on the map/.exec(await tally(tab));
  assert.ok(Number(left) > 0 && Number(left) < all);
  const { features } = JSON.parse(await saved(tab, 'geojson'));
  assert.equal(features.length, Number(left));
  assert.ok(features.every(({ properties }) => properties.cuisine === 'coffee_shop' && !/starbucks/i.test(JSON.stringify(properties))));
  assert.equal((await saved(tab, 'csv')).trim().split('\r\n').length, Number(left) + 1);
  assert.equal(JSON.parse(await saved(tab, 'json')).rows.length, Number(left));
  await shot(tab, 'rows-filter');
  assert.deepEqual(await violations(tab), []);
  await filter(tab, '');
  assert.match(await tally(tab), new RegExp(`^${all} rows`));
  assert.deepEqual(messages, []);
  await context.close();
});

test('a column offers its values with their numbers', async ({ url }) => {
  const { tab, context } = await open(url, '/', { colorScheme: 'dark', bypassCSP: true });
  await run(tab, CAFES);
  await tab.locator('.table-head [data-column]:has-text("cuisine") .column-button').click({ force: true });
  const value = tab.locator('.column-menu [data-value=coffee_shop]');
  await value.waitFor();
  const number = await value.locator('.count').textContent();
  await shot(tab, 'rows-values-dark');
  assert.deepEqual(await violations(tab), []);
  await value.click();
  await tab.waitForFunction((number) => document.querySelector('.tally')?.textContent.startsWith(`${number} of`), number);
  assert.equal(await tab.inputValue('.table-tools input'), 'cuisine=coffee_shop');
  await context.close();
});

test('columns are pinned, hidden, shown again and made wider, with the keyboard alone', async ({ url }) => {
  const { tab, context } = await open(url);
  await run(tab, CAFES);
  const names = () => tab.$$eval('.table-head [data-column] > button:first-child', (all) => all.map((one) => one.textContent));
  const before = await names();
  await tab.locator('.table-head [data-column="2"] > button').first().focus();
  const width = () => tab.locator('.table-head [data-column="2"]').evaluate((cell) => cell.getBoundingClientRect().width);
  const narrow = await width();
  await tab.keyboard.press('Alt+ArrowRight');
  await tab.keyboard.press('Alt+ArrowRight');
  assert.equal(await width(), narrow + 32);
  await tab.keyboard.press('ArrowDown');
  await tab.waitForSelector('.column-menu:popover-open');
  await tab.keyboard.press('ArrowDown');
  await tab.keyboard.press('ArrowDown');
  await tab.keyboard.press('Enter');
  assert.deepEqual((await names()).slice(0, 3), [before[2], before[0], before[1]]);
  await tab.locator('.table-scroll').evaluate((scroller) => (scroller.scrollLeft = 400));
  const [pinned, scroller] = await Promise.all([tab.locator('.table-head .pinned').boundingBox(), tab.locator('.table-scroll').boundingBox()]);
  assert.ok(Math.abs(pinned.x - scroller.x) < 2);
  await tab.locator('.table-head [data-column="0"] > button').first().focus();
  await tab.keyboard.press('ArrowDown');
  await tab.waitForSelector('.column-menu:popover-open');
  for (let i = 0; i < 3; i += 1) await tab.keyboard.press('ArrowDown');
  await tab.keyboard.press('Enter');
  assert.ok(!(await names()).includes('id'));
  await tab.click('.table-tools button:has-text("Columns")');
  await tab.locator('.column-list input').first().check();
  await tab.keyboard.press('Escape');
  assert.ok((await names()).includes('id'));
  await context.close();
});

test('numbers and dates are as the reader writes them, items have their labels', async ({ url }) => {
  const german = await open(url, '/', { locale: 'de-DE' });
  const { tab } = german;
  await tab.click('[data-language=sparql]');
  await run(tab, 'SELECT ?item ?people ?begun ?place WHERE { ?item wdt:P1082 ?people; wdt:P571 ?begun; wdt:P625 ?place } ORDER BY DESC(?people) LIMIT 20');
  const cells = await tab.$$eval('.table-body .table-row:first-child .cell', (all) => all.map((one) => one.textContent));
  assert.match(cells[1], /^\d{1,3}(\.\d{3})+$/);
  assert.match(cells[2], /^\d\d\.\d\d\.\d{4}$|^-?\d+-/);
  assert.match(cells[3], /^-?\d+\.\d{5}, -?\d+\.\d{5}$/);
  await tab.waitForFunction(() => /^\D.*Q\d+$/.test(document.querySelector('.table-body .table-row:first-child .cell')?.textContent));
  await shot(tab, 'rows-locale');
  await german.context.close();
  const years = await open(url);
  await years.tab.click('[data-language=sparql]');
  await run(years.tab, 'SELECT (2024 AS ?when) (1998 AS ?year) (123456 AS ?n) {}');
  assert.deepEqual(await years.tab.$$eval('.table-body .table-row .cell', (all) => all.map((one) => one.textContent)), ['2024', '1998', '123,456']);
  await years.context.close();
});

test('on a phone rows and buttons are 40 pixels high', async ({ url }) => {
  const { tab, context } = await open(url, '/', { ...PHONE, bypassCSP: true });
  await run(tab, CAFES);
  await tab.click('.panes [data-pane=answer]');
  const heights = await tab.$$eval('.table-body .table-row, .dock-head .button, .table-tools .field, .panes button', (all) => all.filter((one) => one.checkVisibility()).map((one) => [one.className || one.textContent, one.getBoundingClientRect().height]));
  for (const [name, height] of heights) assert.ok(height >= 40, `${name}: ${height}`);
  await shot(tab, 'rows-phone');
  assert.deepEqual(await violations(tab), []);
  await context.close();
});

// The page in other languages: German, Japanese and Arabic, which is written from right to left.

import assert from 'node:assert/strict';
import { shot } from './browser.mjs';
import { PHONE, open, test, violations } from './kit.mjs';

/** Runs the first example and waits for its rows. */
async function example(tab) {
  await tab.click('.intro-examples button');
  await tab.waitForSelector('.table-body .table-row', { state: 'attached' });
  await tab.waitForFunction(() => document.querySelector('.status').dataset.kind !== 'running');
}

/** How much wider than its window the page is, in pixels. */
const overflow = (tab) => tab.evaluate(() => document.documentElement.scrollWidth - innerWidth);

for (const [locale, language, run, rows] of [['de-AT', 'de', 'Ausführen', /^\d+ Zeilen/], ['ja-JP', 'ja', '実行', /^\d+ 行/], ['ar', 'ar', 'تشغيل', /صف/]]) {
  test(`text: the page in ${language} is whole, wide and on a phone`, async ({ url }) => {
    for (const [name, options] of [['wide', {}], ['phone', PHONE], ['dark', { colorScheme: 'dark' }]]) {
      const { tab, context, messages } = await open(url, '/', { locale, ...options });
      assert.equal(await tab.evaluate(() => document.documentElement.lang), language);
      assert.equal(await tab.evaluate(() => document.documentElement.dir), language === 'ar' ? 'rtl' : 'ltr');
      assert.ok((await tab.textContent('.runbar .primary')).includes(run));
      assert.ok((await overflow(tab)) <= 0, `${name}: ${await overflow(tab)} pixels too wide`);
      assert.deepEqual(await violations(tab), []);
      await example(tab);
      assert.match(await tab.textContent('.status'), rows);
      assert.ok((await overflow(tab)) <= 0, `${name} with an answer`);
      assert.deepEqual(await violations(tab), []);
      await shot(tab, `text-${language}-${name}`);
      assert.deepEqual(messages, []);
      await context.close();
    }
  });
}

test('text: code and map stay from left to right, the query is on the right in Arabic', async ({ url }) => {
  const { tab, context } = await open(url, '/?lang=ar');
  const direction = (selector) => tab.evaluate((one) => getComputedStyle(document.querySelector(one)).direction, selector);
  assert.deepEqual([await direction('.query'), await direction('.editor'), await direction('.map')], ['rtl', 'ltr', 'ltr']);
  const at = async (selector) => (await tab.locator(selector).boundingBox()).x;
  assert.ok((await at('.query')) > (await at('.map-pane')));
  // The border follows the arrows as the eye sees them: to the left the query gets wider.
  const width = async () => (await tab.locator('.left').boundingBox()).width;
  const before = await width();
  await tab.focus('.separator.upright');
  await tab.keyboard.press('ArrowLeft');
  assert.ok((await width()) > before);
  // Arrows of tabs go to the next one where it is seen.
  await example(tab);
  await tab.focus('[role=tab][aria-selected=true]');
  await tab.keyboard.press('ArrowLeft');
  assert.notEqual(await tab.evaluate(() => document.activeElement.id), 'tab-table');
  await context.close();
});

test('text: the language is chosen in a menu and remembered, that of labels apart', async ({ url }) => {
  const { tab, context } = await open(url, '/', { locale: 'sv-SE' });
  assert.equal(await tab.evaluate(() => document.documentElement.lang), 'en');
  await example(tab);
  await tab.click('.language button');
  assert.equal(await tab.evaluate(() => document.activeElement.lang), 'en');
  await Promise.all([tab.waitForEvent('load'), tab.click('.language-menu [lang=de]')]);
  await tab.waitForSelector('.runbar .primary');
  assert.equal(await tab.textContent('.words > label'), 'Was suchen Sie?');
  // The answer is still there, as its query is in the address.
  await tab.waitForSelector('.table-body .table-row');
  await tab.click('.language button');
  await Promise.all([tab.waitForEvent('load'), tab.selectOption('.language-menu select', 'fr')]);
  await tab.waitForSelector('.runbar .primary');
  const second = await context.newPage();
  await second.goto(url);
  await second.waitForSelector('.runbar .primary');
  assert.equal(await second.evaluate(() => document.documentElement.lang), 'de');
  // The address wins for its tab.
  await second.goto(`${url}/?lang=es`);
  await second.waitForSelector('.runbar .primary');
  assert.equal(await second.textContent('.words > label'), '¿Qué busca?');
  // Labels are in the language that was set apart.
  const inFrench = (request) => /language "fr,en,mul"/.test(decodeURIComponent(`${request.url()}${request.postData() ?? ''}`).replace(/\+/g, ' '));
  await Promise.all([second.waitForRequest(inFrench), second.goto(`${url}/entity/Q233`)]);
  await context.close();
});

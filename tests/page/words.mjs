// The field for words: "cafes in Valletta" gives the cafés on the map.

import assert from 'node:assert/strict';
import { PHONE, asked, editor, open, test, violations } from './kit.mjs';

const field = (tab) => tab.getByRole('combobox', { name: 'What are you looking for?' });
const ran = (tab) => tab.waitForFunction(() => !document.querySelector('.runbar .primary').hidden && /rows?|found/.test(document.querySelector('.status')?.textContent));

async function shot(tab, name) {
  const folder = process.env.TERRAPIN_PAGE_SHOTS;
  if (folder) await tab.screenshot({ path: `${folder}/words-${name}.png` });
}

test('words: cafes in Valletta are found by keyboard alone', async ({ url }) => {
  const { tab, context } = await open(url);
  await field(tab).focus();
  await tab.keyboard.type('cafes in Valletta');
  await tab.keyboard.press('Enter');
  await ran(tab);
  const cafes = await asked(url, '[out:json];area[name="Valletta"]->.a;nwr[amenity=cafe](area.a);out ids;');
  assert.match(await tab.locator('.tally').textContent(), new RegExp(`^${cafes.length} rows`));
  assert.match(await editor(tab).textContent(), /nwr\[amenity=cafe\]\(area\.searchArea\)/);
  const chips = await tab.locator('.words-chips li').allTextContents();
  assert.equal(chips.length, 2);
  assert.match(chips[0], /Cafe.*amenity=cafe/);
  assert.match(chips[1], /Valletta/);
  // The other language is one click away.
  await tab.getByRole('radio', { name: 'SPARQL' }).click();
  assert.match(await editor(tab).textContent(), /osmkey:amenity "cafe"/);
  assert.deepEqual(await violations(tab), []);
  await shot(tab, 'light');
  await context.close();
});

test('words: suggestions have counts, chips can be changed, the rest is named', async ({ url }) => {
  const { tab, context } = await open(url, '/', { colorScheme: 'dark' });
  await field(tab).fill('pharm');
  const option = tab.getByRole('option').first();
  await option.waitFor();
  assert.match(await option.textContent(), /pharmacy.*amenity=pharmacy.*\d/);
  assert.deepEqual(await violations(tab), []);
  await shot(tab, 'suggestions');
  await tab.keyboard.press('ArrowDown');
  await tab.keyboard.press('Enter');
  await ran(tab);
  assert.match(await field(tab).inputValue(), /^pharmacy/);
  await field(tab).fill('churches in Valletta that sparkle');
  await tab.keyboard.press('Enter');
  await ran(tab);
  assert.match(await tab.locator('.words-chip.unknown').textContent(), /sparkle/);
  assert.match(await tab.locator('.words-note').textContent(), /sparkle/);
  const chip = tab.locator('button.words-chip').first();
  await chip.focus();
  await tab.keyboard.press('Enter');
  await shot(tab, 'menu');
  assert.deepEqual(await violations(tab), []);
  await tab.keyboard.press('Enter');
  await tab.waitForFunction(() => document.querySelector('#words')?.value === 'building=church in Valletta that sparkle');
  await shot(tab, 'dark');
  await context.close();
});

test('words: on a phone, and in a link of the wizard', async ({ url }) => {
  const { tab, context } = await open(url, `/?w=${encodeURIComponent('cafe in Valletta')}&R`, PHONE);
  await tab.waitForFunction(() => /rows/.test(document.querySelector('.status')?.textContent));
  assert.equal(await tab.locator('#words').inputValue(), 'cafe in Valletta');
  assert.equal(await tab.evaluate(() => document.documentElement.scrollWidth), 390);
  assert.deepEqual(await violations(tab), []);
  await shot(tab, 'phone-map');
  await tab.getByRole('button', { name: 'Query', exact: true }).click();
  await shot(tab, 'phone');
  assert.deepEqual(await violations(tab), []);
  await context.close();
});

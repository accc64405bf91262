// Empty and failed answers explain themselves, and one click repairs them.

import assert from 'node:assert/strict';
import { asked, PHONE, editor, open, run, test, violations, write } from './kit.mjs';
import { shot } from './browser.mjs';

const repairs = (tab) => tab.locator('.notice .repair');
/** Waits for an answer after a click. */
async function answered(tab, click) {
  await click();
  await tab.waitForFunction(() => /rows?\b/.test(document.querySelector('.status')?.textContent) && document.querySelector('.status').dataset.kind !== 'running' && !/^0 rows/.test(document.querySelector('.status')?.textContent));
}

test('an empty answer names the nearest values, and one click takes one', async ({ url }) => {
  const { tab, context, messages } = await open(url, '/', { bypassCSP: true });
  await run(tab, '[out:json];node[amenity=caffe]({{bbox}});out;');
  await repairs(tab).first().waitFor();
  const first = repairs(tab).filter({ hasText: '[amenity=cafe]' });
  assert.match(await tab.locator('.notice[data-kind=empty]').textContent(), /no element has amenity=caffe/);
  assert.match(await first.textContent(), /Replace \[amenity=caffe\] with \[amenity=cafe\]\s*\d+/);
  await shot(tab, 'repair-light');
  assert.deepEqual(await violations(tab), []);
  await answered(tab, () => first.click());
  assert.equal(await editor(tab).textContent(), '[out:json];node[amenity=cafe]({{bbox}});out;');
  assert.deepEqual(messages, []);
  await context.close();
});

test('of filters the one too many is told, with what is found without it', async ({ url }) => {
  const { tab, context } = await open(url, '/', { ...PHONE, bypassCSP: true });
  await run(tab, '[out:json];node[amenity=cafe][highway=bus_stop];out;');
  const one = repairs(tab).filter({ hasText: 'Remove [highway=bus_stop]' });
  await one.waitFor();
  const cafes = await asked(url, '[out:json];node[amenity=cafe];out count;');
  assert.ok((await one.textContent()).includes(cafes[0].tags.nodes));
  const { height } = await one.boundingBox();
  assert.ok(height >= 40, `${height}`);
  await shot(tab, 'repair-phone');
  assert.deepEqual(await violations(tab), []);
  await answered(tab, () => one.tap());
  await context.close();
});

test('a missing output, a box elsewhere and a wrong type are repaired', async ({ url }) => {
  const { tab, context } = await open(url, '/', { colorScheme: 'dark', bypassCSP: true });
  await run(tab, '[out:json];node[amenity=cafe];');
  await answered(tab, () => repairs(tab).filter({ hasText: 'Add out geom;' }).click());
  assert.match(await tab.locator('.cm-content').textContent(), /out geom;$/);
  // The map is moved away: the query stays, and all of the data is searched.
  await tab.goto(`${url}/#C=10;10;12`);
  await run(tab, '[out:json];node[amenity=cafe]({{bbox}});out;');
  await repairs(tab).first().waitFor();
  await shot(tab, 'repair-dark');
  assert.deepEqual(await violations(tab), []);
  await answered(tab, () => repairs(tab).filter({ hasText: 'Search all of the data' }).click());
  assert.match(await editor(tab).textContent(), /\{\{bbox\}\}/);
  await run(tab, '[out:json];way[place=town];out;');
  await answered(tab, () => repairs(tab).filter({ hasText: 'Replace way with nwr' }).click());
  await context.close();
});

test('a query in the other language is taken there by one click', async ({ url }) => {
  const { tab, context } = await open(url);
  const sparql = 'SELECT ?item WHERE { ?item wdt:P31 ?class } LIMIT 5';
  await write(tab, sparql);
  const notice = tab.locator('.notice[data-kind=language]');
  assert.match(await notice.textContent(), /This is SPARQL/);
  await answered(tab, () => notice.locator('button:has-text("Run it as SPARQL")').click());
  assert.equal(await tab.locator('button[data-language=sparql]').getAttribute('aria-checked'), 'true');
  assert.equal(await notice.count(), 0);
  await write(tab, '[out:json];node[amenity=cafe];out;');
  await answered(tab, () => notice.locator('button:has-text("Run it as OverpassQL")').click());
  assert.equal(await tab.locator('button[data-language=overpassql]').getAttribute('aria-checked'), 'true');
  await context.close();
});

test('a slip in a word is repaired', async ({ url }) => {
  const { tab, context } = await open(url);
  await run(tab, '[out:json];nod[amenity=cafe];out;');
  await answered(tab, () => repairs(tab).filter({ hasText: 'Replace nod with node' }).click());
  assert.equal(await editor(tab).textContent(), '[out:json];node[amenity=cafe];out;');
  await context.close();
});

test('repairs are reached with the keyboard alone', async ({ url }) => {
  const { tab, context } = await open(url);
  await write(tab, '[out:json];node[amenity=caffe];out;');
  await tab.keyboard.press('Control+Enter');
  await repairs(tab).first().waitFor();
  await tab.keyboard.press('Escape');
  for (let i = 0; i < 30 && !(await tab.evaluate(() => document.activeElement.matches('.repair'))); i += 1) await tab.keyboard.press('Tab');
  await answered(tab, () => tab.keyboard.press('Enter'));
  await context.close();
});

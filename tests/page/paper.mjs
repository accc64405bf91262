// Paper follows the table: the rows that pass the filter, in its order, with the query that gave them.

import assert from 'node:assert/strict';
import { open, run, test } from './kit.mjs';

/** What is on paper: the query, the names of the rows, and the note on the others. */
async function printed(tab) {
  await tab.evaluate(() => dispatchEvent(new Event('beforeprint')));
  const page = await tab.evaluate(() => {
    const names = [...document.querySelectorAll('.printed th')].map((cell) => cell.textContent);
    const rows = [...document.querySelectorAll('.printed tbody tr')].map((row) => row.children[names.indexOf('name')]?.textContent);
    return { query: document.querySelector('.printed pre').textContent, rows, note: document.querySelector('.printed table + p')?.textContent ?? '' };
  });
  await tab.evaluate(() => dispatchEvent(new Event('afterprint')));
  return page;
}

test('paper: the rows that pass the filter, as they are sorted, and the query that gave them', async ({ url }) => {
  const { tab, context } = await open(url);
  const query = '[out:json];node[place][name];out;';
  const all = Number(/^[\d,]+/.exec(await run(tab, query))[0].replace(',', ''));
  const whole = await printed(tab);
  assert.equal(whole.rows.length, Math.min(all, 200));
  await tab.fill('.table-tools input', 'place=town');
  await tab.waitForFunction(() => /of/.test(document.querySelector('.table-tools .muted').textContent));
  await tab.waitForTimeout(300);
  const towns = await printed(tab);
  const number = Number(/^\d+/.exec(await tab.textContent('.table-tools .muted'))[0]);
  assert.ok(number > 1 && number < 200);
  assert.equal(towns.rows.length, number);
  assert.equal(towns.note, '');
  await tab.click('.table-head button:text-matches("^name")');
  await tab.waitForTimeout(300);
  const sorted = await printed(tab);
  assert.deepEqual(sorted.rows, towns.rows.toSorted(new Intl.Collator('en', { numeric: true }).compare));
  // A query that fails leaves the answer of the one before.
  await run(tab, '[out:json];node[');
  assert.deepEqual(await printed(tab), { ...sorted, query });
  await tab.fill('.table-tools input', '');
  await tab.waitForTimeout(600);
  assert.equal((await printed(tab)).rows.length, whole.rows.length);
  await context.close();
});

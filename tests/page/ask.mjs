// Questions in plain language, asked of a scripted model.

import assert from 'node:assert/strict';
import { serve, shot } from './browser.mjs';
import { PHONE, asked, editor, open, test, violations } from './kit.mjs';
import { model } from './model.mjs';

/** A server that asks a scripted model: its first query has a slip, the second finds the cafes of the area that it is shown. */
async function asking(path) {
  const scripted = await model((messages, last) => {
    if (last.startsWith('Say what this question mentions')) return last.includes('wait') ? undefined : '{"places": ["Valletta"], "things": ["cafe"]}';
    if (last.startsWith('This came of the query')) return `There are ${/rows: (\d+)/.exec(last)[1]}.`;
    const prompt = messages[1].content;
    const area = /place "Valletta.*(area\(\d+\))/.exec(prompt)?.[1] ?? 'area[name=Valletta]';
    const key = messages.length > 2 || !prompt.includes('cafe') ? 'amenity' : 'amenty';
    return `map: yes\n\`\`\`overpassql\n[out:json];\n${area}->.a;\nnwr[${key}=cafe](area.a);\nout center;\n\`\`\``;
  });
  const server = await serve(path, ...scripted.options);
  return { ...scripted, url: server.url, end: () => (server.end(), scripted.end()) };
}

test('a question is asked, its query repaired, its answer on the map, and a step changed', async ({ path }) => {
  const { url, asked: said, end } = await asking(path);
  const { tab, messages, elsewhere, context } = await open(url);
  await tab.click('[data-language=ask]');
  await tab.keyboard.type('Which cafes are in Valletta?');
  await tab.keyboard.press('Tab');
  await tab.keyboard.type('Inside the walls.');
  await tab.keyboard.press('Control+Enter');
  await tab.waitForSelector('.ask-answer:not([hidden])');
  const status = () => tab.locator('.ask-status').textContent();
  assert.equal(await status(), 'Answered, after a repair.');
  const steps = await tab.$$eval('.ask-step', (items) => items.map((item) => item.dataset.step));
  assert.deepEqual(steps, ['mentions', 'candidates', 'prompt', 'reply', 'query', 'feedback', 'result', 'reply', 'query', 'result', 'text']);
  const expected = await asked(url, '[out:json];area[name=Valletta][admin_level]->.a;nwr[amenity=cafe](area.a);out center;');
  assert.ok(expected.length > 5);
  assert.equal(await tab.locator('.ask-answer').textContent(), `There are ${expected.length}.`);
  assert.match(said[1], /Inside the walls\./);
  assert.match(said[2], /amenity/);
  await tab.waitForFunction((rows) => document.querySelector('.table').getAttribute('aria-rowcount') === String(rows + 1), expected.length);
  assert.match(await tab.locator('.tally').textContent(), new RegExp(`${expected.length} on the map`));
  await tab.waitForTimeout(1200);
  await shot(tab, 'ask');
  // The last query, changed by hand, is run as it is.
  const last = tab.locator('.ask-step[data-step=query]').last();
  await last.locator('textarea').fill('node[amenity=cafe][name~"Cordina"];out;');
  const before = said.length;
  const { length } = await asked(url, '[out:json];node[amenity=cafe][name~"Cordina"];out;');
  await last.locator('button').click();
  await tab.waitForFunction((n) => document.querySelector('.ask-answer')?.textContent === `There are ${n}.` && !document.querySelector('.ask-answer').hidden, length);
  assert.equal(said.length, before + 1);
  await tab.waitForFunction((n) => document.querySelector('.table').getAttribute('aria-rowcount') === String(n + 1), length);
  // So are the candidates, from which a query is written anew.
  const candidates = tab.locator('.ask-step[data-step=candidates]');
  await candidates.locator('summary').click();
  await candidates.locator('textarea').fill('tag "amenity"="library": 3 elements');
  await candidates.locator('button').click();
  await tab.waitForFunction(() => document.querySelector('.ask-status')?.textContent.startsWith('Answered'));
  assert.deepEqual(await tab.$$eval('.ask-step', (items) => items.slice(0, 3).map((item) => item.dataset.step)), ['mentions', 'candidates', 'prompt']);
  assert.ok((await tab.locator('.ask-step[data-step=prompt] textarea').inputValue()).includes('"amenity"="library"'));
  // Back at the editor there is the query.
  await tab.click('[data-language=overpassql]');
  assert.match(await editor(tab).textContent(), /nwr\[amen/);
  assert.deepEqual(messages, []);
  assert.deepEqual(elsewhere, []);
  await context.close();
  end();
});

test('a question is stopped, and a server without a model has none', async ({ url: off, path }) => {
  const { url, end } = await asking(path);
  const { tab, context } = await open(url);
  await tab.click('[data-language=ask]');
  await tab.keyboard.type('Please wait');
  await tab.click('.ask .primary');
  await tab.waitForSelector('.ask .stop:not([hidden])');
  await tab.keyboard.press('Escape');
  await tab.waitForFunction(() => document.querySelector('.ask-status')?.textContent === 'Stopped.');
  await context.close();
  end();
  const without = await open(off);
  assert.equal(await without.tab.locator('[data-language=ask]').count(), 0);
  await without.context.close();
});

for (const [name, options] of Object.entries({ light: {}, dark: { colorScheme: 'dark' }, phone: PHONE })) {
  test(`questions are in nobody's way: ${name}`, async ({ path }) => {
    const { url, end } = await asking(path);
    const { tab, context } = await open(url, '/', { ...options, bypassCSP: true });
    await tab.click('[data-language=ask]');
    await tab.fill('#ask-question', 'Which cafes are in Valletta?');
    await tab.click('.ask .primary');
    await tab.waitForSelector('.ask-answer:not([hidden])', { state: 'attached' });
    await tab.waitForTimeout(1500);
    if (name === 'phone') await tab.click('.panes [data-pane=query]');
    await shot(tab, `${name}-ask`);
    assert.deepEqual(await violations(tab), []);
    if (name === 'phone') assert.equal(await tab.evaluate(() => document.documentElement.scrollWidth), 390);
    await context.close();
    end();
  });
}

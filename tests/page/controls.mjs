// Panels, dialogs and tabs by keyboard: the focus goes in, is seen, and comes back; Escape closes what is open and nothing else.

import assert from 'node:assert/strict';
import { CAFES, editor, open, run, test, violations } from './kit.mjs';

const OPEN = ':popover-open, dialog[open]';
const isOpen = (tab) => tab.evaluate((selector) => document.querySelector(selector) !== null, OPEN);
/** The element that has the focus, also in the editor, and whether this is seen. */
const focused = (tab) =>
  tab.evaluate(() => {
    let element = document.activeElement;
    while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
    if (!element || element === document.body) return null;
    const { boxShadow, outlineStyle, outlineWidth } = getComputedStyle(element);
    // The caret of the editor is its own sign; MapLibre's buttons have a shadow.
    return { name: element.getAttribute('aria-label') ?? element.labels?.[0]?.textContent ?? (element.textContent.trim().slice(0, 40) || element.title), isSeen: (outlineStyle !== 'none' && Number.parseFloat(outlineWidth) >= 1) || (boxShadow !== 'none' && element.matches('.maplibregl-ctrl button')) || element.matches('.cm-content') };
  });

test('controls: each panel has the focus, named controls, is closed by Escape, and gives the focus back', async ({ url }) => {
  for (const options of [{}, { colorScheme: 'dark' }, { locale: 'ar' }]) {
    const { tab, context, messages } = await open(url, '/', options);
    await run(tab, CAFES);
    await tab.locator('.table-body .table-row').first().click();
    await tab.waitForSelector('.card:not([hidden])');
    const buttons = await tab.locator('button[aria-expanded]:visible:not([disabled]), .code-button:visible').all();
    assert.ok(buttons.length > 8, `${buttons.length} buttons open something`);
    for (const button of buttons) {
      const name = (await button.getAttribute('aria-label')) ?? (await button.textContent());
      await button.focus();
      await tab.keyboard.press('Enter');
      await tab.waitForSelector(OPEN);
      await tab.waitForFunction((selector) => document.querySelector(selector)?.contains(document.activeElement), OPEN).catch(() => assert.fail(`${name}: the focus stays outside`));
      assert.deepEqual(await violations(tab), [], name);
      await tab.keyboard.press('Escape');
      await tab.waitForFunction((selector) => !document.querySelector(selector), OPEN);
      await tab.waitForFunction((element) => document.activeElement === element, await button.elementHandle()).catch(() => assert.fail(`${name}: the focus does not come back`));
      assert.ok(await tab.locator('.card').isVisible(), `${name}: Escape closed more than the panel`);
    }
    assert.deepEqual(messages, []);
    await context.close();
  }
});

test('controls: Tab goes through the page, each stop is seen, and none keeps the focus', async ({ url }) => {
  const { tab, context } = await open(url);
  await run(tab, CAFES);
  await tab.click('#tab-chart');
  await tab.waitForSelector('svg.chart');
  await tab.evaluate(() => {
    const start = Object.assign(document.createElement('span'), { tabIndex: -1 });
    document.body.prepend(start);
    start.focus();
  });
  const stops = [];
  for (let i = 0; i < 200; i += 1) {
    await tab.keyboard.press('Tab');
    const stop = await focused(tab);
    if (!stop) break;
    stops.push(stop);
  }
  assert.ok(stops.length > 20 && stops.length < 200, `${stops.length} stops`);
  assert.deepEqual(stops.filter(({ isSeen, name }) => !isSeen || !name), [], JSON.stringify(stops.map(({ name }) => name)));
  await context.close();
});

test('controls: tabs follow the direction of the language in the dialog of programs as well', async ({ url }) => {
  for (const [locale, next] of [['en', 'ArrowRight'], ['ar', 'ArrowLeft']]) {
    const { tab, context } = await open(url, '/', { locale });
    await run(tab, CAFES);
    await tab.click('.code-button');
    const chosen = () => tab.locator('.code-dialog [role=tab][aria-selected=true]').textContent();
    await tab.locator('.code-dialog [role=tab]').first().focus();
    await tab.keyboard.press('Home');
    await tab.keyboard.press(next);
    assert.equal(await chosen(), 'overpy', locale);
    assert.equal(await tab.evaluate(() => document.activeElement.textContent), 'overpy');
    await context.close();
  }
});

test('controls: texts are copied where there is no clipboard, as over plain HTTP', async ({ url }) => {
  const { tab, context, messages } = await open(url);
  await tab.evaluate(() => Object.defineProperty(navigator, 'clipboard', { value: undefined }));
  await run(tab, CAFES);
  await tab.click('.code-button');
  await tab.locator('.code-dialog [role=tab]').last().click();
  await tab.click('.code-dialog .primary');
  assert.equal(await tab.textContent('.code-dialog .primary'), 'Copied');
  assert.equal(await tab.evaluate(() => document.activeElement.textContent), 'Copied');
  await tab.keyboard.press('Escape');
  await editor(tab).click();
  await tab.keyboard.press('Control+a');
  await tab.keyboard.press('Control+v');
  assert.match(await editor(tab).innerText(), /^terrapin query --lang overpassql -- /);
  await tab.click('button[aria-label=Share]');
  await tab.click('.share button:has-text("Copy the link")');
  await tab.waitForSelector('.share button:has-text("Copied")');
  assert.ok(await isOpen(tab));
  assert.deepEqual(messages, []);
  await context.close();
});

test("controls: the editor's search panel is in the language of the page", async ({ url }) => {
  const { tab, context } = await open(url, '/', { locale: 'de' });
  await editor(tab).click();
  await tab.keyboard.press('Control+f');
  const panel = tab.locator('.cm-search');
  assert.equal(await panel.locator('[name=search]').getAttribute('placeholder'), 'Suchen');
  assert.deepEqual(await panel.locator('button.cm-button').allTextContents(), ['weiter', 'zurück', 'alle', 'ersetzen', 'alle ersetzen']);
  assert.ok((await focused(tab)).isSeen);
  assert.deepEqual(await violations(tab), []);
  await tab.keyboard.press('Escape');
  assert.equal(await panel.count(), 0);
  await context.close();
});

// The operator's identity: name, logo, notice, attribution, default query and language, from `serve --page`.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { folder, serve, shot } from './browser.mjs';
import { PHONE, editor, open, run, test, violations } from './kit.mjs';

const SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 60 24"><rect width="60" height="24" rx="4" fill="#8a1c4a"/><circle cx="30" cy="12" r="7" fill="#fff"/></svg>';

/** Starts a server with an identity. */
function identified(path, text) {
  writeFileSync(join(folder, 'logo.svg'), SVG);
  writeFileSync(join(folder, 'page.toml'), text);
  return serve(path, '--page', join(folder, 'page.toml'));
}

const WHOLE = `name = "Malta Open Data"
logo = "logo.svg"
notice = "Run by [the town](https://example.org/?a=1&b=2). <img src=x onerror=alert(1)>"
attribution = "Addresses © [Town of \\"X\\"](https://example.org/licence), CC BY"
language = "de"
query = """
[out:json];
node[tourism=museum]({{bbox}});
out;
"""
`;

test('identity: name, logo, notice, attribution and query of the operator are shown', async ({ path }) => {
  const server = await identified(path, WHOLE);
  try {
    for (const [name, options] of [['wide', {}], ['dark', { colorScheme: 'dark' }], ['phone', PHONE]]) {
      const { tab, context, messages, elsewhere } = await open(server.url, '/', { locale: 'sv-SE', ...options });
      assert.equal(await tab.title(), 'Malta Open Data');
      assert.equal(await tab.evaluate(() => document.documentElement.lang), 'de');
      assert.equal(await tab.textContent('.brand'), 'Malta Open Data');
      assert.ok(await tab.evaluate(() => document.querySelector('.brand img').naturalWidth > 0));
      // Markup in the notice is text.
      assert.equal(await tab.textContent('.operator-notice p'), 'Run by the town. <img src=x onerror=alert(1)>');
      assert.equal(await tab.locator('.operator-notice img').count(), 0);
      assert.equal(await tab.getAttribute('.operator-notice a', 'href'), 'https://example.org/?a=1&b=2');
      assert.match(await editor(tab).textContent(), /tourism=museum/);
      assert.match(await tab.locator('.maplibregl-ctrl-attrib').textContent(), /OpenStreetMap.*Addresses © Town of "X", CC BY/s);
      assert.equal(await tab.evaluate(() => document.documentElement.scrollWidth - innerWidth), 0);
      assert.deepEqual(await violations(tab), []);
      await shot(tab, `identity-${name}`);
      assert.deepEqual([messages, elsewhere], [[], []]);
      await context.close();
    }
    const { tab, context } = await open(server.url, '/');
    // Paper has name, notice and sources.
    await tab.evaluate(() => dispatchEvent(new Event('beforeprint')));
    assert.equal(await tab.textContent('.printed h1'), 'Malta Open Data');
    assert.equal(await tab.textContent('.printed-notice'), 'Run by the town. <img src=x onerror=alert(1)>');
    assert.match(await tab.textContent('.printed footer'), /Addresses © Town of "X", CC BY/);
    await tab.evaluate(() => dispatchEvent(new Event('afterprint')));
    // Files have the operator's sources.
    await run(tab);
    await tab.click('.dock-head .button:has-text("Export"), .dock-head .button:first-of-type');
    const [file] = await Promise.all([tab.waitForEvent('download'), tab.click('[data-format=geojson]')]);
    assert.match(JSON.parse(readFileSync(await file.path(), 'utf8')).copyright, /ODbL.*Addresses © Town of "X", CC BY/);
    // The notice stays away once it is dismissed.
    await tab.click('.operator-notice button');
    await tab.reload();
    await tab.waitForSelector('.layout');
    assert.equal(await tab.locator('.operator-notice').count(), 0);
    await tab.goto(`${server.url}/embed#Q=${encodeURIComponent('[out:json];node[tourism=museum];out;')}`);
    await tab.waitForSelector('.embed-brand img');
    assert.match(await tab.textContent('.embed-link'), /Malta Open Data/);
    await shot(tab, 'identity-embed');
    await context.close();
  } finally {
    server.end();
  }
});

test('identity: the logo runs nothing, even as a page of its own', async ({ path }) => {
  const server = await identified(path, 'logo = "logo.svg"\n');
  try {
    const answer = await fetch(`${server.url}/page/logo`);
    assert.equal(answer.headers.get('content-type'), 'image/svg+xml');
    assert.match(answer.headers.get('content-security-policy'), /default-src 'none'.*sandbox/);
    assert.equal(answer.headers.get('x-content-type-options'), 'nosniff');
    const again = await fetch(`${server.url}/page/logo`, { headers: { 'If-None-Match': answer.headers.get('etag') } });
    assert.equal(again.status, 304);
  } finally {
    server.end();
  }
});

// The page itself: its editor, answers on the map and in the table, files, links, pages of elements, and who uses it how.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { folder, page, serve, shot, snapshot } from './browser.mjs';
import { CAFES, PHONE, asked, chrome, editor, open, pixels, run, test, violations, write } from './kit.mjs';

test('the first paint comes quietly, from this server alone, and says how soon', async ({ url }) => {
  const { tab, messages, elsewhere, context } = await open(url);
  const paint = await tab.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0].startTime);
  // What others do on the machine shows in it: nobody is to fail by that who did not ask for it.
  if (/\btime\b/.test(process.env.TERRAPIN_REQUIRE ?? '')) assert.ok(paint < 1000, `${paint} ms`);
  const bytes = await tab.evaluate(() => performance.getEntriesByType('resource').filter((entry) => entry.name.includes('/page/')).reduce((sum, entry) => sum + entry.encodedBodySize, 0));
  assert.ok(bytes > 100_000 && bytes < 1_500_000, `${bytes} bytes`);
  await run(tab, CAFES);
  await tab.waitForTimeout(500);
  assert.deepEqual(messages, []);
  assert.deepEqual(elsewhere, []);
  console.log(`    first paint ${Math.round(paint)} ms, ${bytes} bytes`);
  await context.close();
});

test('an answer is on the map and in the table, and what is selected in one is in the other', async ({ url }) => {
  const { tab, context } = await open(url);
  const expected = await asked(url, CAFES);
  const status = await run(tab, CAFES);
  assert.ok(status.startsWith(`${expected.length} rows`), status);
  assert.equal(await tab.locator('.table').getAttribute('aria-rowcount'), String(expected.length + 1));
  await tab.fill('.table-tools input', 'cordina');
  await tab.waitForFunction(() => document.querySelectorAll('.table-body .table-row').length < 5);
  await tab.click('.table-body .table-row .cell:nth-child(2)');
  await tab.waitForSelector('.card:not([hidden])');
  assert.match(await tab.locator('.card h2').textContent(), /Cordina/);
  await shot(tab, 'selected');
  await tab.click('.card button[aria-label=Close]');
  await tab.fill('.table-tools input', '');
  await tab.waitForTimeout(1200);
  // The one that was looked at is in the middle of the map.
  const map = await tab.locator('.map-pane').boundingBox();
  await tab.mouse.click(map.x + map.width / 2, map.y + map.height / 2);
  await tab.waitForSelector('.card:not([hidden])');
  assert.match(await tab.locator('.card h2').textContent(), /Cordina/);
  assert.match(await tab.locator('.table-body .table-row[aria-selected=true]').textContent(), /Cordina/);
  await context.close();
});

test('small things have symbols, in the colours of the theme', async ({ url }) => {
  // Those of benches and fountains, which have no names that would be written in them.
  const colours = { light: [0x4c, 0x7a, 0x3d], dark: [0x8d, 0xb3, 0x7e] };
  for (const [colorScheme, colour] of Object.entries(colours)) {
    const { tab, context, messages } = await page(chrome, { colorScheme });
    const outlines = tab.waitForResponse(/outlines\.js$/);
    await tab.goto(`${url}/?C=35.8978;14.5125;17`);
    assert.equal((await outlines).status(), 200);
    // Symbols come when the tiles have.
    for (let tries = 0; (await pixels(tab, await tab.locator('.map').screenshot(), colour)) < 100; tries += 1) {
      assert.ok(tries < 40, `no symbols: ${colorScheme}`);
      await tab.waitForTimeout(250);
    }
    await shot(tab, `symbols-${colorScheme}`);
    assert.deepEqual(messages, []);
    await context.close();
  }
});

test('errors are underlined where they are, with what was meant', async ({ url }) => {
  const { tab, context } = await open(url);
  await write(tab, '[out:json];\n{{town=Valletta}}\nnod[amenity=cafe];\nout;');
  await tab.waitForSelector('.cm-lintRange-error');
  assert.equal(await tab.locator('.cm-lintRange-error').first().textContent(), 'nod');
  await tab.hover('.cm-lintRange-error');
  await tab.waitForSelector('.cm-tooltip-lint');
  assert.match(await tab.locator('.cm-tooltip-lint').textContent(), /did you mean "node"/);
  await shot(tab, 'error');
  // Away from the tooltip, which covers the editor.
  await tab.mouse.move(0, 0);
  await tab.waitForSelector('.cm-tooltip-lint', { state: 'detached' });
  await write(tab, '[out:json];node[amenity=cafee];out;');
  await tab.waitForSelector('.cm-lintRange-warning');
  await tab.click('[data-language=sparql]');
  await write(tab, 'SELECT * WHERE { ?item wdt:P31 }');
  await tab.waitForSelector('.cm-lintRange-error');
  await write(tab, 'SELECT * WHERE { ?item wdt:P31 ?class } LIMIT 5');
  await tab.waitForFunction(() => !document.querySelector('.editor').shadowRoot.querySelector('.cm-lintRange-error'));
  await context.close();
});

test('keys, values, sets and properties are completed', async ({ url }) => {
  const { tab, context } = await open(url);
  const offered = async (wanted) => {
    await tab.waitForFunction((text) => [...document.querySelector('.editor').shadowRoot.querySelectorAll('.cm-tooltip-autocomplete li')].some((item) => item.textContent.includes(text)), wanted);
  };
  await write(tab, '[out:json];node[');
  await tab.keyboard.type('amen', { delay: 40 });
  await offered('amenity');
  await shot(tab, 'completion');
  await tab.waitForTimeout(120);
  await tab.keyboard.press('Enter');
  await tab.keyboard.type('=caf', { delay: 40 });
  await offered('cafe');
  await tab.waitForTimeout(120);
  await tab.keyboard.press('Enter');
  assert.match(await editor(tab).textContent(), /node\[amenity=cafe/);
  await write(tab, '[out:json];node[amenity=cafe]->.coffee;way(around.co');
  await tab.keyboard.press('Escape');
  await tab.keyboard.type('f', { delay: 40 });
  await tab.keyboard.press('Control+Space');
  await offered('coffee');
  await tab.click('[data-language=sparql]');
  await write(tab, 'SELECT * WHERE { ?item wdt:');
  await tab.keyboard.type('instance', { delay: 40 });
  await offered('P31');
  await tab.waitForTimeout(120);
  await tab.keyboard.press('Enter');
  assert.match(await editor(tab).textContent(), /wdt:P31/);
  await context.close();
});

test('what stands under the mouse is told', async ({ url }) => {
  const { tab, context } = await open(url);
  const [first] = (await (await fetch(`${url}/api/4/tag/stats?key=amenity&value=cafe`)).json()).data;
  await write(tab, '[out:json];\n\n\n\nnode[amenity=cafe];out;');
  await tab.keyboard.press('Escape');
  await tab.locator('.cm-line:last-child span:text-is("cafe")').hover();
  await tab.waitForSelector('.cm-hover');
  const told = await tab.locator('.cm-hover').textContent();
  assert.ok(told.startsWith(`amenity=cafe${first.count.toLocaleString('en')} elements`) && told.includes('often with'), told);
  await tab.click('[data-language=sparql]');
  await write(tab, '\n\n\n\nSELECT * WHERE { ?item wdt:P31 wd:Q233 }');
  await tab.keyboard.press('Escape');
  await tab.locator('.cm-line:last-child span:text-is("wd:Q233")').hover();
  await tab.waitForFunction(() => /Malta/.test(document.querySelector('.editor').shadowRoot.querySelector('.cm-hover')?.textContent ?? ''));
  await context.close();
});

test('queries are laid out, and stay what they are', async ({ url }) => {
  const { tab, context } = await open(url);
  const laidOut = async (text) => {
    await write(tab, text);
    const formatted = tab.waitForResponse((response) => response.url().endsWith('/format') && response.ok());
    await tab.keyboard.press('Shift+Alt+F');
    await (await formatted).finished();
    await tab.waitForTimeout(100);
    return (await tab.locator('.cm-line').allTextContents()).join('\n').trimEnd();
  };
  const query = '[out:json];(node[amenity=cafe]["name"~"a;b"];way({{bbox}}););for(t["name"]){make x n=count(ways);out;}/* end */';
  const text = await laidOut(query);
  assert.equal(text, '[out:json];\n(\n  node[amenity=cafe]["name"~"a;b"];\n  way({{bbox}});\n);\nfor (t["name"]) {\n  make x n=count(ways);\n  out;\n} /* end */');
  assert.equal(await laidOut(text), text);
  await tab.click('[data-language=sparql]');
  const pattern = await laidOut('SELECT * WHERE{?a wdt:P31 wd:Q5;wdt:P625 ?c. # where\nFILTER(?n>1.5)}LIMIT 3');
  assert.equal(pattern, 'SELECT * WHERE {\n  ?a wdt:P31 wd:Q5 ;\n    wdt:P625 ?c . # where\n  FILTER(?n > 1.5)\n}\nLIMIT 3');
  await context.close();
});

test('a query that runs is stopped, and its slot is free', async ({ url }) => {
  const { tab, context } = await open(url);
  await write(tab, '[out:json][timeout:120];way[highway]->.a;foreach.a(way(around:3000)[building];out count;);');
  await tab.keyboard.press('Control+Enter');
  await tab.waitForSelector('.runbar .stop:not([hidden])');
  await tab.waitForTimeout(400);
  assert.match(await (await fetch(`${url}/api/status`)).text(), /start time\):\n\d+/);
  await tab.keyboard.press('Escape');
  await tab.waitForFunction(() => document.querySelector('.status')?.textContent === 'Stopped.');
  await tab.waitForTimeout(500);
  assert.match(await (await fetch(`${url}/api/status`)).text(), /start time\):\n$/);
  await context.close();
});

test('100,000 elements stay fluid', async ({ url }) => {
  const { tab, context } = await open(url);
  const status = await run(tab, '[out:json][timeout:60];node(35.7,14.1,36.1,14.7);out skel 100000;');
  assert.ok(status.startsWith('100,000 rows'), status);
  await tab.waitForTimeout(1500);
  await chrome.startTracing(tab, { categories: ['toplevel', 'devtools.timeline', 'disabled-by-default-devtools.timeline'] });
  const map = await tab.locator('.map-pane').boundingBox();
  const middle = [map.x + map.width / 2, map.y + map.height / 2];
  await tab.mouse.move(...middle);
  for (let i = 0; i < 6; i += 1) {
    await tab.mouse.wheel(0, -240);
    await tab.waitForTimeout(250);
  }
  await tab.mouse.down();
  for (let i = 0; i < 20; i += 1) {
    await tab.mouse.move(middle[0] - 10 * i, middle[1] + 5 * i);
    await tab.waitForTimeout(16);
  }
  await tab.mouse.up();
  await tab.locator('.table-scroll').evaluate((element) => (element.scrollTop = 1_000_000));
  await tab.waitForTimeout(800);
  await shot(tab, 'many');
  const { work, wait } = longest(JSON.parse((await chrome.stopTracing()).toString()).traceEvents);
  console.log(`    the longest task worked ${work.toFixed(0)} ms, and took ${wait.toFixed(0)} ms with drawing in software`);
  assert.ok(work > 0 && work <= 100, `${work} ms`);
  assert.ok((await tab.locator('.table-body .table-row').count()) < 120);
  await context.close();
});

/**
 * The longest task of a page's thread in a trace, in milliseconds: by the time that the thread itself worked, and by the
 * clock. The latter has waiting in it for whoever draws, which here is no graphics card but this machine's processor.
 */
function longest(events) {
  const threads = events.filter((event) => event.name === 'thread_name' && event.args.name === 'CrRendererMain');
  const tasks = events.filter((event) => event.name === 'RunTask' && event.dur && threads.some((thread) => thread.pid === event.pid && thread.tid === event.tid));
  const most = (times) => times.reduce((a, b) => Math.max(a, b), 0) / 1000;
  return { work: most(tasks.map((task) => task.tdur ?? task.dur)), wait: most(tasks.map((task) => task.dur)) };
}

/** The rows of a GeoParquet file. */
async function features(bytes) {
  const { parquetReadObjects } = await import(new URL('../../web/node_modules/hyparquet/src/index.js', import.meta.url));
  return parquetReadObjects({ file: new Uint8Array(bytes).buffer });
}

test('every download is opened by another program', async ({ url }) => {
  const { tab, context } = await open(url);
  await run(tab, '[out:json];(node[amenity=cafe];way[leisure=park];rel[boundary=administrative][admin_level=8];);out geom;');
  const total = await tab.locator('.table').getAttribute('aria-rowcount');
  const rows = Number(total) - 1;
  const gdal = spawnSync('ogrinfo', ['--version']).status === 0;
  if (!gdal) console.log('    skipped for want of GDAL: only written, not read');
  for (const format of ['geojson', 'gpx', 'kml', 'csv', 'parquet', 'json', 'raw']) {
    await tab.click('button:has-text("Export")');
    const [download] = await Promise.all([tab.waitForEvent('download'), tab.click(`[data-format=${format}]`)]);
    const path = join(folder, download.suggestedFilename());
    await download.saveAs(path);
    if (['json', 'raw'].includes(format)) {
      assert.ok(JSON.parse(readFileSync(path, 'utf8')).elements.length >= rows);
      continue;
    }
    if (format === 'parquet') {
      const read = await features(readFileSync(path));
      assert.equal(read.length, rows);
      assert.ok(read.every((row) => row.name !== undefined && row.geometry.coordinates.length > 0));
      continue;
    }
    if (!gdal) continue;
    const read = spawnSync('ogrinfo', ['-ro', '-al', '-so', path], { encoding: 'utf8' });
    assert.equal(read.status, 0, read.stderr);
    const counts = [...read.stdout.matchAll(/Feature Count: (\d+)/g)].map((match) => Number(match[1]));
    const sum = counts.reduce((a, b) => a + b, 0);
    if (format === 'gpx') assert.ok(sum > rows, `${format}: ${read.stdout}`);
    else assert.equal(sum, rows, `${format}: ${read.stdout}`);
  }
  await context.close();
});

test('a link brings query, map and answer back, and warns of another snapshot', async ({ url }) => {
  const { tab, context } = await open(url);
  await run(tab, '[out:json];node[amenity=pharmacy]({{bbox}});out;');
  const before = await tab.locator('.status').textContent();
  await tab.click('button[aria-label="Share"]');
  const link = await tab.locator('.share input[type=text]').inputValue();
  assert.match(link, /#Q=.*&S=[0-9a-f]{16}&R$/);
  await tab.click('button:has-text("Copy a cURL line")');
  const line = await tab.evaluate(() => navigator.clipboard.readText());
  const again = spawnSync('bash', ['-c', line], { encoding: 'utf8' });
  assert.equal(`${JSON.parse(again.stdout).elements.length} rows`, before.split(' · ')[0]);
  const other = await open(url, link.slice(url.length));
  await other.tab.waitForFunction(() => /rows/.test(document.querySelector('.status')?.textContent));
  assert.equal((await other.tab.locator('.status').textContent()).split(' · ')[0], before.split(' · ')[0]);
  assert.equal(await other.tab.locator('.notice[data-kind=snapshot]').count(), 0);
  const strange = await open(url, link.slice(url.length).replace(/S=[0-9a-f]+/, 'S=0123456789abcdef'));
  await strange.tab.waitForSelector('.notice[data-kind=snapshot]');
  for (const one of [context, other.context, strange.context]) await one.close();
});

test('links of overpass-turbo open', async ({ url }) => {
  const query = '[out:json];\nnode[amenity=cinema]({{bbox}});\nout;';
  const plain = await open(url, `/?Q=${encodeURIComponent(query)}&C=35.9;14.45;11&R`);
  await plain.tab.waitForFunction(() => /rows/.test(document.querySelector('.status')?.textContent));
  assert.match(await editor(plain.tab).textContent(), /amenity=cinema/);
  // As overpass-turbo packs it: "node[amenity=cinema][name];out;" and a centre.
  const packed = await open(url, `/?q=${turbo('/* a, a, a */node[amenity=cinema][name~"ä"];out;')}&c=${turboView(35.9, 14.5, 12)}`);
  assert.match(await editor(packed.tab).textContent(), /\/\* a, a, a \*\/node\[amenity=cinema\]\[name~"ä"\];out;/);
  await packed.tab.click('button[aria-label="Share"]');
  assert.match(decodeURIComponent(await packed.tab.locator('.share input[type=text]').inputValue()), /C=35\.90000;14\.50000;12/);
  await plain.context.close();
  await packed.context.close();
});

/** LZW over the bytes, the codes in UTF-8, and that in base64. */
function turbo(text) {
  const bytes = [...Buffer.from(text)];
  const phrases = new Map();
  const codes = [];
  let phrase = '';
  for (const byte of bytes) {
    const longer = phrase === '' ? `${byte}` : `${phrase},${byte}`;
    if (phrase === '' || phrases.has(longer)) phrase = longer;
    else {
      codes.push(phrases.get(phrase) ?? Number(phrase));
      phrases.set(longer, 256 + phrases.size);
      phrase = `${byte}`;
    }
  }
  codes.push(phrases.get(phrase) ?? Number(phrase));
  return Buffer.from(String.fromCodePoint(...codes)).toString('base64url');
}

function turboView(lat, lon, zoom) {
  const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  let number = Math.trunc((lat + 90) * 100_000) + Math.trunc((lon + 180) * 100_000) * 180 * 100_000;
  let text = '';
  for (; number > 0; number = Math.floor(number / 64)) text = digits[number % 64] + text;
  return text + digits[zoom];
}

test('shortcuts and styles of overpass-turbo', async ({ url }) => {
  const { tab, context } = await open(url);
  const status = await run(tab, '[out:json];{{what=cafe}}{{geocodeArea:Valletta}}->.a;node(area.a)[amenity={{what}}];out;{{style: node[name] { color: blue; text: name; } }}');
  assert.match(status, /rows/);
  await write(tab, '[out:json];{{geocodeArea:Atlantis}}->.a;node(area.a);out;');
  await tab.waitForSelector('.cm-lintRange-error');
  assert.equal(await tab.locator('.cm-lintRange-error').first().textContent(), '{{geocodeArea:Atlantis}}');
  await context.close();
});

test('every format that a query asks for is read', async ({ url }) => {
  const { tab, context } = await open(url);
  const query = 'way[leisure=park][name];out geom;';
  const json = await run(tab, `[out:json];${query}`);
  const parks = await tab.locator('.tally').textContent();
  await run(tab, query);
  assert.equal(await tab.locator('.tally').textContent(), parks);
  assert.ok(json.startsWith(parks.split(',')[0]));
  await run(tab, '[out:csv(::id,name,::lat,::lon;true;"|")];node[place][name];out;');
  assert.match(await tab.locator('.tally').textContent(), /(\d+) rows, \1 on the map/);
  await run(tab, '[out:json];way[leisure=park];out;');
  await tab.click('.notice[data-kind=unplaced] button:has-text("Ask")');
  await tab.waitForFunction(() => /rows, [1-9]/.test(document.querySelector('.tally')?.textContent));
  await tab.click('[role=tab]:has-text("Raw")');
  await tab.waitForFunction(() => document.querySelector('.raw-view pre')?.textContent.includes('"elements"'));
  await tab.click('[role=tab]:has-text("Statistics")');
  assert.match(await tab.locator('.statistics').textContent(), /First byte.*Snapshot[0-9a-f]{64}/s);
  await context.close();
});

test('solutions of SPARQL with places are on the map', async ({ url }) => {
  const { tab, context } = await open(url);
  await tab.click('[data-language=sparql]');
  await run(tab, 'SELECT ?item ?itemLabel ?place WHERE { ?item wdt:P625 ?place SERVICE wikibase:label { bd:serviceParam wikibase:language "en" } } LIMIT 50');
  assert.equal(await tab.locator('.tally').textContent(), '50 rows, 50 on the map');
  await shot(tab, 'sparql');
  await run(tab, 'SELECT ?class (COUNT(*) AS ?n) WHERE { ?item wdt:P31 ?class } GROUP BY ?class ORDER BY DESC(?n) LIMIT 5');
  assert.equal(await tab.locator('.layout').getAttribute('data-dock'), 'full');
  await run(tab, 'SELECT ?item WHERE { ?item wdt:P17 ?country } LIMIT 20');
  assert.match(await tab.locator('.tally').textContent(), /^20 rows, [1-9]/);
  await run(tab, 'SELECT ?item ?itemLabel ?begun WHERE { ?item wdt:P571 ?begun SERVICE wikibase:label { bd:serviceParam wikibase:language "en" } } ORDER BY ?begun LIMIT 40');
  await tab.click('[role=tab]:has-text("Timeline")');
  assert.equal(await tab.locator('.timeline-view circle').count(), 40);
  await tab.locator('.timeline-view circle').nth(3).click();
  await tab.waitForSelector('.card:not([hidden])');
  await run(tab, 'ASK { ?s ?p ?o }');
  assert.equal(await tab.locator('[role=tab]:has-text("Timeline")').isVisible(), false);
  assert.match(await tab.locator('.table-body').textContent(), /true/);
  await context.close();
});

test('elements and entities have pages', async ({ url }) => {
  const { tab, context, messages } = await open(url, '/relation/7510580');
  await tab.waitForFunction(() => document.querySelector('.entity h2')?.textContent === 'Valletta');
  await shot(tab, 'element');
  await tab.click('.entity .list a >> nth=0');
  await tab.waitForFunction(() => /^way \d+$/.test(document.querySelector('.entity .kind')?.textContent ?? ''));
  assert.match(await tab.locator('.entity').textContent(), /Part of.*relation 7510580/s);
  await tab.goBack();
  await tab.waitForFunction(() => document.querySelector('.entity h2')?.textContent === 'Valletta');
  await tab.goto(`${url}/entity/Q233`);
  await tab.waitForFunction(() => document.querySelector('.entity h2')?.textContent === 'Malta');
  assert.match(await tab.locator('.entity').textContent(), /In OpenStreetMap.*relation 365307.*Statements/s);
  await tab.goto(`${url}/node/999999999999`);
  await tab.waitForFunction(() => /is not in this snapshot/.test(document.querySelector('.entity')?.textContent ?? ''));
  await tab.click('.tools a:has-text("Query")');
  await tab.waitForSelector('.query:not([hidden])');
  assert.deepEqual(messages, []);
  await context.close();
});

test('versions of an element are listed, and each is shown as it was', async () => {
  const past = await serve(snapshot('niue.osh.pbf', '--history'));
  const found = (await asked(past.url, '[out:json];node[place][name];out meta 50;')).find((element) => element.version > 3);
  const { tab, context } = await open(past.url, `/node/${found.id}`);
  await tab.waitForSelector('.entity h3:has-text("History")');
  const first = tab.locator('.entity section:has(h3:has-text("History")) a').last();
  assert.match(await first.textContent(), /^version \d+$/);
  await first.click();
  await tab.waitForFunction(() => /^1 row/.test(document.querySelector('.status')?.textContent ?? ''));
  assert.match(await editor(tab).textContent(), /\[date:"\d{4}-/);
  await context.close();
  past.end();
});

test('with the keyboard alone', async ({ url }) => {
  const { tab, context } = await open(url);
  await tab.keyboard.press('Tab');
  await tab.keyboard.press('Enter');
  await tab.keyboard.press('Control+a');
  await tab.keyboard.insertText(CAFES);
  await tab.keyboard.press('Control+Enter');
  await tab.waitForFunction(() => /rows/.test(document.querySelector('.status')?.textContent));
  await tab.keyboard.press('F6');
  await tab.waitForFunction(() => document.activeElement.matches('.maplibregl-canvas'));
  await tab.keyboard.press('F6');
  await tab.waitForFunction(() => document.activeElement.matches('[role=grid]'));
  await tab.keyboard.press('ArrowDown');
  await tab.keyboard.press('ArrowDown');
  await tab.keyboard.press('Enter');
  await tab.waitForSelector('.card:not([hidden])');
  assert.equal(await tab.locator('.table-body .table-row[aria-selected=true]').getAttribute('aria-rowindex'), '4');
  await tab.keyboard.press('Escape');
  await tab.waitForSelector('.card', { state: 'hidden' });
  // Every control is reached, and the editor is no trap.
  const seen = new Set();
  await tab.locator('.brand').focus();
  for (let i = 0; i < 60; i += 1) {
    const name = await tab.evaluate(() => {
      const at = document.activeElement;
      return at.closest('.editor') ? 'editor' : (at.getAttribute('aria-label') ?? at.textContent.trim().slice(0, 20) ?? at.tagName);
    });
    seen.add(name);
    if (name === 'editor') await tab.keyboard.press('Escape');
    await tab.keyboard.press('Tab');
  }
  for (const wanted of ['editor', 'Examples', 'Share', 'Find a place', 'Rows of the answer', 'Saved', 'Width of the query', 'Rows below the map', 'Export']) assert.ok([...seen].some((name) => name.includes(wanted)), `${wanted}: ${[...seen].join(', ')}`);
  await tab.locator('.brand').focus();
  await tab.locator('button[aria-label=Examples]').focus();
  await tab.keyboard.press('Enter');
  await tab.keyboard.press('ArrowDown');
  await tab.keyboard.press('Escape');
  await tab.waitForFunction(() => document.activeElement.textContent.includes('Examples'));
  await context.close();
});

for (const [name, options] of Object.entries({
  light: {},
  dark: { colorScheme: 'dark' },
  phone: PHONE,
  calm: { reducedMotion: 'reduce' },
})) {
  test(`nothing is in the way of anybody: ${name}`, async ({ url }) => {
    const { tab, context, messages } = await open(url, '/', { ...options, bypassCSP: true });
    await shot(tab, `${name}-start`);
    assert.deepEqual(await violations(tab), []);
    await run(tab, '[out:json][timeout:25];\n// Where one can sit down with a book.\nnwr[amenity~"^(cafe|library)$"]({{bbox}});\nout geom;\n');
    await tab.waitForTimeout(1500);
    await shot(tab, `${name}-answer`);
    assert.deepEqual(await violations(tab), []);
    if (name === 'phone') {
      const wide = await tab.evaluate(() => document.documentElement.scrollWidth);
      assert.equal(wide, 390);
      await tab.click('.panes [data-pane=answer]');
      await shot(tab, `${name}-table`);
      assert.deepEqual(await violations(tab), []);
      await tab.click('.panes [data-pane=query]');
    } else {
      await tab.click('.table-body .table-row .cell:nth-child(3)');
      await tab.waitForSelector('.card:not([hidden])');
      assert.deepEqual(await violations(tab), []);
    }
    await tab.click('.tools button[aria-label=Examples]');
    await tab.waitForTimeout(900);
    await shot(tab, `${name}-examples`);
    assert.deepEqual(await violations(tab), []);
    await tab.goto(`${url}/relation/7510580`);
    await tab.waitForSelector('.entity section');
    await tab.waitForTimeout(700);
    await shot(tab, `${name}-element`);
    assert.deepEqual(await violations(tab), []);
    assert.deepEqual(messages, []);
    await context.close();
  });
}

test('a server that wants a token is given one', async ({ path }) => {
  const { createHash } = await import('node:crypto');
  const { writeFileSync } = await import('node:fs');
  const tokens = join(folder, 'tokens');
  writeFileSync(tokens, `ann ${createHash('sha256').update('secret').digest('hex')}\n`);
  const server = await serve(path, '--tokens', tokens);
  const { tab, context } = await page(chrome);
  await tab.goto(server.url);
  await tab.fill('dialog input', 'secret');
  await tab.keyboard.press('Enter');
  await tab.waitForSelector('.maplibregl-canvas');
  await run(tab, CAFES);
  await context.close();
  server.end();
});

// Views of answers: the graph, what of SPARQL is on the map, rows that still come, what a query cost; and elements of
// OpenStreetMap in SPARQL: completion, hover, examples.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import http from 'node:http';
import { join } from 'node:path';
import { folder, serve, shot } from './browser.mjs';
import { PHONE, editor, open, run, test, violations, write } from './kit.mjs';

const PARTNERS = 'SELECT ?country ?partner WHERE { ?country wdt:P530 ?partner }';
const LABELLED = 'SELECT ?country ?countryLabel ?partner ?partnerLabel WHERE {\n  ?country wdt:P530 ?partner.\n  SERVICE wikibase:label { bd:serviceParam wikibase:language "en,mul". }\n}\nLIMIT 60';
const MEMBERS = 'SELECT ?route ?member WHERE { ?route osmkey:route "bus"; osmrel:member ?m. ?m osmrel:member_id ?member } LIMIT 3000';

/** Rows of a SELECT, from the server itself. */
async function rows(url, query) {
  const answer = await fetch(`${url}/sparql`, { method: 'POST', body: new URLSearchParams({ query }), headers: { Accept: 'application/sparql-results+json' } });
  return (await answer.json()).results.bindings;
}

/** Runs SPARQL, and opens a view of the answer. */
async function view(tab, query, name) {
  await tab.click('[data-language=sparql]');
  await run(tab, query);
  await tab.click(`[role=tab]:has-text("${name}")`);
  if (name === 'Graph') await tab.waitForSelector('.network .node');
}

const positions = (tab) => tab.$$eval('.network .node', (nodes) => nodes.map((node) => `${node.dataset.id} ${node.getAttribute('transform')}`));

test('what rows link is drawn, and what is selected there is in the table', async ({ url }) => {
  const { tab, context, messages } = await open(url);
  await view(tab, PARTNERS, 'Graph');
  const links = await rows(url, PARTNERS);
  const ids = new Set(links.flatMap(({ country, partner }) => [country.value, partner.value]));
  assert.equal(await tab.locator('.network .node').count(), ids.size);
  const pairs = new Set(links.map(({ country, partner }) => `${country.value} ${partner.value}`));
  assert.ok((await tab.locator('.graph-side > p').first().textContent()).startsWith(`${ids.size} nodes, ${pairs.size} links`));
  // Rows have no labels: the snapshot has some.
  await tab.click('.graph-list button:has-text("Malta")');
  await tab.waitForSelector('.card:not([hidden])');
  assert.equal(await tab.locator('.graph-selected h2 a').getAttribute('href'), '/entity/Q233');
  const own = links.filter(({ country, partner }) => [country.value, partner.value].some((value) => value.endsWith('/Q233')));
  assert.equal(await tab.locator('.graph-selected li').count(), new Set(own.map(({ country, partner }) => `${country.value} ${partner.value}`)).size);
  assert.equal(await tab.locator('.network .label.on').textContent(), 'Malta');
  await shot(tab, 'graph');
  // A node of the drawing, and its row.
  const [first] = links;
  await tab.locator(`.network .node[data-id="${first.country.value.replace('http://www.wikidata.org', '')}"]`).dispatchEvent('click');
  await tab.click('[role=tab]:has-text("Table")');
  await tab.waitForSelector('.table-row[aria-selected=true]');
  // The cell has the label in place of the number.
  assert.equal(await tab.locator('.table-row[aria-selected=true] a').first().getAttribute('href'), first.country.value.replace('http://www.wikidata.org', ''));
  // A row, and its nodes.
  await tab.locator('.table-body .table-row').nth(3).click();
  await tab.click('[role=tab]:has-text("Graph")');
  await tab.waitForFunction(() => document.querySelectorAll('.network .node.on').length === 2);
  await tab.click('.graph-selected h2 a');
  await tab.waitForSelector('.entity section');
  assert.match(new URL(tab.url()).pathname, /^\/entity\/Q\d+$/);
  assert.deepEqual(messages, []);
  await context.close();
});

test('a graph is moved, looked at from near, and laid out the same way every time', async ({ url }) => {
  const { tab, context } = await open(url);
  await view(tab, LABELLED, 'Graph');
  const before = await positions(tab);
  const other = await open(url);
  await view(other.tab, LABELLED, 'Graph');
  assert.deepEqual(await positions(other.tab), before);
  await other.context.close();
  const transform = () => tab.locator('.network > g').getAttribute('transform');
  const box = await tab.locator('.network').boundingBox();
  const whole = await transform();
  await tab.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await tab.mouse.wheel(0, -300);
  await tab.waitForFunction((text) => document.querySelector('.network > g').getAttribute('transform') !== text, whole);
  await tab.click('.graph-controls [aria-label="All of it"]');
  assert.equal(await transform(), whole);
  const dot = await tab.locator('.network .node circle').first().boundingBox();
  await tab.mouse.move(dot.x + dot.width / 2, dot.y + dot.height / 2);
  await tab.mouse.down();
  await tab.mouse.move(dot.x + 60, dot.y + 40, { steps: 4 });
  await tab.mouse.up();
  const after = await positions(tab);
  assert.equal(after.filter((place, i) => place !== before[i]).length, 1);
  // Dragging selects nothing.
  assert.equal(await tab.locator('.graph-selected').isVisible(), false);
  await context.close();
});

test('a graph has the names that the answer or the snapshot has, and says what is not drawn', async ({ url }) => {
  const { tab, context } = await open(url);
  await view(tab, 'CONSTRUCT { ?a wdt:P47 ?b. ?a rdfs:label "of the answer" } WHERE { ?a wdt:P47 ?b } LIMIT 40', 'Graph');
  const labels = await tab.locator('.network .label').allTextContents();
  assert.ok(labels.includes('of the answer'), labels.join());
  await view(tab, 'SELECT ?item ?p ?value WHERE { VALUES ?p { wdt:P36 } ?item ?p ?value } LIMIT 10', 'Graph');
  assert.equal(await tab.locator('.network .node').count(), 2 * 10);
  assert.match(await tab.locator('.network .link-label').first().textContent(), /^(P36|capital)$/);
  await view(tab, MEMBERS, 'Graph');
  assert.equal(await tab.locator('.network .node').count(), 300);
  assert.match(await tab.locator('.graph-side > p').first().textContent(), /^300 nodes, \d+ links; [\d,]+ more nodes and [\d,]+ more links are not drawn, the table has them$/);
  assert.match(await tab.locator('.graph-list button').first().textContent(), /^Bus /);
  await run(tab, 'SELECT ?item WHERE { ?item wdt:P36 ?capital } LIMIT 10');
  assert.equal(await tab.locator('[role=tab]:has-text("Graph")').isVisible(), false);
  await context.close();
});

test('a graph by keys alone', async ({ url }) => {
  const { tab, context } = await open(url);
  await view(tab, LABELLED, 'Table');
  await tab.locator('[role=tab]:has-text("Table")').focus();
  for (let i = 0; i < 6 && !(await tab.evaluate(() => document.activeElement.textContent === 'Graph')); i += 1) await tab.keyboard.press('ArrowRight');
  await tab.waitForSelector('.network .node');
  for (let i = 0; i < 12 && !(await tab.evaluate(() => document.activeElement.matches('.graph-list button'))); i += 1) await tab.keyboard.press('Tab');
  await tab.keyboard.press('ArrowDown');
  const name = await tab.evaluate(() => document.activeElement.querySelector('span').textContent);
  await tab.keyboard.press('Enter');
  await tab.waitForSelector('.graph-selected:not([hidden])');
  assert.equal(await tab.locator('.graph-selected h2 a').textContent(), name);
  await tab.waitForFunction((text) => document.getElementById('live').textContent.length > 0 && text, name);
  await tab.keyboard.press('Shift+Tab');
  assert.ok(await tab.evaluate(() => document.activeElement.matches('.graph-selected .link')));
  await tab.keyboard.press('Escape');
  await tab.waitForSelector('.card', { state: 'hidden' });
  await context.close();
});

test('items and elements are on the map without being asked where they are', async ({ url }) => {
  const { tab, context, messages } = await open(url);
  const tally = () => tab.locator('.tally').textContent();
  await tab.click('[data-language=sparql]');
  const classes = 'SELECT ?class ?item WHERE { ?item wdt:P31 ?class; wdt:P625 ?c; wdt:P18 ?image } ORDER BY ?item LIMIT 12';
  await run(tab, classes);
  // Classes have no place, the items have.
  assert.equal(await tally(), '12 rows, 12 on the map');
  await tab.locator('.table-body .table-row').first().click();
  await tab.waitForSelector('.card-about a');
  assert.match(await tab.locator('.card-about a').getAttribute('href'), /commons\.wikimedia\.org/);
  await run(tab, 'SELECT ?item WHERE { ?item wdt:P18 ?image; wdt:P625 ?c } ORDER BY ?item LIMIT 5');
  await tab.locator('.table-body .table-row').first().click();
  await tab.waitForSelector('.card-about p');
  // The label is the title where a row has none.
  assert.doesNotMatch(await tab.locator('.card h2').textContent(), /^Q\d+$/);
  await shot(tab, 'item');
  await run(tab, 'SELECT ?museum WHERE { ?museum osmkey:tourism "museum" }');
  assert.match(await tally(), /^(\d+) rows, \1 on the map$/);
  await tab.locator('.table-body .table-row').first().click();
  await tab.waitForFunction(() => !/^(node|way|relation)\//.test(document.querySelector('.card h2')?.textContent));
  await run(tab, 'SELECT ?museum ?name ?place WHERE { ?museum osmkey:tourism "museum"; osmkey:name ?name; geo:hasGeometry/geo:asWKT ?place } ORDER BY ?name');
  assert.match(await tally(), /^(\d+) rows, \1 on the map$/);
  await shot(tab, 'museums');
  const link = tab.locator('.table-body .table-row a').first();
  assert.match(await link.getAttribute('href'), /^\/(node|way|relation)\/\d+$/);
  await link.click();
  await tab.waitForSelector('.entity section');
  await tab.goBack();
  await run(tab, 'SELECT ?lat ?lon WHERE { VALUES (?lat ?lon) { (35.9 14.5) (36.0 14.2) } }');
  assert.equal(await tally(), '2 rows, 2 on the map');
  assert.deepEqual(messages, []);
  await context.close();
});

test('elements are completed in SPARQL, and explained', async ({ url }) => {
  const { tab, context } = await open(url);
  await tab.click('[data-language=sparql]');
  const offered = (wanted) => tab.waitForFunction((text) => [...document.querySelector('.editor').shadowRoot.querySelectorAll('.cm-tooltip-autocomplete li')].some((item) => item.textContent.startsWith(text)), wanted);
  const taken = async (typed, wanted) => {
    await tab.keyboard.type(typed, { delay: 40 });
    await offered(wanted);
    await tab.waitForTimeout(120);
    await tab.keyboard.press('Enter');
  };
  const { data } = await (await fetch(`${url}/api/4/keys/all?page=1&rp=1&query=amenity`)).json();
  await write(tab, 'SELECT * WHERE { ?place ');
  await taken('osmkey:amen', `amenity${data[0].count_all.toLocaleString('en')}`);
  await taken(' "caf', 'cafe');
  assert.match(await editor(tab).textContent(), /\?place osmkey:amenity "cafe"/);
  await tab.keyboard.press('End');
  await taken('; geo:hasG', 'hasGeometry');
  await taken('; osm2rdfkey:wiki', 'wikidata');
  await taken(' ?item. ?town ogc:sfCon', 'sfContains');
  await taken(' ?place. SERV', 'SERVICE terrapin:overpass');
  assert.match(await editor(tab).textContent(), /osm2rdfkey:wikidata \?item\. \?town ogc:sfContains \?place\. SERVICE/);
  await shot(tab, 'completion-sparql');
  await write(tab, '\n\n\n\nSELECT * WHERE { ?a osmkey:amenity "cafe". ?b ogc:sfContains ?a }');
  await tab.keyboard.press('Escape');
  const told = async (text) => {
    await tab.mouse.move(5, 5);
    await tab.locator(`.cm-line:last-child span:text-is('${text}')`).hover();
    return (await (await tab.waitForSelector('.cm-hover')).textContent()) ?? '';
  };
  assert.match(await told('osmkey:amenity'), /^amenity=cafe[\d,]+ elements.*often with/);
  await tab.keyboard.press('Escape');
  await tab.mouse.move(700, 600);
  await tab.waitForSelector('.cm-hover', { state: 'detached' });
  assert.match(await told('ogc:sfContains'), /the second lies in the first/);
  await context.close();
});

// One whose count takes too long has none.
test('examples are of what the snapshot has, and find something', async ({ url }) => {
  const { tab, context } = await open(url);
  await tab.click('.tools button[aria-label=Examples]');
  await tab.waitForFunction(() => [...document.querySelectorAll('.shelf .item .count')].every((number) => number.textContent !== '…'), null, { timeout: 60_000 });
  const found = Object.fromEntries(await tab.$$eval('.shelf .item', (items) => items.map((item) => [item.firstChild.textContent, item.querySelector('.count')?.textContent])));
  for (const name of ['Elements and their items: how far are they apart?', 'Elements by what their items are', 'Shops in each municipality', 'Bus routes and their members, as a graph', 'An Overpass query, counted by cuisine']) assert.match(found[name] ?? 'not there', /^[1-9]|^$/, `${name}: ${found[name]}`);
  await tab.click('.shelf .item:has-text("Shops in each municipality")');
  await tab.waitForFunction(() => /^[1-9]\d* rows/.test(document.querySelector('.status')?.textContent));
  assert.match(await tab.locator('.tally').textContent(), /^(\d+) rows, \1 on the map$/);
  await context.close();
});

test('a snapshot without triples answers SPARQL about its elements', async () => {
  const { TERRAPIN, TERRAPIN_SHARED } = process.env;
  const path = join(folder, 'niue.terrapin');
  const loaded = spawnSync(TERRAPIN, ['load', '--osm', join(TERRAPIN_SHARED, 'data/osm/niue.osm.pbf'), '--out', path], { encoding: 'utf8' });
  assert.equal(loaded.status, 0, loaded.stderr);
  const server = await serve(path);
  const { tab, context, messages } = await open(server.url);
  await tab.click('[data-language=sparql]');
  await run(tab, 'SELECT ?church ?name ?item WHERE { ?church osmkey:amenity "place_of_worship"; osmkey:name ?name OPTIONAL { ?church osm2rdfkey:wikidata ?item } }');
  assert.match(await tab.locator('.tally').textContent(), /^([1-9]\d*) rows?, \1 on the map$/);
  await tab.locator('.table-body .table-row').first().click();
  await tab.waitForSelector('.card:not([hidden])');
  await tab.click('.tools button[aria-label=Examples]');
  const titles = await tab.$$eval('.shelf .item', (items) => items.map((item) => item.firstChild.textContent));
  assert.ok(titles.includes('Shops in each municipality') && !titles.some((title) => /items|classes/i.test(title)), titles.join());
  assert.deepEqual(messages, []);
  await context.close();
  server.end();
});

/** Stands before a server, and gives the answers of queries slowly. */
async function slowly(url) {
  const front = http.createServer((request, response) => {
    const back = http.request(url + request.url, { method: request.method, headers: { ...request.headers, 'accept-encoding': 'identity' } }, async (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      const slow = /^\/(api\/interpreter|sparql)/.test(request.url) && Number(answer.headers['content-length'] ?? Infinity) > 100_000;
      try {
        for await (const part of answer) {
          for (let from = 0; from < part.length; from += 32_768) {
            response.write(part.subarray(from, from + 32_768));
            if (slow) await new Promise((ready) => setTimeout(ready, 40));
          }
        }
        response.end();
      } catch {
        // The page stopped it.
      }
    });
    back.on('error', () => response.destroy());
    response.on('close', () => back.destroy());
    request.pipe(back);
  });
  await new Promise((ready) => front.listen(0, '127.0.0.1', ready));
  return { url: `http://127.0.0.1:${front.address().port}`, end: () => (front.closeAllConnections(), front.close()) };
}

test('rows are shown while others still come', async ({ url }) => {
  const slow = await slowly(url);
  for (const [language, query] of [
    ['overpassql', '[out:json];way[building](35.8,14.3,36,14.6);out geom 9000;'],
    ['overpassql', '[out:xml];way[building](35.8,14.3,36,14.6);out geom 9000;'],
    ['overpassql', '[out:csv(::id,::lat,::lon)];node(35.8,14.3,36,14.6);out 200000;'],
    ['sparql', 'SELECT ?building ?kind WHERE { ?building osmkey:building ?kind } LIMIT 20000'],
  ]) {
    const { tab, context, messages } = await open(slow.url);
    await tab.click(`[data-language=${language}]`);
    await write(tab, query);
    await tab.keyboard.press('Control+Enter');
    await tab.waitForFunction(() => /^[1-9][\d,]* rows so far/.test(document.querySelector('.tally')?.textContent), null, { timeout: 30_000 }).catch((problem) => assert.fail(`${problem.message}: ${query}`));
    assert.ok(await tab.locator('.runbar .stop').isVisible(), query);
    await tab.waitForFunction(() => document.querySelectorAll('.table-body .table-row').length > 5);
    const some = Number((await tab.locator('.tally').textContent()).replace(/ rows.*/, '').replaceAll(',', ''));
    if (query.includes('xml')) {
      await tab.keyboard.press('Escape');
      await tab.keyboard.press('Escape');
      await tab.waitForFunction(() => /^Stopped: [\d,]+ rows had come\.$/.test(document.querySelector('.status')?.textContent));
    } else {
      await tab.waitForFunction(() => !document.querySelector('.runbar .primary').hidden, null, { timeout: 60_000 });
      const all = Number((await tab.locator('.tally').textContent()).replace(/ rows.*/, '').replaceAll(',', ''));
      assert.ok(all > some, `${all} after ${some}: ${query}`);
      assert.ok(await tab.locator('button:has-text("Export")').isEnabled());
    }
    assert.deepEqual(messages, []);
    await context.close();
  }
  slow.end();
});

test('statistics say what a query cost', async ({ url }) => {
  const { tab, context, messages } = await open(url);
  await run(tab, '[out:json];node[amenity=cafe];node(around:100)[highway];out;');
  await tab.click('[role=tab]:has-text("Statistics")');
  await tab.waitForFunction(() => /On the server\d.*Work[1-9][\d,]* units.*Memory\d/s.test(document.querySelector('.statistics')?.textContent));
  assert.deepEqual(messages, []);
  await context.close();
});

for (const [name, options] of Object.entries({ light: {}, dark: { colorScheme: 'dark' }, phone: PHONE, calm: { reducedMotion: 'reduce' } })) {
  test(`no view is in anybody's way: ${name}`, async ({ url }) => {
    const { tab, context } = await open(url, '/', { ...options, bypassCSP: true });
    const look = async (what) => {
      await tab.waitForTimeout(400);
      await shot(tab, `${name}-${what}`);
      assert.deepEqual(await violations(tab), [], what);
      if (name === 'phone') assert.equal(await tab.evaluate(() => document.documentElement.scrollWidth), 390, what);
    };
    const pane = async (wanted) => name === 'phone' && (await tab.click(`.panes [data-pane=${wanted}]`));
    await tab.click('[data-language=sparql]');
    await run(tab, 'SELECT ?item ?itemLabel ?country ?countryLabel ?begun WHERE {\n  ?item wdt:P571 ?begun; wdt:P17 ?country.\n  SERVICE wikibase:label { bd:serviceParam wikibase:language "en,mul". }\n}\nLIMIT 80');
    for (const [what, title] of [['timeline', 'Timeline'], ['graph', 'Graph'], ['raw', 'Raw'], ['statistics', 'Statistics'], ['rows', 'Table']]) {
      await pane('answer');
      await tab.click(`[role=tab]:has-text("${title}")`);
      if (what === 'graph') {
        await tab.waitForSelector('.network .node');
        await tab.locator('.graph-list button').nth(1).click();
      }
      await look(what);
    }
    assert.ok(await tab.locator('button:has-text("Export")').isVisible());
    await pane('query');
    for (const button of ['Share', 'History', 'Keys']) {
      await tab.click(`button[aria-label=${button}]`);
      await look(button.toLowerCase());
      await tab.keyboard.press('Escape');
    }
    await tab.click('.chip');
    await look('snapshot');
    await tab.keyboard.press('Escape');
    await tab.goto(`${url}/entity/Q233`);
    await tab.waitForSelector('.entity section');
    await look('entity');
    await context.close();
  });
}

// What is against the page: tags, literals and links made to break it, servers that break off or refuse, answers that are no
// answers, browsers without WebGL.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { join } from 'node:path';
import { browser, folder, page, serve, shot } from './browser.mjs';
import { CAFES, chrome, editor, open, run, test, write } from './kit.mjs';

const { TERRAPIN } = process.env;

const NAMES = ['<img src=x onerror=alert(1)>', '"><script>alert(1)</script>', '\u202eevil', 'שלום', ']]></name><x/>', 'z'.repeat(5000), '{{bbox}} ${x} \\', `${'T'.repeat(200)}${'\u0301'.repeat(300)}`];
const TAGS = [{ website: 'javascript:alert(1)', url: 'https://example.org/"><script>alert(1)</script>' }, { constructor: 'yes', toString: '1', hasOwnProperty: 'x' }, { wikidata: 'Q1"on' }, { '<b>key</b>': '&lt;', ' __proto__': 'p' }];

/** A snapshot in which everything is made to break a page. */
function hostile() {
  const escaped = (text) => text.replace(/[&<>"\n]/g, (sign) => `&#${sign.charCodeAt(0)};`);
  const tags = (all) => Object.entries(all).map(([key, value]) => `<tag k="${escaped(key)}" v="${escaped(value)}"/>`).join('');
  const node = (id, lat, lon, all) => `<node id="${id}" version="1" timestamp="2024-01-01T00:00:00Z" lat="${lat}" lon="${lon}">${tags(all)}</node>`;
  const many = Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`key${i}`, `value${i}`]));
  const nodes = NAMES.map((name, i) => node(i + 1, 35.9 + i * 1e-3, 14.5, { name, amenity: 'cafe', ...TAGS[i] }));
  const corners = [[0, 0], [0, 1], [1, 1], [1, 0]].map(([y, x], i) => node(101 + i, 35.902 + y * 1e-3, 14.51 + x * 1e-3, {}));
  const way = `<way id="1" version="1" timestamp="2024-01-01T00:00:00Z">${[101, 102, 103, 104, 101].map((ref) => `<nd ref="${ref}"/>`).join('')}${tags({ constructor: 'yes', ...many })}</way>`;
  writeFileSync(join(folder, 'hostile.osm'), `<?xml version="1.0" encoding="UTF-8"?>\n<osm version="0.6">\n${[...nodes, ...corners, way].join('\n')}\n</osm>\n`);
  const [wd, g] = ['<http://www.wikidata.org/entity/', '<http://example.org/g>'];
  const literals = ['null', '{"type":"Point"}', '{"type":"Polygon","coordinates":[[["x",3]]]}', '{"type":"Point","coordinates":[14.5,35.9]}', '{"type":"constructor","coordinates":[]}'].map((text, i) => `${wd}Q${i + 8}> ${g} ${JSON.stringify(text)}^^<http://www.opengis.net/ont/geosparql#geoJSONLiteral> .`);
  const places = ['POINT(1e400 5)', 'POINT(5000 95)', 'POINT EMPTY', 'POLYGON((14 35,14 36'].map((text, i) => `${wd}Q${i + 20}> ${g} "${text}"^^<http://www.opengis.net/ont/geosparql#wktLiteral> .`);
  const item = `${wd}Q7> <http://www.wikidata.org/prop/direct/P18> <javascript:alert(1)> .\n${wd}Q7> <http://www.w3.org/2000/01/rdf-schema#label> "<img src=x onerror=alert(2)>"@en .`;
  writeFileSync(join(folder, 'hostile.nt'), [item, ...literals, ...places, ''].join('\n'));
  const out = join(folder, 'hostile.terrapin');
  const loaded = spawnSync(TERRAPIN, ['load', '--osm', join(folder, 'hostile.osm'), '--rdf', join(folder, 'hostile.nt'), '--out', out], { encoding: 'utf8' });
  assert.equal(loaded.status, 0, loaded.stderr);
  return out;
}

const tally = (tab) => tab.locator('.tally').textContent();

test('whatever tags and literals say, they are shown and do nothing', async () => {
  const server = await serve(hostile());
  const { tab, context, messages } = await open(server.url, '/#C=35.904;14.503;15');
  let dialogs = 0;
  tab.on('dialog', (dialog) => ((dialogs += 1), dialog.dismiss()));
  const number = NAMES.length + 5;
  for (const out of ['json', 'xml']) {
    await run(tab, `[out:${out}];nwr(35,14,36,15);out geom;`);
    assert.equal(await tally(tab), `${number} rows, ${number} on the map`);
    assert.ok((await tab.locator('.table-body').textContent()).includes(NAMES[0]));
    // Of more keys than a table has columns the rarest have none.
    assert.match(await tab.locator('.table-tools').textContent(), /, \d+ rarer keys without a column/);
  }
  assert.ok((await tab.locator('.table-body .cell').allTextContents()).every((text) => text.length < 300));
  assert.deepEqual(await tab.$$eval('a[href]', (links) => links.map((link) => link.protocol).filter((protocol) => !/^https?:$/.test(protocol))), []);
  for (const format of ['geojson', 'gpx', 'kml', 'csv']) {
    await tab.click('button:has-text("Export")');
    const [download] = await Promise.all([tab.waitForEvent('download'), tab.click(`[data-format=${format}]`)]);
    const path = join(folder, `hostile-${download.suggestedFilename()}`);
    await download.saveAs(path);
    const text = readFileSync(path, 'utf8');
    if (format === 'csv') assert.ok(text.includes('other_tags') && text.includes('value59'), text.slice(0, 200));
    else if (format === 'geojson') assert.ok(JSON.parse(text).features.some(({ properties }) => properties.name === NAMES[0]));
    else assert.ok(!text.includes('<img') && !text.includes('<x/>') && !text.includes('<script>'));
    if (spawnSync('ogrinfo', ['--version']).status === 0) assert.equal(spawnSync('ogrinfo', ['-ro', '-al', '-so', path]).status, 0, format);
  }
  await tab.click('[data-language=sparql]');
  await run(tab, 'SELECT ?i ?g WHERE { ?i <http://example.org/g> ?g }');
  assert.equal(await tally(tab), '9 rows, 1 on the map');
  await run(tab, 'SELECT ?i ?iLabel ?constructor WHERE { ?i wdt:P18 ?image OPTIONAL { ?i wdt:P1 ?constructor } SERVICE wikibase:label { bd:serviceParam wikibase:language "en" } }');
  assert.match(await tally(tab), /^1 row,/);
  await tab.locator('.table-body .table-row').first().click();
  await tab.waitForSelector('.card:not([hidden])');
  await tab.waitForTimeout(500);
  assert.equal(await tab.locator('.card-about a').count(), 0);
  for (const [path, title] of [['/node/1', NAMES[0]], ['/way/1', 'way 1'], ['/node/3', NAMES[2]], ['/entity/Q7', '<img src=x onerror=alert(2)>']]) {
    await tab.goto(server.url + path);
    await tab.waitForFunction((text) => document.querySelector('.entity h2')?.textContent === text, title);
  }
  assert.equal(dialogs, 0);
  assert.deepEqual(messages, []);
  await context.close();
  server.end();
});

/** Stands before a server, and gives answers of its own to queries that have a word in them. */
async function before(url, answers) {
  const front = http.createServer(async (request, response) => {
    const parts = [];
    for await (const part of request) parts.push(part);
    const body = Buffer.concat(parts);
    const query = request.url === '/api/interpreter' ? decodeURIComponent(body.toString()) : '';
    const own = Object.entries(answers).find(([word]) => query.includes(word))?.[1];
    if (own) return own(response);
    const back = http.request(url + request.url, { method: request.method, headers: request.headers }, (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    });
    back.on('error', () => response.destroy());
    back.end(body);
  });
  await new Promise((ready) => front.listen(0, '127.0.0.1', ready));
  return { url: `http://127.0.0.1:${front.address().port}`, end: () => (front.closeAllConnections(), front.close()) };
}

test('a server that breaks off, refuses or says what nobody reads is told of', async ({ url }) => {
  const json = { 'content-type': 'application/json' };
  const html = (response, status, text) => (response.writeHead(status, { 'content-type': 'text/html' }), response.end(`<html><body><p><strong style="color:#FF0000">Error</strong>: ${text} &lt;b&gt;</p></body></html>`));
  const front = await before(url, {
    broken: (response) => (response.writeHead(200, json), response.write('{"elements":['), setTimeout(() => response.destroy(), 200)),
    closed: (response) => response.destroy(),
    malformed: (response) => (response.writeHead(200, json), response.end('{"elements": [oh')),
    elsewhere: (response) => (response.writeHead(302, { location: 'https://www.openstreetmap.org/browse/node/1' }), response.end()),
    large: (response) => (response.writeHead(200, json), response.end(Buffer.alloc(129_000_000, ' '))),
    busy: (response) => html(response, 429, 'Too many requests.'),
    late: (response) => html(response, 504, 'The server is probably too busy to handle your request.'),
    page: (response) => (response.writeHead(502, { 'content-type': 'text/plain' }), response.end('bad gateway')),
  });
  const { tab, context, elsewhere } = await open(front.url);
  const said = async (word) => {
    await run(tab, `[out:json];node[name=${word}];out;`);
    return (await tab.locator('.notice p').allTextContents()).join('\n');
  };
  assert.match(await said('broken'), /^The answer broke off after \d+ kB\.$/);
  assert.match(await said('closed'), /^The server cannot be reached\.$/);
  assert.match(await said('malformed'), /could not be read, and is here as it came/);
  assert.match(await tab.locator('.raw-view pre').textContent(), /\[oh$/);
  assert.match(await said('elsewhere'), /an address elsewhere/);
  assert.match(await said('large'), /129 MB, more than a page can show/);
  assert.ok(await tab.locator('button:has-text("Export")').isEnabled());
  assert.match(await said('busy'), /^Too many requests\. <b>$/);
  assert.match(await said('late'), /too busy/);
  assert.match(await said('page'), /^bad gateway$/);
  await run(tab, CAFES);
  assert.match(await tally(tab), /^\d+ rows/);
  assert.deepEqual(elsewhere, []);
  await context.close();
  front.end();
});

test('a query that runs is run anew, and what is stuck is stopped', async ({ url }) => {
  const { tab, context } = await open(url);
  await write(tab, '[out:json][timeout:120];way[highway]->.a;foreach.a(way(around:3000)[building];out count;);');
  for (let i = 0; i < 3; i += 1) {
    await tab.keyboard.press('Control+Enter');
    await tab.waitForTimeout(300);
  }
  // The first was stopped by the second, which runs, and can be stopped.
  assert.ok(await tab.locator('.runbar .stop').isVisible());
  await tab.click('.runbar .stop');
  await tab.waitForFunction(() => document.querySelector('.status')?.textContent === 'Stopped.');
  // An expression that takes as long as one likes.
  await write(tab, `${CAFES}{{style: node[name=~/^((\\S| )+)+ZZ$/] { color: red } }}`);
  await tab.keyboard.press('Control+Enter');
  await tab.waitForTimeout(1500);
  await tab.click('.runbar .stop');
  await tab.waitForFunction(() => document.querySelector('.status')?.textContent === 'Stopped.');
  assert.equal(await tab.locator('.layout').getAttribute('data-dock'), 'none');
  assert.match(await run(tab, CAFES), /^\d+ rows/);
  await context.close();
});

test('links that are none open the page', async ({ url }) => {
  for (const [path, text] of [['/#Q=%3Cimg&C=999;999;99', '<img'], ['/?C=95;14;5&Q=x', 'x'], ['/#Q=x&C=35;14;-3', 'x'], ['/#Q=%E0%A4%A', '�%A'], ['/?q=AAAA&c=AAAA', '␀␀␀']]) {
    const { tab, context, messages } = await open(url, path);
    await tab.waitForTimeout(300);
    assert.equal((await editor(tab).textContent()).trim(), text, path);
    assert.deepEqual(messages, [], path);
    await context.close();
  }
});

test('without WebGL there is all but the map', async ({ url }) => {
  const blind = await browser('--disable-webgl', '--disable-webgl2', '--disable-3d-apis');
  try {
    const { tab } = await page(blind);
    await tab.goto(`${url}/?Q=${encodeURIComponent(CAFES)}&R`);
    await tab.waitForFunction(() => /^\d+ rows/.test(document.querySelector('.tally')?.textContent ?? ''));
    assert.match(await tab.locator('.map-pane').textContent(), /There is no map in this browser/);
    assert.ok((await tab.locator('.table-body .table-row').count()) > 5);
    await shot(tab, 'blind');
    await tab.goto(`${url}/relation/7510580`);
    await tab.waitForFunction(() => document.querySelector('.entity h2')?.textContent === 'Valletta');
  } finally {
    await blind.close();
  }
});

test('a token that is not taken, or not given, is asked for again', async ({ path }) => {
  const tokens = join(folder, 'tokens');
  writeFileSync(tokens, `ann ${createHash('sha256').update('secret').digest('hex')}\n`);
  const server = await serve(path, '--tokens', tokens);
  const { tab, context } = await page(chrome);
  await tab.goto(server.url);
  await tab.waitForSelector('dialog');
  await tab.keyboard.press('Escape');
  await tab.click('.fatal button');
  await tab.fill('dialog input', 'wrong');
  await tab.keyboard.press('Enter');
  await tab.waitForSelector('dialog:has-text("does not take the token")');
  await tab.fill('dialog input', 'secret');
  await tab.keyboard.press('Enter');
  await tab.waitForSelector('.maplibregl-canvas');
  await context.close();
  server.end();
});

// The page for annotators: two people in two browsers, a server that is killed, keyboards, screen readers, hostile texts.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { browser, folder, page, serve, serveAt, shot } from './browser.mjs';
import { PHONE, chrome, test, violations } from './kit.mjs';

const AMENITIES = ['cafe', 'bench', 'restaurant', 'parking', 'fountain', 'pharmacy', 'bank', 'school', 'bar', 'library'];

/** A queue of so many queries of both languages. */
function queueOf(many, more = () => ({})) {
  const entry = (n) => {
    const amenity = AMENITIES[n % AMENITIES.length];
    const query = n % 5 === 4 ? `SELECT ?item ?place WHERE { ?item wdt:P131 wd:Q233 ; wdt:P625 ?place } LIMIT ${n + 1}` : `[out:json];\nnode[amenity=${amenity}];\nout ${n + 1};`;
    return { id: `q-${n + 1}`, query, lang: n % 5 === 4 ? 'sparql' : 'overpassql', ...more(n) };
  };
  return Array.from({ length: many }, (_, n) => entry(n));
}

const write = (path, lines) => writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
const read = (path) => readFileSync(path, 'utf8').split('\n').filter(Boolean).map((line) => JSON.parse(line));

/** A queue in a folder of its own, and the options of a server for it. */
function annotated(lines, { tokens = ['ann', 'bob'], options = [] } = {}) {
  const own = mkdtempSync(join(folder, 'annotate-'));
  const queue = join(own, 'queue.jsonl');
  write(queue, lines);
  const given = ['--annotate', queue, ...options];
  if (tokens.length) {
    const file = join(own, 'tokens');
    writeFileSync(file, tokens.map((name) => `${name} ${createHash('sha256').update(`secret of ${name}`).digest('hex')}\n`).join(''));
    given.push('--tokens', file);
  }
  return { queue, state: join(own, 'queue.annotations.jsonl'), options: given };
}

/** Opens the page with the token of a person. */
async function enter(url, who, options = {}, where = chrome) {
  const opened = await page(where, options);
  const { tab } = opened;
  await tab.goto(`${url}/annotate`);
  await tab.waitForSelector('dialog input[type=password]');
  await tab.keyboard.type(`secret of ${who}`);
  await tab.keyboard.press('Enter');
  await task(tab);
  return opened;
}

/** Waits for a task, or for the word that there is none; what it is. */
async function task(tab) {
  await tab.waitForSelector('.annotate-form:not([data-seen]) :is(textarea:not([disabled]), h3[tabindex])', { state: 'attached' });
  await tab.waitForFunction(() => document.querySelector('.annotate-form .annotate-bar'));
  return tab.evaluate(() => ({ title: document.querySelector('.annotate-head h2').textContent, entry: document.querySelector('.annotate-head .count').textContent.split(' · ')[0], question: document.querySelector('.annotate-question')?.textContent ?? null }));
}

/** Saves what is in the form, and waits for the next task. */
async function save(tab) {
  await tab.evaluate(() => document.querySelector('.annotate-form').setAttribute('data-seen', ''));
  await tab.keyboard.press('Control+Enter');
  return task(tab);
}

async function answer(tab, text) {
  await tab.fill('#annotate-question', text);
  return save(tab);
}

async function judge(tab, verdict, { question, reason } = {}) {
  await tab.check(`#verdict-${verdict}`);
  if (question) await tab.fill('#annotate-question', question);
  if (reason) await tab.fill('#annotate-reason', reason);
  return save(tab);
}

const exported = async (url, who, query = '?status=all') => {
  const answer = await fetch(`${url}/annotations${query}`, { headers: { Authorization: `Bearer secret of ${who}` } });
  assert.equal(answer.status, 200);
  return (await answer.text()).split('\n').filter(Boolean).map((line) => JSON.parse(line));
};

test('two people annotate 50 queries in two browsers, the server is killed twice, and nothing is lost', async ({ path }) => {
  const { queue, state, options } = annotated(queueOf(50));
  let server = await serve(path, ...options);
  const { url } = server;
  const other = await browser();
  const people = { ann: await enter(url, 'ann'), bob: await enter(url, 'bob', {}, other) };
  // What each person saw saved, in order.
  const saved = [];
  const had = { ann: new Set(), bob: new Set() };
  let restarts = 0;
  const restart = async () => {
    await server.kill();
    await new Promise((resolve) => setTimeout(resolve, 1500));
    server = await serveAt(new URL(url).host, path, ...options);
    restarts += 1;
  };
  let restarting = null;
  const work = async (who) => {
    const { tab } = people[who];
    for (let current = await task(tab); ; ) {
      if (current.title === 'Annotation') {
        // The other person still works: the page looks again by itself, or when it is asked.
        if (saved.filter((one) => one.final).length === 50) return;
        await tab.waitForTimeout(300);
        await tab.evaluate(() => document.querySelector('.annotate-form').setAttribute('data-seen', ''));
        await tab.click('.annotate-form .primary');
        current = await task(tab);
        continue;
      }
      const number = Number(current.entry.slice(2));
      if ((saved.length >= 25 && restarts === 0) || (saved.length >= 70 && restarts === 1)) restarting ??= restart().finally(() => (restarting = null));
      if (current.title === 'Write the question') {
        const again = saved.some((one) => one.entry === current.entry);
        const question = `What does ${current.entry} find, asks ${who}${again ? ' again' : ''}?`;
        const next = await answer(tab, question);
        saved.push({ entry: current.entry, who, question, final: false });
        current = next;
      } else {
        assert.doesNotMatch(current.question, new RegExp(`${who}( again)?\\?$`), 'nobody validates their own question');
        const verdict = / again\?$/.test(current.question) || /^Better/.test(current.question) ? 'agree' : number % 10 === 3 ? 'correct' : number % 10 === 7 ? 'reject' : 'agree';
        const question = verdict === 'correct' ? `Better: what does ${current.entry} find, by ${who}?` : undefined;
        const reason = verdict === 'agree' ? undefined : `because, says ${who}`;
        const next = await judge(tab, verdict, { question, reason });
        saved.push({ entry: current.entry, who, verdict, on: current.question, question, reason, final: verdict === 'agree' });
        current = next;
      }
    }
  };
  await Promise.all(['ann', 'bob'].map(work));
  assert.equal(restarts, 2);
  // The export has everything that people saw saved, once, and nothing else.
  const all = await exported(url, 'ann');
  assert.equal(all.length, 50);
  const found = all.flatMap((one) =>
    (one.rounds ?? []).flatMap((round) => [
      ...(round.correction ? [] : [`${one.id} ${round.by} wrote ${round.question}`]),
      ...(round.verdicts ?? []).map((given) => `${one.id} ${given.by} ${given.verdict} on ${round.question}: ${given.question ?? ''} ${given.reason ?? ''}`),
    ]),
  );
  const expected = saved.map((one) => (one.verdict ? `${one.entry} ${one.who} ${one.verdict} on ${one.on}: ${one.question ?? ''} ${one.reason ?? ''}` : `${one.entry} ${one.who} wrote ${one.question}`));
  assert.deepEqual(found.sort(), expected.sort());
  const golds = new Map(read(queue).map(({ id, query }) => [id, query]));
  for (const one of all) {
    assert.equal(one.status, 'agreed', one.id);
    assert.equal(one.gold, golds.get(one.id));
    assert.ok(!one.validators.includes(one.annotator), one.id);
    for (const round of one.rounds) for (const time of [round.at, ...(round.verdicts ?? []).map((given) => given.at)]) assert.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  }
  assert.equal(all.filter((one) => one.rounds.some((round) => round.correction)).length, 5);
  assert.equal(all.filter((one) => one.rounds.some((round) => round.verdicts?.some((given) => given.verdict === 'reject'))).length, 5);
  // No entry was with two people at once: a lease ends before another person has one.
  const holders = new Map();
  for (const event of read(state).slice(1)) {
    const holder = holders.get(event.entry);
    if (event.event === 'lease') {
      assert.ok(!holder || holder === event.by, `${event.entry} was with ${holder} and ${event.by}`);
      holders.forEach((by, entry) => by === event.by && holders.delete(entry));
      holders.set(event.entry, event.by);
    } else holders.delete(event.entry);
  }
  for (const { tab, messages, elsewhere, context } of Object.values(people)) {
    assert.match(await tab.locator('.annotate-form').textContent(), /All 50 questions are validated/);
    // While the server is away the console has failed requests, and nothing else.
    assert.deepEqual(messages.filter((message) => !/Failed to load resource|ERR_CONNECTION/.test(message)), []);
    assert.deepEqual(elsewhere, []);
    await context.close();
  }
  await other.close();
  server.end();
});

test('the answer of the query is on the map and in the table, and a suggestion becomes the question', async ({ path }) => {
  const { queue, options } = annotated(queueOf(2, (n) => ({ context: `From page ${n}\nof a wiki`, suggestions: ['Where are the first cafes?', 'Cafes, please'] })));
  const { url, end } = await serve(path, ...options);
  const { tab, messages, context } = await enter(url, 'ann');
  await tab.waitForFunction(() => document.querySelector('.table').getAttribute('aria-rowcount') === '2');
  assert.match(await tab.locator('.tally').textContent(), /1 on the map/);
  assert.match(await tab.locator('.annotate-context').textContent(), /From page 0/);
  assert.match(await tab.locator('.cm-content').textContent(), /amenity=cafe/);
  await tab.click('.cm-content');
  await tab.keyboard.type('x');
  assert.doesNotMatch(await tab.locator('.cm-content').textContent(), /x/, 'the query is only to be read');
  await tab.click('[data-suggestion="0"]');
  assert.equal(await tab.inputValue('#annotate-question'), 'Where are the first cafes?');
  await tab.fill('#annotate-question', 'Where is the first cafe?');
  // What is written is there after the page was loaded again.
  await tab.reload();
  await task(tab);
  assert.equal(await tab.inputValue('#annotate-question'), 'Where is the first cafe?');
  await save(tab);
  // Skipped is offered again when nothing else is.
  const seen = await task(tab);
  assert.equal(seen.entry, 'q-2');
  await tab.evaluate(() => document.querySelector('.annotate-form').setAttribute('data-seen', ''));
  await tab.click('.annotate-bar button:has-text("Skip")');
  assert.equal((await task(tab)).entry, 'q-2');
  const [first] = await exported(url, 'ann', '');
  assert.deepEqual([first.nl, first.rounds[0].suggestion, first.status], ['Where is the first cafe?', 'Where are the first cafes?', 'answered']);
  assert.equal(read(queue).length, 2);
  assert.deepEqual(messages.filter((message) => !/401/.test(message)), []);
  await context.close();
  end();
});

test('ways that a query prints without geometry are on the map, and the query stays as it is', async ({ path }) => {
  const query = '[out:json];\nway[amenity=school];\nout 3;';
  const { options } = annotated([{ id: 'ways', query, lang: 'overpassql' }]);
  const { url, end } = await serve(path, ...options);
  const { tab, context } = await enter(url, 'ann');
  await tab.waitForFunction(() => /3 on the map/.test(document.querySelector('.tally')?.textContent));
  assert.equal(await tab.locator('.cm-content').evaluate((text) => text.cmTile?.view?.state.doc.toString() ?? text.innerText.replace(/\n+/g, '\n').trim()), query);
  assert.doesNotMatch(await tab.locator('.notices').textContent(), /geometry|nowhere/);
  await context.close();
  end();
});

test('a name is typed once where the server has no tokens, and without the option there is nothing', async ({ url: off, path }) => {
  const { options } = annotated(queueOf(1), { tokens: [] });
  const { url, end } = await serve(path, ...options);
  const { tab, context } = await page(chrome);
  await tab.goto(url);
  await tab.click('a:has-text("Annotate")');
  await tab.waitForSelector('dialog input');
  await tab.keyboard.type('cee');
  await tab.keyboard.press('Enter');
  await task(tab);
  assert.equal(await tab.locator('.annotator').textContent(), 'cee');
  await tab.reload();
  await task(tab);
  assert.equal(await tab.locator('.annotator').textContent(), 'cee');
  await context.close();
  end();
  const without = await page(chrome);
  assert.equal((await fetch(`${off}/annotate`)).status, 404);
  await without.tab.goto(off);
  await without.tab.waitForSelector('.bar');
  assert.equal(await without.tab.locator('a:has-text("Annotate")').count(), 0);
  await without.context.close();
});

test('a keyboard alone writes, validates and looks at the disagreements', async ({ path }) => {
  const { options } = annotated(queueOf(2));
  const { url, end } = await serve(path, ...options);
  const ann = await enter(url, 'ann');
  const { tab } = ann;
  const seen = () => tab.evaluate(() => document.querySelector('.annotate-form').setAttribute('data-seen', ''));
  for (const text of ['First?', 'Second?']) {
    await tab.keyboard.type(text);
    await tab.keyboard.press('Tab');
    await seen();
    await tab.keyboard.press('Enter');
    await task(tab);
  }
  const bob = await enter(url, 'bob');
  const keys = bob.tab.keyboard;
  assert.equal(await bob.tab.evaluate(() => document.activeElement.id), 'verdict-agree');
  await keys.press('ArrowDown');
  await keys.press('Tab');
  await keys.press('Control+a');
  await keys.type('The first one?');
  await keys.press('Tab');
  await keys.type('clearer');
  await bob.tab.evaluate(() => document.querySelector('.annotate-form').setAttribute('data-seen', ''));
  await keys.press('Control+Enter');
  await task(bob.tab);
  await keys.press('Space');
  await bob.tab.evaluate(() => document.querySelector('.annotate-form').setAttribute('data-seen', ''));
  await keys.press('Control+Enter');
  await task(bob.tab);
  // F6 goes round the parts, and from the query with Escape back to the form.
  await keys.press('F6');
  await bob.tab.focus('.bar button:has-text("Disagreements")');
  await keys.press('Enter');
  await bob.tab.waitForSelector('.annotate-dispute');
  assert.match(await bob.tab.locator('.annotate-dispute').textContent(), /First\?.*bob: corrected: clearer.*The first one\?/s);
  await keys.press('Escape');
  const [first, second] = await exported(url, 'bob');
  assert.deepEqual([first.nl, first.status, second.status], ['The first one?', 'corrected', 'agreed']);
  for (const { context } of [ann, bob]) await context.close();
  end();
});

test('a query, a question and a reason that are markup are shown as texts', async ({ path }) => {
  const evil = '<img src=x onerror="window.evil=1"><script>window.evil=1</script>';
  const { options } = annotated([{ id: evil, query: `// ${evil}\n[out:json];node[amenity=cafe];out 1;`, context: evil, suggestions: [evil] }]);
  const { url, end } = await serve(path, ...options);
  const ann = await enter(url, 'ann');
  assert.ok((await ann.tab.locator('.annotate-head').textContent()).includes(evil));
  await answer(ann.tab, `${evil}?`);
  const bob = await enter(url, 'bob');
  assert.equal(await bob.tab.locator('.annotate-question').textContent(), `${evil}?`);
  await judge(bob.tab, 'reject', { reason: evil });
  await bob.tab.click('.bar button:has-text("Disagreements")');
  await bob.tab.waitForSelector('.annotate-dispute');
  assert.ok((await bob.tab.locator('.annotate-dispute').textContent()).includes(evil));
  for (const { tab, messages, elsewhere, context } of [ann, bob]) {
    assert.equal(await tab.evaluate(() => window.evil), undefined);
    assert.equal(await tab.locator('img[src=x]').count(), 0);
    assert.deepEqual(messages.filter((message) => !/401/.test(message)), []);
    assert.deepEqual(elsewhere, []);
    await context.close();
  }
  end();
});

for (const [name, options] of Object.entries({ light: {}, dark: { colorScheme: 'dark' }, phone: PHONE })) {
  test(`annotation is in nobody's way: ${name}`, async ({ path }) => {
    const lines = queueOf(6, (n) => ({ context: 'From the wiki page "Examples"', ...(n === 1 && { suggestions: ['Where are benches?', 'Which places have a bench to sit on?'] }) }));
    const { options: given } = annotated(lines.map((line, n) => ({ ...line, query: n % 5 === 4 ? line.query : line.query.replace(/out \d+;/, 'out 40;') })));
    const { url, end } = await serve(path, ...given);
    const shown = { ...options, bypassCSP: true };
    const { tab, context } = await enter(url, 'ann', shown);
    const look = async (what) => {
      await tab.waitForTimeout(1500);
      await shot(tab, `${name}-annotate-${what}`);
      assert.deepEqual(await violations(tab), [], what);
      if (name === 'phone') assert.equal(await tab.evaluate(() => document.documentElement.scrollWidth), 390);
    };
    await answer(tab, 'Where are cafes?');
    await look('write');
    await answer(tab, 'Where are benches?');
    const bob = await enter(url, 'bob', shown);
    for (let left = 3; left > 0; left -= 1) await answer(bob.tab, `Which things are these, number ${left}?`);
    await bob.context.close();
    // Ann writes the last one, then validates those of bob.
    await answer(tab, 'What is left?');
    await tab.check('#verdict-correct');
    await look('validate');
    await judge(tab, 'correct', { question: 'Which restaurants are there?', reason: 'It names what they are' });
    await tab.click('.bar button:has-text("Progress")');
    await tab.waitForSelector('.annotate-table');
    await look('progress');
    await tab.keyboard.press('Escape');
    await tab.click('.bar button:has-text("Disagreements")');
    await tab.waitForSelector('.annotate-dispute');
    await look('disagreements');
    await tab.keyboard.press('Escape');
    // A rejected question is written again, with the reason in view.
    const again = await judge(tab, 'reject', { reason: 'These are places, not people' });
    assert.equal(again.title, 'Write the question');
    assert.match(await tab.locator('.annotate-before').textContent(), /rejected: These are places/);
    await look('again');
    await context.close();
    end();
  });
}

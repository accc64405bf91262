// Runs the tests of the page, one after another over one server; with an argument those whose names have it in them.

import './page.mjs';
import './views.mjs';
import './adverse.mjs';
import './habits.mjs';
import './ask.mjs';
import { cleanUp, serve, snapshot } from './browser.mjs';
import { chrome, tests } from './kit.mjs';

const wanted = process.argv[2] ?? '';
const path = snapshot();
const server = await serve(path);
let failed = 0;
for (const { name, run: body } of tests.filter((one) => one.name.includes(wanted))) {
  const started = Date.now();
  try {
    await body({ url: server.url, path });
    console.log(`ok   ${name} (${((Date.now() - started) / 1000).toFixed(1)} s)`);
  } catch (problem) {
    failed += 1;
    console.log(`FAIL ${name}\n     ${problem.stack?.split('\n').slice(0, 6).join('\n     ')}`);
    for (const context of chrome.contexts()) await context.close();
  }
}
await chrome.close();
server.end();
cleanUp();
console.log(failed ? `${failed} of ${tests.length} tests failed` : 'the page is well');
process.exit(failed ? 1 : 0);

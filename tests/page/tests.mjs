// Runs the tests of the page, one after another over one server; with arguments those whose names have one of them.

import './page.mjs';
import './views.mjs';
import './adverse.mjs';
import './habits.mjs';
import './peers.mjs';
import './ask.mjs';
import './annotate.mjs';
import './basemap.mjs';
import './style.mjs';
import './repair.mjs';
import './rows.mjs';
import './state.mjs';
import './layout.mjs';
import './words.mjs';
import './charts.mjs';
import './paper.mjs';
import './controls.mjs';
import './widths.mjs';
import './world.mjs';
import './text.mjs';
import './identity.mjs';
import { cleanUp, serve, snapshot } from './browser.mjs';
import { chrome, tests } from './kit.mjs';

const wanted = process.argv.slice(2);
const path = snapshot();
const server = await serve(path);
let failed = 0;
/** Runs a test; why it failed, where it did. */
async function attempt({ name, run: body }) {
  const started = Date.now();
  try {
    await body({ url: server.url, path });
    console.log(`ok   ${name} (${((Date.now() - started) / 1000).toFixed(1)} s)`);
    return null;
  } catch (problem) {
    for (const context of chrome.contexts()) await context.close();
    return problem.stack?.split('\n').slice(0, 6).join('\n     ');
  }
}

for (const one of tests.filter((one) => !wanted.length || wanted.some((name) => one.name.includes(name)))) {
  const first = await attempt(one);
  if (!first) continue;
  // A browser on a busy machine may be too slow once; what is wrong is so again.
  console.log(`     ${one.name}: once more, after\n     ${first}`);
  const problem = await attempt(one);
  if (!problem) continue;
  failed += 1;
  console.log(`FAIL ${one.name}\n     ${problem}`);
}
await chrome.close();
server.end();
cleanUp();
console.log(failed ? `${failed} of ${tests.length} tests failed` : 'the page is well');
process.exit(failed ? 1 : 0);

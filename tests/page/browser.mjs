// A server over Malta and a part of Wikidata, and a browser that reaches nothing else.

import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { chromium } from '../../web/node_modules/playwright-core/index.mjs';

const { TERRAPIN, TERRAPIN_CHROMIUM, TERRAPIN_SHARED, TERRAPIN_PAGE_SHOTS } = process.env;

export const folder = mkdtempSync(join(tmpdir(), 'terrapin-page-'));

/** A snapshot of Malta with items, made once for a run. */
export function snapshot(osm = 'malta-2024.osm.pbf', ...options) {
  const out = join(folder, `${osm}.terrapin`);
  const data = (...path) => join(TERRAPIN_SHARED, 'data', ...path);
  const done = spawnSync(TERRAPIN, ['load', '--osm', data('osm', osm), '--rdf', data('wikidata', 'subset-full-entities.nt.gz'), '--out', out, ...options], { encoding: 'utf8' });
  if (done.status !== 0) throw new Error(done.stderr);
  return out;
}

/** Starts a server; its `url`, `end()`, and `kill()`, which leaves it no time and resolves when it is gone. */
export async function serve(path, ...options) {
  return serveAt('127.0.0.1:0', path, ...options);
}

/** Starts a server at an address. */
export async function serveAt(address, path, ...options) {
  const child = spawn(TERRAPIN, ['serve', path, '--bind', address, '--json', ...options], { stdio: ['ignore', 'pipe', 'ignore'] });
  const gone = new Promise((resolve) => child.on('exit', resolve));
  const kill = () => (child.kill('SIGKILL'), gone);
  for await (const line of createInterface(child.stdout)) return { url: JSON.parse(line).url, end: () => child.kill(), kill };
  throw new Error('the server did not start');
}

/** A browser, started with `more`, too. */
export async function browser(...more) {
  return chromium.launch({
    executablePath: TERRAPIN_CHROMIUM,
    args: ['--headless=new', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', ...more],
  });
}

/** What the drawing in software says of itself, which is not the page's. */
const NOISE = /GL Driver Message|WebGL.*Performance/;

/** A page in a context of its own. `messages` are those of its console, `elsewhere` what it asked of other hosts. */
export async function page(chrome, options = {}) {
  const context = await chrome.newContext({ viewport: { width: 1360, height: 850 }, colorScheme: 'light', ...options });
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const tab = await context.newPage();
  tab.setDefaultTimeout(45_000);
  const messages = [];
  const elsewhere = [];
  tab.on('console', (message) => NOISE.test(message.text()) || messages.push(`${message.type()}: ${message.text()} ${message.location().url}`));
  tab.on('pageerror', (error) => messages.push(`error: ${error.message}`));
  await context.route(
    (url) => !/^127\.0\.0\.1$/.test(url.hostname) && url.protocol.startsWith('http'),
    (route) => {
      elsewhere.push(route.request().url());
      return route.abort();
    },
  );
  return { tab, context, messages, elsewhere };
}

/** Keeps a picture, where somebody wants them. */
export async function shot(tab, name) {
  if (!TERRAPIN_PAGE_SHOTS) return;
  mkdirSync(TERRAPIN_PAGE_SHOTS, { recursive: true });
  await tab.screenshot({ path: join(TERRAPIN_PAGE_SHOTS, `${name}.png`) });
}

export const cleanUp = () => rmSync(folder, { recursive: true, force: true });

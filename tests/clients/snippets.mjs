// Prints the programs of the page's "Code" as JSON: for each query, each program that fits. Usage: node snippets.mjs FILE,
// where FILE has a list of {language, query, origin, snapshot, digest, token} as JSON.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const web = fileURLToPath(new URL('../../web/', import.meta.url));
const { build } = await import(pathToFileURL(join(web, 'node_modules/vite/dist/node/index.js')).href);
const folder = mkdtempSync(join(tmpdir(), 'terrapin-snippets-'));
await build({ root: web, configFile: false, logLevel: 'error', build: { outDir: folder, lib: { entry: join(web, 'src/code/snippets.ts'), formats: ['es'], fileName: 'snippets' } } });
const { SNIPPETS } = await import(pathToFileURL(join(folder, 'snippets.js')).href);
rmSync(folder, { recursive: true });
const asked = JSON.parse(readFileSync(process.argv[2], 'utf8'));
console.log(JSON.stringify(asked.map((one) => SNIPPETS.filter((snippet) => snippet.fits(one)).map((snippet) => ({ id: snippet.id, file: snippet.file, text: snippet.text(one) })))));

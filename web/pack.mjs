// Packs what Vite built into the crate of the server, which embeds it: each file with gzip, fonts as they are (they
// are packed already), and the list of them. The same sources give the same bytes.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { gzipSync } from 'node:zlib';

const TYPES = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.json': 'application/json',
  '.woff2': 'font/woff2',
};
/** In the crate, so that a published one contains the page. */
const PACKED = '../crates/server/web';
/** All of it, in bytes. */
const MOST = 1_500_000;

rmSync(PACKED, { recursive: true, force: true });
mkdirSync(PACKED);
let total = 0;
const lines = [];
for (const name of readdirSync('out').sort()) {
  const type = TYPES[extname(name)];
  if (!type) throw new Error(`${name}: of which type is it?`);
  const packed = extname(name) !== '.woff2';
  let bytes = readFileSync(join('out', name));
  const etag = createHash('sha256').update(bytes).digest('hex').slice(0, 16);
  if (packed) bytes = gzipSync(bytes, { level: 9 });
  const stored = packed ? `${name}.gz` : name;
  writeFileSync(join(PACKED, stored), bytes);
  total += bytes.length;
  lines.push(
    `    WebFile {\n        name: "${name}",\n        content_type: "${type}",\n        packed: ${packed},\n` +
      `        etag: "\\"${etag}\\"",\n        bytes: include_bytes!("${stored}"),\n    },\n`,
  );
}
writeFileSync(join(PACKED, 'files.rs'), `// Written by \`make page\`: what the page is made of.\n&[\n${lines.join('')}]\n`);
if (total > MOST) throw new Error(`the page has ${total} bytes, more than ${MOST}`);
console.log(`${PACKED}: ${lines.length} files, ${total} bytes packed`);

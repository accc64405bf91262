// Collects the licences of all packages whose code or fonts become part of the page, with those that they are made of.
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';

const HEAD = `What the page of Terrapin is made of, besides its own code (MIT or Apache-2.0), and under which licences.
The data that it shows is not part of it: OpenStreetMap's is (c) OpenStreetMap contributors, under the Open Database
License; Wikidata's is in the public domain (CC0).

Borders and names of the world: Natural Earth, in the public domain, by the npm package world-atlas 2.0.2 (ISC, (c) 2013-2019
Michael Bostock). Colours for values: ColorBrewer, (c) 2002 Cynthia Brewer, Mark Harrower and The Pennsylvania State
University (Apache-2.0): this product includes color specifications and designs developed by Cynthia Brewer
(http://colorbrewer.org/); viridis and cividis (CC0); Okabe and Ito; Paul Tol.
`;

/** A plugin of Vite that adds the file \`licences.txt\` to what is built. */
export function licences() {
  return {
    name: 'licences',
    apply: 'build',
    generateBundle() {
      const found = new Map();
      for (const id of this.getModuleIds()) take(folder(id), found);
      // Fonts are named in styles, which are no modules.
      for (const name of JSON.parse(readFileSync('package.json', 'utf8')).fonts) take(join('node_modules', name), found);
      const texts = [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1)).map(text);
      this.emitFile({ type: 'asset', fileName: 'licences.txt', source: [HEAD, ...texts].join(`\n${'-'.repeat(80)}\n\n`) });
    },
  };
}

/** The package's folder that a module lies in. */
function folder(id) {
  const match = /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(id.replace(/^\0/, ''));
  return match?.[1];
}

function take(path, found) {
  if (!path || !existsSync(join(path, 'package.json'))) return;
  const about = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'));
  if (found.has(about.name)) return;
  found.set(about.name, { ...about, path });
  // Some are published bundled: what they depend on is in them, though no module says so.
  for (const name of Object.keys(about.dependencies ?? {})) {
    if (name.startsWith('@types/')) continue;
    const near = [join(path, 'node_modules', name), join(dirname(path), name), join(dirname(dirname(path)), name)];
    take(near.find((folder) => existsSync(join(folder, 'package.json'))), found);
  }
}

function text({ name, version, license, path }) {
  const file = readdirSync(path).find((file) => /^(licen[sc]e|copying)/i.test(file));
  if (!file) return `${name} ${version}: ${license}\n`;
  return `${name} ${version}: ${license}\n\n${readFileSync(join(path, file), 'utf8').trim()}\n`;
}

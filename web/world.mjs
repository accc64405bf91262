// Writes src/world/world.json: borders and names for the map where the snapshot has no elements.
//
// usage: node world.mjs WORLD-ATLAS
//
// The argument is the unpacked npm package `world-atlas` 2.0.2 (ISC): Natural Earth's countries at 1:50,000,000 (public domain) as
// TopoJSON. The names of seas are those of Natural Earth's largest seas, with a point in the middle of each, given below.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Half a pixel of zoom 5, in parts of the world's width, with tiles of 512 pixels. */
const TOLERANCE = 1 / 32768;
/** Steps of a degree in the file. */
const STEPS = 100;

const topology = JSON.parse(readFileSync(join(process.argv[2] ?? 'world-atlas', 'countries-50m.json'), 'utf8'));
const { scale, translate } = topology.transform;
const arcs = topology.arcs.map((arc) => {
  let [x, y] = [0, 0];
  return arc.map(([dx, dy]) => [(x += dx) * scale[0] + translate[0], (y += dy) * scale[1] + translate[1]]);
});

const mercator = ([lon, lat]) => [lon / 360, Math.asinh(Math.tan((Math.max(-85, Math.min(85, lat)) * Math.PI) / 180)) / (2 * Math.PI)];

function distance([px, py], [ax, ay], [bx, by]) {
  const [dx, dy] = [bx - ax, by - ay];
  const length = dx * dx + dy * dy;
  const along = length ? Math.max(0, Math.min(1, ((px - ax) * dx + (py - ay) * dy) / length)) : 0;
  return Math.hypot(px - ax - along * dx, py - ay - along * dy);
}

/** The line without points closer than the tolerance to it (Douglas and Peucker). */
function simplify(line) {
  const flat = line.map(mercator);
  const keep = new Set([0, line.length - 1]);
  const parts = [[0, line.length - 1]];
  for (let part = parts.pop(); part; part = parts.pop()) {
    const [first, last] = part;
    let [far, at] = [0, 0];
    for (let i = first + 1; i < last; i += 1) {
      const away = distance(flat[i], flat[first], flat[last]);
      if (away > far) [far, at] = [away, i];
    }
    if (far <= TOLERANCE) continue;
    keep.add(at);
    parts.push([first, at], [at, last]);
  }
  return [...keep].sort((a, b) => a - b).map((at) => line[at]);
}

const countries = topology.objects.countries.geometries;
const polygonsOf = ({ type, arcs: own }) => (type === 'MultiPolygon' ? own : type === 'Polygon' ? [own] : []);

/** Borders on land: lines of two countries. */
function borders() {
  const uses = new Map();
  for (const [i, country] of countries.entries()) {
    for (const at of polygonsOf(country).flat(2)) {
      const arc = at < 0 ? ~at : at;
      uses.set(arc, (uses.get(arc) ?? new Set()).add(i));
    }
  }
  return [...uses].filter(([, by]) => by.size > 1).map(([arc]) => {
    let before = [0, 0];
    return simplify(arcs[arc]).flatMap((point) => {
      const now = point.map((degrees) => Math.round(degrees * STEPS));
      const step = [now[0] - before[0], now[1] - before[1]];
      before = now;
      return step;
    });
  });
}

const ringOf = (own) => own.flatMap((at, i) => (at < 0 ? [...arcs[~at]].reverse() : arcs[at]).slice(i ? 1 : 0));
const area = (ring) => Math.abs(ring.reduce((sum, [x, y], i) => sum + x * (ring[(i + 1) % ring.length][1]) - ring[(i + 1) % ring.length][0] * y, 0)) / 2;

/** Distance from a point to the border of a polygon, negative outside. */
function inside([x, y], rings) {
  let within = false;
  let near = Infinity;
  for (const ring of rings) {
    for (let i = 0, j = ring.length - 1; i < ring.length; j = i, i += 1) {
      const [[ax, ay], [bx, by]] = [ring[i], ring[j]];
      if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) within = !within;
      near = Math.min(near, distance([x, y], ring[i], ring[j]));
    }
  }
  return within ? near : -near;
}

/** The point of a polygon farthest from its border, and the distance: ever finer grids around the best point. */
function middle(rings) {
  const xs = rings[0].map(([x]) => x);
  const ys = rings[0].map(([, y]) => y);
  let box = [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
  let best = { far: -Infinity, at: [0, 0] };
  for (let round = 0; round < 4; round += 1) {
    const [w, s, e, n] = box;
    for (let i = 0; i <= 16; i += 1) {
      for (let j = 0; j <= 16; j += 1) {
        const at = [w + ((e - w) * i) / 16, s + ((n - s) * j) / 16];
        const far = inside(at, rings);
        if (far > best.far) best = { far, at };
      }
    }
    const [dx, dy] = [(e - w) / 8, (n - s) / 8];
    box = [best.at[0] - dx, best.at[1] - dy, best.at[0] + dx, best.at[1] + dy];
  }
  return best;
}

const degrees = ([x, y]) => [x * 360, (Math.atan(Math.sinh(y * 2 * Math.PI)) * 180) / Math.PI];
const rounded = (number) => Math.round(number * 10) / 10;

/** Names of countries without a region code. */
const NAMES = new Map([['Kosovo', 'XK'], ['N. Cyprus', 'Northern Cyprus']]);
/** What is no country. */
const OTHERS = new Set(['Siachen Glacier', 'Indian Ocean Ter.']);

/** The largest first: region code (ISO 3166-1) or name, longitude, latitude, and the first zoom at which the name is about as wide as the country. */
function names() {
  const seen = new Set();
  return countries.flatMap((country) => {
    const parts = polygonsOf(country).map((rings) => rings.map((own) => ringOf(own).map(mercator)));
    const largest = parts.sort((a, b) => area(b[0]) - area(a[0]))[0];
    if (!largest) return [];
    const { far, at } = middle(largest);
    const { name } = country.properties;
    const region = country.id && new Intl.Locale(`und-${String(country.id).padStart(3, '0')}`).region;
    if (OTHERS.has(name) || (region && seen.has(region))) return [];
    seen.add(region);
    const own = NAMES.get(name) ?? (region && /^[A-Z]{2}$/.test(region) && new Intl.DisplayNames(['en'], { type: 'region' }).of(region) !== region ? region : name);
    // The area counts as well as the width: long countries have names beside them.
    const width = Math.max(2 * far, Math.sqrt(area(largest[0])));
    const called = /^[A-Z]{2}$/.test(own) ? new Intl.DisplayNames(['en'], { type: 'region' }).of(own) : own;
    const zoom = Math.log2((called.length * 6) / (512 * width));
    const [lon, lat] = degrees(at);
    return [[width, [own, rounded(lon), rounded(lat), rounded(Math.max(0.5, Math.min(6, zoom)))]]];
  }).sort(([a], [b]) => b - a).map(([, named]) => named);
}

const SEAS = [
  ['Pacific Ocean', -150, 5, 0], ['Pacific Ocean', 170, 8, 0], ['Pacific Ocean', -125, -30, 2.5], ['Atlantic Ocean', -38, 28, 0], ['Atlantic Ocean', -18, -22, 0], ['Indian Ocean', 78, -18, 0], ['Southern Ocean', 60, -62, 1], ['Southern Ocean', -110, -65, 1], ['Arctic Ocean', -150, 78, 1], ['Arctic Ocean', 80, 80, 2],
  ['Mediterranean Sea', 18.5, 34.4, 3], ['Black Sea', 34.5, 43.2, 3], ['Caspian Sea', 50.8, 41.6, 3], ['Red Sea', 38.3, 20.3, 3.5], ['Persian Gulf', 51.4, 26.9, 4], ['Gulf of Aden', 48, 12.3, 4], ['Gulf of Oman', 59.2, 24.9, 4.5], ['Arabian Sea', 64, 15, 2.5], ['Bay of Bengal', 88.5, 14.5, 2.5], ['Andaman Sea', 96, 10.5, 4], ['Laccadive Sea', 74.5, 7.5, 4.5],
  ['South China Sea', 114.3, 13.5, 2.5], ['East China Sea', 125, 29, 3.5], ['Yellow Sea', 123.2, 35.6, 4], ['Sea of Japan', 134.8, 40, 3], ['Sea of Okhotsk', 149.5, 53.5, 2.5], ['Bering Sea', -178, 58, 2.5], ['Philippine Sea', 133, 19.5, 2.5], ['Sulu Sea', 119.8, 8.5, 4.5], ['Celebes Sea', 122.5, 3.6, 4], ['Banda Sea', 127, -5.4, 4], ['Java Sea', 111, -5, 4], ['Flores Sea', 120.5, -7.6, 5], ['Gulf of Thailand', 101.2, 9.8, 4.5], ['Gulf of Tonkin', 107.6, 19.8, 5],
  ['Timor Sea', 127.5, -11.2, 4], ['Arafura Sea', 134.5, -9.6, 4], ['Gulf of Carpentaria', 139, -14, 4], ['Coral Sea', 154, -17.5, 2.5], ['Tasman Sea', 160, -38.5, 2.5], ['Great Australian Bight', 130.5, -34, 3.5], ['Solomon Sea', 153.2, -8, 4.5], ['Bismarck Sea', 148.5, -4, 5], ['Ross Sea', -175, -76, 3], ['Weddell Sea', -45, -72, 2.5], ['Amundsen Sea', -112, -72.8, 4], ['Bellingshausen Sea', -85, -70.5, 4], ['Scotia Sea', -45, -57, 3.5],
  ['Caribbean Sea', -74.5, 14.7, 2.5], ['Gulf of Mexico', -90.5, 25, 2.5], ['Sargasso Sea', -60, 29, 4], ['Labrador Sea', -54, 57, 3], ['Hudson Bay', -85.5, 60, 2.5], ['Baffin Bay', -67.5, 73.5, 3], ['Davis Strait', -57.7, 66.5, 4], ['Gulf of Alaska', -146, 57.5, 3], ['Beaufort Sea', -139, 72, 3], ['Chukchi Sea', -170, 69.5, 3.5], ['Gulf of California', -111.3, 27.2, 4.5], ['Gulf of Saint Lawrence', -62, 48.4, 4.5], ['Gulf of Maine', -68.8, 43.2, 5], ['Denmark Strait', -27, 66.5, 4.5],
  ['North Sea', 3.3, 56.3, 3], ['Baltic Sea', 19.3, 56.7, 3.5], ['Gulf of Bothnia', 19.9, 62.2, 4.5], ['Gulf of Finland', 26, 60, 5.5], ['Norwegian Sea', 3.5, 67, 2.5], ['Greenland Sea', -7, 76, 2.5], ['Barents Sea', 38, 74, 2.5], ['Kara Sea', 68, 75.5, 3], ['White Sea', 37.5, 65.4, 5], ['Laptev Sea', 126, 76, 3], ['East Siberian Sea', 163, 72.5, 3], ['Celtic Sea', -8, 50.2, 4.5], ['Irish Sea', -4.9, 53.7, 5], ['English Channel', -2.2, 49.9, 4.7], ['Bay of Biscay', -4.5, 45.4, 3.7], ['Gulf of Cádiz', -7.4, 36.6, 5], ['Kattegat', 11.4, 56.9, 5.5], ['Skagerrak', 9.2, 58, 5.5],
  ['Balearic Sea', 2.2, 40.2, 5], ['Ligurian Sea', 8.6, 43.4, 5], ['Tyrrhenian Sea', 12.2, 40, 4], ['Adriatic Sea', 15.4, 43, 4], ['Ionian Sea', 19, 37.8, 4], ['Aegean Sea', 25.1, 38.6, 4.5], ['Sea of Crete', 24.9, 36, 5.5], ['Sea of Azov', 36.6, 46.1, 5], ['Sea of Marmara', 28.1, 40.7, 6], ['Gulf of Sidra', 18.4, 31.5, 5], ['Alboran Sea', -3.3, 36, 5.5], ['Levantine Sea', 31.5, 33.6, 4.7],
  ['Gulf of Guinea', 2.5, 2, 3], ['Mozambique Channel', 41, -19, 3.5], ['Drake Passage', -64, -58.5, 4], ['Río de la Plata', -56.8, -35.3, 5],
];

const file = { steps: STEPS, borders: borders(), countries: names(), seas: SEAS };
writeFileSync('src/world/world.json', `${JSON.stringify(file)}\n`);
console.log(`world.json: ${file.borders.length} borders with ${file.borders.flat().length / 2} points, ${file.countries.length} countries, ${SEAS.length} seas`);

// The `{{shortcuts}}` of overpass-turbo, as `crates/overpass/src/turbo.rs` replaces them on a shell; here the box and the
// centre are the map's, and names lead where `/search` says. Places in the replaced text can be found again in the text
// that somebody wrote.

import { middleOf } from './map/bounds';
import { json } from './service';
import { t } from './text/lookup';

export interface Surroundings {
  /** South, west, north, east of the map. */
  bbox: [number, number, number, number];
  /** The time of the data, from which relative dates count. */
  now: string;
}

export interface Expanded {
  text: string;
  /** MapCSS of `{{style: ...}}`. */
  style: string;
  /** Whether it names another server to be asked. */
  elsewhere: boolean;
  /** Names of places that lead to a place of another name. */
  guessed: { name: string; place: string }[];
  /** Where a place of the replaced text is in the original. */
  origin(at: number): number;
}

/** A shortcut that cannot be replaced. */
export class Unknown extends Error {
  constructor(readonly from: number, readonly to: number, message: string) {
    super(message);
  }
}

interface Place {
  name?: string;
  display_name?: string;
  namedetails?: Record<string, string>;
  osm_type?: string;
  osm_id?: number;
  lat: string;
  lon: string;
  boundingbox: [string, string, string, string];
}

const places = new Map<string, Promise<Place | undefined>>();

function find(name: string): Promise<Place | undefined> {
  let place = places.get(name);
  if (!place) {
    place = json<Place[]>(`/search?format=jsonv2&limit=1&namedetails=1&q=${encodeURIComponent(name)}`).then((found) => found[0]);
    place.catch(() => places.delete(name));
    places.set(name, place);
  }
  return place;
}

const DEPTH = 16;
const LETTERS = 1 << 20;

export async function expand(text: string, around: Surroundings): Promise<Expanded> {
  const out: Out = { text: '', steps: [], style: '', elsewhere: false, guessed: [] };
  const definitions = new Map<string, string>();
  for (const piece of pieces(text)) {
    const defined = piece.inner === undefined ? undefined : definition(piece.inner);
    if (defined) definitions.set(...defined);
  }
  await write(text, undefined, 0, { around, definitions, xml: /^\s*</.test(text) }, out);
  return { text: out.text, style: out.style, elsewhere: out.elsewhere, guessed: out.guessed, origin: (at) => origin(out.steps, at) };
}

interface Out {
  text: string;
  /** From `at` on in the replaced text, the original is at `from` on: letter by letter where `plain`. */
  steps: { at: number; from: number; plain: boolean }[];
  style: string;
  elsewhere: boolean;
  guessed: Expanded['guessed'];
}

interface Kept {
  around: Surroundings;
  definitions: Map<string, string>;
  xml: boolean;
}

async function write(text: string, outer: number | undefined, depth: number, kept: Kept, out: Out): Promise<void> {
  for (const { before, start, position, inner } of pieces(text)) {
    out.steps.push({ at: out.text.length, from: outer ?? start, plain: outer === undefined });
    out.text += before;
    if (inner === undefined || definition(inner)) continue;
    const at = outer ?? position;
    out.steps.push({ at: out.text.length, from: at, plain: false });
    const value = kept.definitions.get(inner.trim());
    if (value !== undefined) {
      if (depth === DEPTH || out.text.length > LETTERS) throw new Unknown(at, at + inner.length + 4, `{{${inner}}}: ${t('definitionsThatUse')}`);
      await write(value, at, depth + 1, kept, out);
      continue;
    }
    try {
      out.text += (await shortcut(inner, kept, out)) ?? `{{${inner}}}`;
    } catch (problem) {
      throw new Unknown(at, at + inner.length + 4, `{{${inner}}}: ${(problem as Error).message}`);
    }
  }
}

/** What a shortcut becomes; nothing where it is none. */
async function shortcut(inner: string, { around, xml }: Kept, out: Out): Promise<string | undefined> {
  const match = /^\s*(\w+)\s*(?::([\s\S]*))?$/.exec(inner);
  if (!match) return undefined;
  const name = match[1] ?? '';
  const argument = match[2]?.trim().replace(/^"+|"+$/g, '');
  const box = ([s, w, n, e]: (number | string)[]) => (xml ? `s="${s}" w="${w}" n="${n}" e="${e}"` : `${s},${w},${n},${e}`);
  const point = (lat: number | string, lon: number | string) => (xml ? `lat="${lat}" lon="${lon}"` : `${lat},${lon}`);
  const place = async () => {
    const found = argument ? await find(argument) : undefined;
    if (!found) throw new Error(t('noPlaceOfThisNameIn'));
    if (!isCalled(found, argument ?? '')) out.guessed.push({ name: argument ?? '', place: found.name || found.display_name || '' });
    return found;
  };
  switch (name) {
    case 'bbox':
      return argument === undefined ? box(around.bbox) : undefined;
    case 'wsen': {
      // West, south, east, north, as other programs count corners.
      const [south, west, north, east] = around.bbox;
      return argument === undefined ? `${west},${south},${east},${north}` : undefined;
    }
    case 'center':
      return argument === undefined ? point(...middleOf(around.bbox)) : undefined;
    case 'date':
      return date(argument ?? '', around.now);
    case 'geocodeArea':
    case 'nominatimArea': {
      const found = await place();
      const base = found.osm_type === 'relation' ? 3_600_000_000 : found.osm_type === 'way' ? 2_400_000_000 : undefined;
      if (base === undefined || found.osm_id === undefined) throw new Error(t('whatIsCalledSoIsNo'));
      const id = base + found.osm_id;
      return xml ? `type="area" ref="${id}"` : `area(${id})`;
    }
    case 'geocodeId': {
      const found = await place();
      return xml ? `type="${found.osm_type}" ref="${found.osm_id}"` : `${found.osm_type}(${found.osm_id})`;
    }
    case 'geocodeBbox': {
      const [south, north, west, east] = (await place()).boundingbox;
      return box([south, west, north, east]);
    }
    case 'geocodeCoords': {
      const { lat, lon } = await place();
      return point(lat, lon);
    }
    case 'style':
      out.style += argument ?? '';
      return '';
    case 'data':
      if (!/^overpass\b/.test(argument ?? '')) throw new Error(t('thisPageAsksTheServerThat'));
      out.elsewhere = true;
      return '';
    default:
      return undefined;
  }
}

/** Whether a place, or one of the places that it lies in, has this name. */
function isCalled(place: Place, name: string): boolean {
  const plain = (text: string) => text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().trim();
  const [first = ''] = name.split(',');
  return [place.name ?? '', ...Object.values(place.namedetails ?? {}), ...(place.display_name ?? '').split(',')].some((known) => plain(known) === plain(first));
}

const SECONDS: Record<string, number> = { second: 1, minute: 60, hour: 3600, day: 86_400, week: 604_800, month: 2_628_000, year: 31_536_000 };

function date(argument: string, now: string): string {
  if (!argument) return now;
  if (/^\d{4}-\d\d-\d\dT/.test(argument)) return argument;
  let seconds = 0;
  const words = argument.toLowerCase().split(/\s+/);
  for (let i = 0; i < words.length; i += 2) {
    const unit = SECONDS[(words[i + 1] ?? '').replace(/s$/, '')];
    const number = Number(words[i]);
    if (unit === undefined || !Number.isFinite(number)) throw new Error(t('notATimestampAndNotA'));
    seconds += unit * number;
  }
  return new Date(Date.parse(now) - seconds * 1000).toISOString().replace(/\.\d+Z$/, 'Z');
}

/** Key and value of a definition. */
function definition(inner: string): [string, string] | undefined {
  const match = /^\s*([\p{L}\p{N}_-]+)\s*=([\s\S]*)$/u.exec(inner);
  return match ? [match[1] ?? '', match[2] ?? ''] : undefined;
}

interface Piece {
  before: string;
  /** Where `before` begins. */
  start: number;
  /** Where the shortcut's braces begin. */
  position: number;
  inner?: string;
}

/** Cuts a text at its outermost pairs of double braces. */
export function* pieces(text: string): Generator<Piece> {
  let done = 0;
  while (done < text.length) {
    const open = text.indexOf('{{', done);
    let close = -1;
    for (let at = open + 2, depth = 1; open >= 0 && at < text.length - 1; at += 1) {
      const pair = text.slice(at, at + 2);
      if (pair === '{{') {
        depth += 1;
        at += 1;
      } else if (pair === '}}') {
        depth -= 1;
        if (depth === 0) {
          // A rule of a style may end where its shortcut does: `{ color: red }}}`.
          const inner = text.slice(open + 2, at);
          close = text[at + 2] === '}' && inner.split('{').length > inner.split('}').length ? at + 1 : at;
          break;
        }
        at += 1;
      }
    }
    if (close < 0) {
      yield { before: text.slice(done), start: done, position: text.length };
      return;
    }
    yield { before: text.slice(done, open), start: done, position: open, inner: text.slice(open + 2, close) };
    done = close + 2;
  }
}

function origin(steps: Out['steps'], at: number): number {
  let low = 0;
  for (let i = 0; i < steps.length && (steps[i]?.at ?? Infinity) <= at; i += 1) low = i;
  const step = steps[low];
  if (!step) return at;
  return step.plain ? step.from + (at - step.at) : step.from;
}

// Asks a server recorded queries, in JSON and in GeoJSON, gives the JSON to osmtogeojson, and compares the features.
//
//     npm ci && node compare.mjs http://127.0.0.1:8080 queries.jsonl.gz...
//
// --every N asks only every Nth query; --package osmtogeojson-2 compares with the version before; --show N prints the
// first N differences. Fails where fewer than 99.5 % of the features are equal.
import fs from 'node:fs'
import { parseArgs } from 'node:util'
import zlib from 'node:zlib'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    every: { type: 'string', default: '1' },
    package: { type: 'string', default: 'osmtogeojson' },
    show: { type: 'string', default: '0' },
    largest: { type: 'string', default: '30000000' }
  }
})
const [server, ...files] = positionals
const { default: osmtogeojson } = await import(values.package)

/** A query that asks for JSON, whatever it asked for; null where that cannot be said in one place. */
function inJson (query) {
  if (/^\s*</.test(query) || /\[(diff|adiff)/.test(query)) return null
  const settings = /^\s*(\[[^\]]*\]\s*)*/
  if (/\[out:\s*(csv\s*\([^)]*\)[^\]]*|\w+)\s*\]/.test(query)) return query.replace(/\[out:\s*(csv\s*\([^)]*\)[^\]]*|\w+)\s*\]/, '[out:json]')
  return /^\s*\[/.test(query) && settings.exec(query) ? '[out:json]' + query.trimStart() : '[out:json];' + query
}

async function ask (query, accept) {
  const answer = await fetch(`${server}/api/interpreter`, {
    method: 'POST',
    body: new URLSearchParams({ data: query }),
    headers: accept ? { Accept: accept } : {}
  })
  return { status: answer.status, text: await answer.text() }
}

const sorted = value => Array.isArray(value)
  ? value.map(sorted)
  : value && typeof value === 'object'
    ? Object.fromEntries(Object.keys(value).sort().map(key => [key, sorted(value[key])]))
    : value
/** A polygon's ring, which may begin anywhere, from its least position on. */
function turned (ring) {
  const positions = ring.slice(0, -1).map(String)
  const least = positions.indexOf(positions.reduce((a, b) => a < b ? a : b))
  return [...ring.slice(least, -1), ...ring.slice(0, least), ring[least]]
}

/** A geometry whose rings, holes and polygons come in one order. */
function ordered (geometry) {
  const text = value => JSON.stringify(value)
  const inOrder = all => all.sort((a, b) => text(a) < text(b) ? -1 : 1)
  const polygon = rings => { const [outer, ...holes] = rings.map(turned); return [outer, ...inOrder(holes)] }
  if (geometry?.type === 'Polygon') return { ...geometry, coordinates: polygon(geometry.coordinates) }
  if (geometry?.type === 'MultiPolygon') return { ...geometry, coordinates: inOrder(geometry.coordinates.map(polygon)) }
  return geometry
}

const canonical = feature => JSON.stringify(sorted(feature?.geometry ? { ...feature, geometry: ordered(feature.geometry) } : feature))

/** What differs in two lists of features: those of the one and those of the other that have no equal. */
function difference (ours, theirs) {
  const left = new Map()
  for (const feature of theirs) {
    const text = canonical(feature)
    left.set(text, (left.get(text) ?? 0) + 1)
  }
  const alone = []
  for (const feature of ours) {
    const text = canonical(feature)
    const count = left.get(text) ?? 0
    if (count > 0) left.set(text, count - 1)
    else alone.push(feature)
  }
  const missing = [...left].flatMap(([text, count]) => Array(count).fill(text)).map(text => JSON.parse(text))
  return { alone, missing }
}

/** In which respect a feature differs from the other one of its id. */
function respect (feature, others) {
  const other = others.find(other => other.id === feature.id)
  if (!other) return 'no such feature'
  const parts = ['tags', 'relations', 'meta', 'tainted', 'geometry']
  const differing = parts.filter(part => canonical(feature.properties[part]) !== canonical(other.properties[part]))
  if (canonical(feature.geometry) !== canonical(other.geometry)) differing.push('coordinates')
  return differing.join(' and ') || 'once more'
}

const total = { queries: 0, skipped: 0, refused: 0, made: 0, features: 0, theirs: 0, equal: 0, differing: 0 }
const respects = {}
let shown = 0
for (const file of files) {
  const lines = zlib.gunzipSync(fs.readFileSync(file)).toString().split('\n').filter(Boolean)
  for (const [at, line] of lines.entries()) {
    if (at % Number(values.every) !== 0) continue
    const { id, query: recorded, status } = JSON.parse(line)
    const query = status === 'ok' ? inJson(recorded) : null
    const json = query && await ask(query)
    if (!json || json.status !== 200 || json.text.length > Number(values.largest) || json.text.includes('"remark":')) {
      total.skipped++
      continue
    }
    let theirs
    try {
      theirs = osmtogeojson(JSON.parse(json.text), { flatProperties: false }).features
    } catch {
      // It wants ids, which `out noids` leaves out.
      total.refused++
      continue
    }
    const geojson = await ask(recorded, 'application/geo+json')
    if (geojson.status !== 200) throw new Error(`${id}: status ${geojson.status}: ${geojson.text}`)
    const all = JSON.parse(geojson.text).features
    const ours = all.filter(feature => /^(node|way|relation)$/.test(feature.properties.type))
    // What queries make osmtogeojson leaves out.
    total.made += all.length - ours.length
    const { alone, missing } = difference(ours, theirs)
    total.queries++
    total.features += ours.length
    total.theirs += theirs.length
    total.equal += ours.length - alone.length
    if (alone.length + missing.length === 0) continue
    total.differing++
    for (const feature of alone) count(`ours: ${respect(feature, missing)}`)
    for (const feature of missing) count(`theirs: ${respect(feature, alone)}`)
    if (shown++ < Number(values.show)) {
      console.log(`${id}: ${query}`)
      for (const feature of alone.slice(0, 2)) console.log(`  ours    ${canonical(feature).slice(0, 600)}`)
      for (const feature of missing.slice(0, 2)) console.log(`  theirs  ${canonical(feature).slice(0, 600)}`)
    }
  }
}

function count (what) {
  respects[what] = (respects[what] ?? 0) + 1
}

const rate = total.equal / Math.max(total.features, total.theirs, 1)
console.log(JSON.stringify(total), `${(100 * rate).toFixed(3)} % equal`)
for (const [what, count] of Object.entries(respects).sort((a, b) => b[1] - a[1])) console.log(`  ${count}  ${what}`)

// What the Node clients show of a query that is stopped: a row of docs/guides/clients.md for each.
import { overpassJson } from 'overpass-ts'
import query from 'query-overpass'

const endpoint = process.argv[2] + '/api/interpreter'
const endless = 'foreach{nwr[name];'.repeat(9) + '}'.repeat(9)
const early = '[out:json][timeout:1];node[amenity=cafe];out;' + endless
const late = '[out:json][timeout:5];way[building];out meta geom 4000;' + endless

const clients = {
  'overpass-ts': text => overpassJson(text, { endpoint }),
  'query-overpass': text => new Promise((resolve, reject) =>
    query(text, (error, found) => error ? reject(error) : resolve(found), { overpassUrl: endpoint })),
  fetch: async text => {
    const answer = await fetch(endpoint, { method: 'POST', body: text })
    if (!answer.ok) throw new Error(`status ${answer.status}`)
    return answer.json()
  }
}

async function shown (ask, text) {
  try {
    return 'an answer: ' + JSON.stringify(await ask(text)).slice(0, 80)
  } catch (error) {
    const name = error.constructor === Object ? 'error' : error.constructor.name
    return `\`${name}\` (${String(error.statusCode ?? error.message).split('\n')[0].slice(0, 60)})`
  }
}

for (const [name, ask] of Object.entries(clients)) {
  console.log(`| ${name} | ${await shown(ask, early)} | ${await shown(ask, late)} |`)
}
process.exit(0)

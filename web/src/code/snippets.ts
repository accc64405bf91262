// Programs that repeat a query: the same text to the same server, or on the same snapshot.

import type { Language } from '../link';
import type { PlainKey } from '../text/lookup';
import { javascript, julia, python, r, shell } from './quote';

/** A query and where it runs. */
export interface Repeated {
  language: Language;
  /** As it is sent. */
  query: string;
  /** The address of the server, without a path. */
  origin: string;
  /** The file name of the snapshot, and its digest. */
  snapshot: string;
  digest: string;
  /** Whether the server requires a token. The token itself is not in the programs: they read `TERRAPIN_TOKEN`. */
  token: boolean;
}

export interface Snippet {
  id: string;
  title: string;
  /** The command that installs packages. */
  install?: string;
  /** Names of texts that say what else has to be there. */
  needs?: PlainKey[];
  file: string;
  text(repeated: Repeated): string;
  /** Whether the program can run such a query. */
  fits(repeated: Repeated): boolean;
}

/** The form of the answer, by the query's own words. */
export function formOf({ language, query }: Repeated): 'json' | 'text' | 'solutions' | 'ask' | 'triples' {
  if (language === 'overpassql') return /\[\s*out\s*:\s*json\s*\]/.test(query) ? 'json' : 'text';
  const words = query.replace(/<[^<>\s]*>|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'/g, ' ').replace(/#.*$/gm, ' ');
  const form = /(?<![:?$\w])(select|ask|construct|describe)\b(?!:)/i.exec(words)?.[1]?.toLowerCase();
  return form === 'ask' ? 'ask' : form === 'construct' || form === 'describe' ? 'triples' : 'solutions';
}

const ACCEPT = { json: '', text: '', solutions: 'application/sparql-results+json', ask: 'application/sparql-results+json', triples: 'text/turtle' };
const path = ({ language }: Repeated): string => (language === 'sparql' ? '/sparql' : '/api/interpreter');
const field = ({ language }: Repeated): string => (language === 'sparql' ? 'query' : 'data');
const isJson = (repeated: Repeated): boolean => ['json', 'solutions', 'ask'].includes(formOf(repeated));
const isSparql = ({ language }: Repeated): boolean => language === 'sparql';
const lines = (...all: (string | false)[]): string => `${all.filter((line) => line !== false).join('\n')}\n`;

/** Returns the program of a language that repeats a query. */
export const codeFor = (id: string, repeated: Repeated): string => SNIPPETS.find((snippet) => snippet.id === id)?.text(repeated) ?? '';

export const SNIPPETS: Snippet[] = [
  {
    id: 'python',
    title: 'Python',
    install: 'pip install terrapin-osm',
    needs: ['needsTheSnapshot'],
    file: 'query.py',
    fits: () => true,
    text: (all) =>
      lines(
        'from terrapin_osm import Snapshot',
        '',
        `query = ${python(all.query)}`,
        `snapshot = Snapshot.open(${python(all.snapshot)}, digest=${python(all.digest)})`,
        isSparql(all) ? 'answer = snapshot.sparql(query)' : 'answer = snapshot.overpass(query)',
        isSparql(all) ? `print(answer.bytes("${{ solutions: 'csv', ask: 'json', triples: 'ttl', json: '', text: '' }[formOf(all)]}").decode())` : 'print(answer.bytes.decode())',
      ),
  },
  {
    id: 'overpy',
    title: 'overpy',
    install: 'pip install overpy',
    file: 'query.py',
    // overpy reads JSON and XML, and sends no headers of its own.
    fits: (all) => !isSparql(all) && !all.token && !/\[\s*out\s*:\s*(csv|custom|popup)/.test(all.query),
    text: (all) =>
      lines(
        'import overpy',
        '',
        `query = ${python(all.query)}`,
        `api = overpy.Overpass(url=${python(all.origin + path(all))})`,
        'answer = api.query(query)',
        'print(len(answer.nodes), "nodes,", len(answer.ways), "ways,", len(answer.relations), "relations")',
        'for element in [*answer.nodes, *answer.ways, *answer.relations]:',
        '    print(type(element).__name__, element.id, element.tags)',
      ),
  },
  {
    id: 'sparqlwrapper',
    title: 'SPARQLWrapper',
    install: 'pip install SPARQLWrapper',
    file: 'query.py',
    fits: isSparql,
    text: (all) => {
      const triples = formOf(all) === 'triples';
      return lines(
        all.token && 'import os',
        `from SPARQLWrapper import ${triples ? 'POST, TURTLE' : 'JSON, POST'}, SPARQLWrapper`,
        '',
        `query = ${python(all.query)}`,
        `endpoint = SPARQLWrapper(${python(all.origin + path(all))})`,
        all.token && 'endpoint.addCustomHttpHeader("Authorization", "Bearer " + os.environ["TERRAPIN_TOKEN"])',
        'endpoint.setMethod(POST)',
        `endpoint.setReturnFormat(${triples ? 'TURTLE' : 'JSON'})`,
        'endpoint.setQuery(query)',
        triples ? 'print(endpoint.queryAndConvert().decode())' : 'answer = endpoint.queryAndConvert()',
        !triples && 'if "boolean" in answer:',
        !triples && '    print(answer["boolean"])',
        !triples && 'else:',
        !triples && '    for row in answer["results"]["bindings"]:',
        !triples && '        print({name: term["value"] for name, term in row.items()})',
      );
    },
  },
  {
    id: 'r',
    title: 'R',
    install: 'install.packages(c("httr2", "jsonlite"))',
    needs: ['needsR'],
    file: 'query.R',
    fits: () => true,
    text: (all) => {
      const accept = ACCEPT[formOf(all)];
      const headers = [accept && `Accept = "${accept}"`, all.token && 'Authorization = paste("Bearer", Sys.getenv("TERRAPIN_TOKEN"))'].filter(Boolean);
      return lines(
        'library(httr2)',
        '',
        `query <- ${r(all.query)}`,
        `answer <- request(${r(all.origin + path(all))}) |>`,
        headers.length > 0 && `  req_headers(${headers.join(', ')}) |>`,
        // An argument `data` is not free in older versions of httr2.
        isSparql(all) ? '  req_body_form(query = query) |>' : '  req_body_raw(paste0("data=", curl::curl_escape(query)), "application/x-www-form-urlencoded") |>',
        `  req_perform()`,
        isJson(all) ? 'result <- jsonlite::fromJSON(resp_body_string(answer))' : 'cat(resp_body_string(answer))',
        isJson(all) && (isSparql(all) ? 'print(if (is.null(result$boolean)) result$results$bindings else result$boolean)' : 'print(result$elements)'),
      );
    },
  },
  {
    id: 'javascript',
    title: 'JavaScript',
    needs: ['needsABrowser'],
    file: 'query.mjs',
    fits: () => true,
    text: (all) => {
      const accept = ACCEPT[formOf(all)];
      const headers = [accept && `Accept: '${accept}'`, all.token && 'Authorization: `Bearer ${process.env.TERRAPIN_TOKEN}`'].filter(Boolean);
      return lines(
        `const query = ${javascript(all.query)};`,
        `const answer = await fetch(${javascript(all.origin + path(all))}, {`,
        `  method: 'POST',`,
        `  body: new URLSearchParams({ ${field(all)}: query }),`,
        headers.length > 0 && `  headers: { ${headers.join(', ')} },`,
        '});',
        'if (!answer.ok) throw new Error(await answer.text());',
        isJson(all) ? 'const result = await answer.json();' : 'console.log(await answer.text());',
        isJson(all) && (isSparql(all) ? 'console.log(result.boolean ?? result.results.bindings);' : 'console.log(result.elements);'),
      );
    },
  },
  {
    id: 'julia',
    title: 'Julia',
    install: 'using Pkg; Pkg.add("HTTP")',
    file: 'query.jl',
    fits: () => true,
    text: (all) => {
      const accept = ACCEPT[formOf(all)];
      const headers = [accept && `"Accept" => "${accept}"`, all.token && '"Authorization" => "Bearer " * ENV["TERRAPIN_TOKEN"]'].filter(Boolean);
      return lines('using HTTP', '', `query = ${julia(all.query)}`, `answer = HTTP.post(${julia(all.origin + path(all))}, [${headers.join(', ')}], Dict("${field(all)}" => query))`, 'println(String(answer.body))');
    },
  },
  {
    id: 'curl',
    title: 'cURL',
    needs: ['needsAShell'],
    file: 'query.sh',
    fits: () => true,
    text: (all) => {
      const accept = ACCEPT[formOf(all)];
      return `curl -sS ${shell(all.origin + path(all))}${accept && ` -H 'Accept: ${accept}'`}${all.token ? ' -H "Authorization: Bearer $TERRAPIN_TOKEN"' : ''} --data-urlencode ${shell(`${field(all)}=${all.query}`)}\n`;
    },
  },
  {
    id: 'terrapin',
    title: 'terrapin',
    needs: ['needsTerrapin', 'needsTheSnapshot'],
    file: 'query.sh',
    fits: () => true,
    text: (all) => `terrapin query --lang ${all.language} -- ${shell(all.snapshot)} ${shell(all.query)}\n`,
  },
];

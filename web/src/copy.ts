// Lines for a shell and for Python that ask the same again.

import type { Language } from './link';

const shell = (text: string): string => `'${text.replace(/'/g, `'\\''`)}'`;

export function curl(language: Language, query: string, origin: string): string {
  return language === 'sparql'
    ? `curl -sS ${origin}/sparql -H 'Accept: application/sparql-results+json' --data-urlencode ${shell(`query=${query}`)}`
    : `curl -sS ${origin}/api/interpreter --data-urlencode ${shell(`data=${query}`)}`;
}

export function python(language: Language, query: string, origin: string): string {
  const text = /'''|'$/.test(query) || query.includes('\\') ? JSON.stringify(query) : `'''${query}'''`;
  return language === 'sparql'
    ? `import requests\nanswer = requests.post(${JSON.stringify(`${origin}/sparql`)}, data={"query": ${text}}, headers={"Accept": "application/sparql-results+json"}).json()\n`
    : `import requests\nanswer = requests.post(${JSON.stringify(`${origin}/api/interpreter`)}, data={"data": ${text}})\n`;
}

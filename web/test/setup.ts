// What modules need of a browser at their beginning, for tests that run in Node, and the texts in English.

import { en } from '../src/text/en';
import { useCatalogue } from '../src/text/lookup';

const store = () => {
  const kept = new Map<string, string>();
  return { getItem: (name: string) => kept.get(name) ?? null, setItem: (name: string, value: string) => void kept.set(name, value), removeItem: (name: string) => void kept.delete(name), clear: () => kept.clear() };
};

Object.assign(globalThis, { location: new URL('http://localhost/'), sessionStorage: store(), localStorage: store() });
useCatalogue({ tag: 'en', texts: en });

// What services say when they refuse.

import { t } from './text/lookup';

/** What a refusal says, out of the shapes that services give it. */
export function wording(text: string, type: string, status: number): string {
  if (type.includes('json')) {
    try {
      const said = JSON.parse(text);
      const found = said.error?.message ?? said.error ?? said.message;
      if (typeof found === 'string') return found;
    } catch {
      // As text.
    }
  }
  if (type.includes('html')) {
    const lines = [...text.matchAll(/<p>(?:<strong[^>]*>Error<\/strong>: )?([\s\S]*?)<\/p>/g)].map((match) => plain(match[1] ?? ''));
    const errors = lines.filter((line) => line && !line.startsWith('The data included'));
    if (errors.length) return errors.join('\n');
  }
  return text.trim().slice(0, 2000) || t('theServerAnswered', { status });
}

const ENTITIES = new Map([['lt', '<'], ['gt', '>'], ['amp', '&'], ['quot', '"'], ['apos', "'"]]);

/** Text of markup. */
export function plain(markup: string): string {
  return markup
    .replace(/<[^>]*>/g, '')
    .replace(/&(?:#(\d+)|#x([0-9a-f]+)|(\w+));/gi, (whole, decimal, hex, name) =>
      decimal ? String.fromCodePoint(+decimal) : hex ? String.fromCodePoint(parseInt(hex, 16)) : (ENTITIES.get(name) ?? whole),
    )
    .trim();
}

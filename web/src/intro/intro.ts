// What the page is and what data it has, as long as there is no answer.

import './intro.css';
import { h } from '../dom';
import type { Example } from '../examples';
import { siteName } from '../identity/identity';
import { sourceName, type Snapshot } from '../service';
import { dateText, listText } from '../text/formats';
import { t } from '../text/lookup';

/** Examples that are offered. */
const OFFERED = 3;

/** Returns the sentence about the page and the loaded data, with some examples to run. */
export function intro(snapshot: Snapshot, examples: Example[], take: (example: Example) => void): HTMLElement {
  const { counts, triples, data_time } = snapshot;
  const elements = counts.nodes + counts.ways + counts.relations;
  const names = snapshot.sources.map(({ name }) => sourceName(name));
  const date = dateText(new Date(data_time), 'long');
  const parts = [elements > 0 && t('elementsOfOpenStreetMap', { n: elements }), triples !== null && t('statementsOfWikidata', { n: triples })].filter((part) => part !== false);
  const content = parts.length ? listText(parts) : t('nothing');
  return h(
    'section',
    { class: 'intro', 'aria-label': t('aboutThisPage') },
    h('p', {}, t('introWhat', { name: siteName() })),
    h('p', {}, t('introData', { names: names.join(', ') || t('aSnapshot'), content, date })),
    h('div', { class: 'intro-examples', role: 'group', 'aria-label': t('someExamples') }, examples.slice(0, OFFERED).map((example) => h('button', { type: 'button', class: 'button small', onclick: () => take(example) }, example.title))),
  );
}

// The answer as files.

import type { Answers } from '../answer/client';
import type { Saved, Summary } from '../answer/model';
import { h, popover, rows, save } from '../dom';
import { attributionText } from '../identity/identity';
import { t, type PlainKey } from '../text/lookup';

/** The sources of the data, in files. */
const COPYRIGHT = 'OpenStreetMap contributors, ODbL 1.0; Wikidata, CC0';

/** What formats are called in every language. */
const NAMES: Partial<Record<Saved, string>> = { geojson: 'GeoJSON', gpx: 'GPX', kml: 'KML', csv: 'CSV', parquet: 'GeoParquet', json: 'JSON' };

const FORMATS: [as: Saved, note: PlainKey][] = [
  ['geojson', 'whatIsOnTheMapWith'],
  ['gpx', 'forReceivers'],
  ['kml', 'forGlobes'],
  ['csv', 'theTable'],
  ['parquet', 'theTableWithGeometries'],
  ['json', 'allRows'],
  ['raw', 'byteForByte'],
];

/** Whether an answer has anything for a format. */
function fits(as: Saved, { kind, geometries: { point, line, polygon } }: Summary): boolean {
  if (as === 'raw') return true;
  if (kind === 'text') return false;
  return ['geojson', 'gpx', 'kml'].includes(as) ? point + line + polygon > 0 : true;
}

export function exportShelf(button: HTMLElement, answers: Answers, shown: () => (Summary & { isFiltered: boolean }) | null, failed: (problem: string) => void, more: (close: () => void) => HTMLElement[] = () => []): void {
  const panel = h('div', { class: 'shelf narrow', role: 'dialog', 'aria-label': t('export') });
  for (const [as, note] of FORMATS) {
    const item = h('button', { type: 'button', class: 'item', 'data-format': as }, h('span', {}, NAMES[as] ?? t('asItCame')), h('span', { class: 'count' }, t(note)));
    item.addEventListener('click', async () => {
      panel.hidePopover();
      try {
        const { url, name } = await answers.ask({ do: 'save', as, copyright: attributionText(COPYRIGHT) });
        save(url, name);
      } catch (problem) {
        failed((problem as Error).message);
      }
    });
    panel.append(item);
  }
  panel.append(...more(() => panel.hidePopover()));
  const note = h('p', { class: 'muted pad', hidden: true }, '');
  panel.prepend(note);
  panel.addEventListener('beforetoggle', () => {
    const summary = shown();
    note.hidden = !(summary?.part || summary?.isFiltered) || summary.kind === 'text';
    note.textContent = summary?.isFiltered ? t('theseFilesHaveTheThatPass', { rows: rows(summary.rows) }) : t('theseFilesHaveTheRowsThat');
    for (const item of panel.querySelectorAll<HTMLButtonElement>('[data-format]')) item.disabled = !summary || !fits(item.dataset.format as Saved, summary);
  });
  popover(button, panel);
}

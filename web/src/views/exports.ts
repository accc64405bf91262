// The answer as files.

import type { Answers } from '../answer/client';
import type { Saved, Summary } from '../answer/model';
import { h, popover, save } from '../dom';

const FORMATS: [Saved, string, string][] = [
  ['geojson', 'GeoJSON', 'what is on the map, with tags'],
  ['gpx', 'GPX', 'for receivers'],
  ['kml', 'KML', 'for globes'],
  ['csv', 'CSV', 'the table'],
  ['parquet', 'GeoParquet', 'the table with geometries'],
  ['json', 'JSON', 'all rows'],
  ['raw', 'As it came', 'byte for byte'],
];

/** Whether an answer has anything for a format. */
function fits(as: Saved, { kind, geometries: { point, line, polygon } }: Summary): boolean {
  if (as === 'raw') return true;
  if (kind === 'text') return false;
  return ['geojson', 'gpx', 'kml'].includes(as) ? point + line + polygon > 0 : true;
}

export function exportShelf(button: HTMLElement, answers: Answers, shown: () => Summary | null, failed: (problem: string) => void): void {
  const panel = h('div', { class: 'shelf narrow', role: 'dialog', 'aria-label': 'Export' });
  for (const [as, label, note] of FORMATS) {
    const item = h('button', { type: 'button', class: 'item', 'data-format': as }, h('span', {}, label), h('span', { class: 'count' }, note));
    item.addEventListener('click', async () => {
      panel.hidePopover();
      try {
        const { url, name } = await answers.ask({ do: 'save', as });
        save(url, name);
        setTimeout(() => URL.revokeObjectURL(url), 60_000);
      } catch (problem) {
        failed((problem as Error).message);
      }
    });
    panel.append(item);
  }
  const note = h('p', { class: 'muted pad', hidden: true }, 'These files have the rows that are shown, the first of the answer.');
  panel.prepend(note);
  panel.addEventListener('beforetoggle', () => {
    const summary = shown();
    note.hidden = !summary?.part || summary.kind === 'text';
    for (const item of panel.querySelectorAll<HTMLButtonElement>('[data-format]')) item.disabled = !summary || !fits(item.dataset.format as Saved, summary);
  });
  popover(button, panel);
}

// The answer as files.

import type { Answers } from '../answer/client';
import type { Saved } from '../answer/model';
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

export function exportShelf(button: HTMLElement, answers: Answers, failed: (problem: string) => void): void {
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
  popover(button, panel);
}

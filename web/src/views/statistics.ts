// The numbers of an answer: rows, times, cost on the server.

import type { Summary } from '../answer/model';
import { count, duration, h, size } from '../dom';
import { costOf } from '../service';

export function statistics(summary: Summary): HTMLElement {
  const entry = (name: string | Node, ...values: (string | Node)[]) => (values.some((value) => value !== '') ? [h('dt', {}, name), h('dd', {}, ...values)] : []);
  /** A name with the colour of its part of the bar. */
  const keyed = (part: string, name: string) => h('span', {}, h('span', { class: `key ${part}`, 'aria-hidden': 'true' }), name);
  const list = (counts: Record<string, number>) =>
    Object.entries(counts).filter(([, n]) => n > 0).sort(([, a], [, b]) => b - a).map(([name, n]) => `${count(n)} ${name}${n === 1 ? '' : 's'}`).join(', ');
  const bar = h('div', { class: 'bar', role: 'img', 'aria-label': `${duration(summary.first)} until the first byte, ${duration(summary.total - summary.first)} of transfer, ${duration(summary.reading)} of reading` });
  const all = summary.total + summary.reading;
  for (const [part, ms] of [['first', summary.first], ['transfer', summary.total - summary.first], ['reading', summary.reading]] as const) {
    const piece = h('span', { class: part });
    piece.style.width = `${(100 * ms) / all}%`;
    bar.append(piece);
  }
  const times = entry(keyed('first', 'First byte'), duration(summary.first));
  void costOf(summary.request).then((told) => {
    if (told) times[0]?.before(...entry('On the server', duration(told.milliseconds)), ...entry('Work', `${count(told.work)} units`), ...entry('Memory', `${size(told.memory)} at most`));
  });
  return h(
    'div',
    { class: 'statistics', tabindex: '0', role: 'region', 'aria-label': 'Statistics' },
    bar,
    h(
      'dl',
      {},
      ...entry('Rows', count(summary.rows)),
      ...entry('Of which', list(summary.types)),
      ...entry('On the map', list(summary.geometries)),
      ...entry('Without a place', summary.unplaced && summary.kind === 'elements' ? count(summary.unplaced) : ''),
      ...times,
      ...entry(keyed('transfer', 'Last byte'), duration(summary.total)),
      ...entry(keyed('reading', 'Read and drawn'), duration(summary.reading)),
      ...entry('Size', size(summary.bytes)),
      ...entry('Type', summary.contentType),
      ...entry('Status', String(summary.status)),
      ...entry('Remark', summary.remark),
      ...entry('Snapshot', h('code', {}, summary.digest)),
      ...entry('Request', h('code', {}, summary.request)),
    ),
  );
}

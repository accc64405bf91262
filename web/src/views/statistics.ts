// The numbers of an answer: rows, times, cost on the server.

import type { Summary } from '../answer/model';
import { count, duration, h, size } from '../dom';
import { costOf } from '../service';
import { t } from '../text/lookup';

/** Texts for numbers of elements and geometries. */
const COUNTED = { node: 'nNodes', way: 'nWays', relation: 'nRelations', area: 'nAreas', point: 'nPoints', line: 'nLinesOnMap', polygon: 'nPolygons' } as const;

export function statistics(summary: Summary): HTMLElement {
  const entry = (name: string | Node, ...values: (string | Node)[]) => (values.some((value) => value !== '') ? [h('dt', {}, name), h('dd', {}, ...values)] : []);
  /** A name with the colour of its part of the bar. */
  const keyed = (part: string, name: string) => h('span', {}, h('span', { class: `key ${part}`, 'aria-hidden': 'true' }), name);
  const list = (counts: Record<string, number>) =>
    Object.entries(counts).filter(([, n]) => n > 0).sort(([, a], [, b]) => b - a).map(([name, n]) => (name in COUNTED ? t(COUNTED[name as keyof typeof COUNTED], { n }) : `${count(n)} ${name}`)).join(', ');
  const bar = h('div', { class: 'bar', role: 'img', 'aria-label': t('untilTheFirstByteOf', { first: duration(summary.first), transfer: duration(summary.total - summary.first), reading: duration(summary.reading) }) });
  const all = summary.total + summary.reading;
  for (const [part, ms] of [['first', summary.first], ['transfer', summary.total - summary.first], ['reading', summary.reading]] as const) {
    const piece = h('span', { class: part });
    piece.style.width = `${(100 * ms) / all}%`;
    bar.append(piece);
  }
  const times = entry(keyed('first', t('firstByte')), duration(summary.first));
  void costOf(summary.request).then((told) => {
    if (told) times[0]?.before(...entry(t('onTheServer'), duration(told.milliseconds)), ...entry(t('work'), t('nUnits', { n: told.work })), ...entry(t('memory'), t('atMost', { size: size(told.memory) })));
  });
  return h(
    'div',
    { class: 'statistics', tabindex: '0', role: 'region', 'aria-label': t('statistics') },
    bar,
    h(
      'dl',
      {},
      ...entry(t('rows'), count(summary.rows)),
      ...entry(t('ofWhich'), list(summary.types)),
      ...entry(t('onTheMap'), list(summary.geometries)),
      ...entry(t('withoutAPlace'), summary.unplaced && summary.kind === 'elements' ? count(summary.unplaced) : ''),
      ...times,
      ...entry(keyed('transfer', t('lastByte')), duration(summary.total)),
      ...entry(keyed('reading', t('readAndDrawn')), duration(summary.reading)),
      ...entry(t('size'), size(summary.bytes)),
      ...entry(t('type'), summary.contentType),
      ...entry(t('status'), String(summary.status)),
      ...entry(t('remark'), summary.remark),
      ...entry(t('snapshot'), h('code', {}, summary.digest)),
      ...entry(t('request'), h('code', {}, summary.request)),
    ),
  );
}

// What opens beside the buttons of the page for annotators: the progress with its export, and the disagreements.

import { count, h, popover, save } from '../dom';
import { headers, json, message, Refused } from '../service';
import { numberText } from '../text/formats';
import { t, type PlainKey } from '../text/lookup';
import type { Annotation, Summary, Verdict } from './desk';

/** Fills a panel each time it opens. */
function filled(panel: HTMLElement, content: () => Promise<HTMLElement[]>): void {
  panel.addEventListener('beforetoggle', (event) => {
    if ((event as ToggleEvent).newState !== 'open') return;
    panel.replaceChildren(h('p', { class: 'muted pad' }, t('loading')));
    content()
      .catch((problem: Error) => [h('p', { class: 'pad' }, problem.message)])
      .then((parts) => {
        panel.replaceChildren(...parts);
        // The panel is the last part of the page, far from its button for keyboards.
        if (panel.matches(':popover-open')) panel.focus();
      });
  });
}

async function lines(path: string): Promise<string> {
  const answer = await fetch(path, { headers: headers() });
  if (!answer.ok) throw new Refused(answer.status, await message(answer));
  return answer.text();
}

const VERDICTS: Record<Verdict, PlainKey> = { agree: 'verdictAgreed', correct: 'verdictCorrected', reject: 'verdictRejected' };

type Status = keyof Summary['status'];

/** What entries are called by their status. */
const STATUSES: Record<Status, PlainKey> = { open: 'entryOpen', answered: 'entryAnswered', corrected: 'corrected', rejected: 'rejected', agreed: 'agreed' };

/** The counts, the agreement, each annotator's work, and the export. */
export function progressShelf(button: HTMLElement): void {
  const panel = h('div', { class: 'shelf', role: 'dialog', 'aria-label': t('progress'), tabindex: '-1' });
  filled(panel, async () => {
    const summary = await json<Summary>('/annotations/summary');
    const pairs: [string, string][] = [
      [t('entries'), count(summary.entries)],
      ...(Object.keys(STATUSES) as Status[]).map((status): [string, string] => [t(STATUSES[status]), count(summary.status[status])]),
      [t('rightAsWritten'), t('nOfTotal', { n: summary.as_written, total: summary.validated }) + (summary.share_as_written === undefined ? '' : ` (${numberText(summary.share_as_written, 'percent')})`)],
      ...(summary.kappa === undefined ? [] : [["Fleiss' kappa", summary.kappa.toFixed(3)] as [string, string]]),
    ];
    const rows = Object.entries(summary.annotators).map(([name, work]) => h('tr', {}, h('th', { scope: 'row' }, name), [work.written, work.agreed, work.corrected, work.rejected, work.verdicts, work.skipped].map((number) => h('td', {}, count(number)))));
    const head = [t('annotator'), t('written'), t('agreed'), t('corrected'), t('rejected'), t('verdicts'), t('skipped')];
    const table = h('table', { class: 'annotate-table' }, h('thead', {}, h('tr', {}, head.map((name) => h('th', { scope: 'col' }, name)))), h('tbody', {}, rows));
    const exported = async () => {
      save(new Blob([await lines('/annotations')], { type: 'application/x-ndjson' }), 'annotations.jsonl');
    };
    return [
      h('h2', {}, t('progress')),
      h('dl', { class: 'pairs' }, pairs.flatMap(([name, value]) => [h('dt', {}, name), h('dd', {}, value)])),
      ...(rows.length ? [h('div', { class: 'annotate-scroll', role: 'region', 'aria-label': t('annotators'), tabindex: '0' }, table)] : []),
      h('button', { type: 'button', class: 'item', onclick: () => void exported().catch((problem: Error) => panel.append(h('p', { class: 'pad', role: 'alert' }, t('notExported', { why: problem.message })))) }, h('span', {}, t('exportAsJSONLines')), h('span', { class: 'count' }, 'annotations.jsonl')),
    ];
  });
  popover(button, panel);
}

/** The entries that people did not agree on; `open` is called with the id of one. */
export function disputeShelf(button: HTMLElement, open: (id: string) => void): void {
  const panel = h('div', { class: 'shelf', role: 'dialog', 'aria-label': t('disagreements'), tabindex: '-1' });
  filled(panel, async () => {
    const text = await lines('/annotations?disputed=true');
    const all = text.split('\n').filter(Boolean).map((line) => JSON.parse(line) as Annotation);
    if (!all.length) return [h('p', { class: 'muted pad' }, t('nobodyHasCorrectedOr'))];
    const round = ({ question, by, verdicts = [] }: NonNullable<Annotation['rounds']>[number]) => h('li', {}, h('q', {}, question), h('span', { class: 'muted' }, ` ${by}`), verdicts.map((given) => h('div', { class: 'muted' }, `${given.by}: ${t(VERDICTS[given.verdict])}${given.reason ? `: ${given.reason}` : ''}`)));
    const item = (one: Annotation) => {
      const settled = one.status === 'agreed';
      const go = settled ? null : h('button', { type: 'button', class: 'button small', onclick: () => (panel.hidePopover(), open(one.id)) }, t('open'));
      return h('section', { class: 'annotate-dispute' }, h('h3', {}, one.id, h('span', { class: 'muted' }, ` ${one.status in STATUSES ? t(STATUSES[one.status as Status]) : one.status}`), h('span', { class: 'grow' }), go), h('ol', {}, (one.rounds ?? []).map(round)));
    };
    return [h('h2', {}, t('entriesInDispute', { n: all.length })), ...all.map(item)];
  });
  popover(button, panel);
}

// The texts of the charts.

import type { Kind } from './kinds';
import { t } from '../text/lookup';

export const TEXTS = {
  get tab() { return t('chart'); },
  get region() { return t('chart'); },
  get kind() { return t('kindOfChart'); },
  get across() { return t('chartAcross'); },
  get up() { return t('chartUp'); },
  get names() { return t('names'); },
  get size() { return t('size'); },
  get colour() { return t('colour'); },
  get rows() { return t('numberOfRows'); },
  get nothing() { return t('oneColour'); },
  get others() { return t('othersInChart'); },
  get write() { return t('writeItIntoTheQuery'); },
  get written() { return t('theChartIsInTheQuery'); },
  get kinds(): Record<Kind, string> {
    return { bar: t('chartBars'), line: t('chartLines'), area: t('chartAreas'), scatter: t('chartScatter'), bubble: t('chartBubbles'), tree: t('chartTree'), treemap: t('chartTreeMap'), dimensions: t('chartDimensions') };
  },
  get empty() { return t('noRowHasAValue'); },
  get drawing() { return t('drawing'); },
  failed: (why: string) => t('theChartCouldNotBeDrawn', { why }),
  title: (kind: string, what: string) => `${kind}: ${what}`,
  by: (up: string, across: string) => t('chartBy', { up, across }),
  description: (marks: string) => t('chartDescription', { marks }),
  marks: (n: number, kind: Kind) => t(MARKS[kind], { n }),
  range: (name: string, low: string, high: string) => t('chartRange', { name, low, high }),
};

const MARKS = { bar: 'marksBars', line: 'marksPoints', area: 'marksPoints', scatter: 'marksPoints', bubble: 'marksBubbles', tree: 'marksNodes', treemap: 'marksAreas', dimensions: 'marksLines' } as const satisfies Record<Kind, string>;

// The chart of an answer: which one is drawn, of which columns. What draws is loaded with the first chart.

import './charts.css';
import type { Answers } from '../answer/client';
import type { ChartColumn, ChartData, ChartRow } from '../answer/columns';
import { announce, h, oncePerFrame } from '../dom';
import { pictureButtons } from '../pictures/buttons';
import { fitting, KINDS, NONE, optionsOf, rolesOf, ROWS, usable, withView, type Kind, type Roles, type ViewOptions } from './kinds';
import { uniqueLabels } from './labels';
import { labelLanguages } from '../text/languages';
import { TEXTS } from './texts';

/** What the view needs of the page. */
export interface ChartWiring {
  answers: Answers;
  picked: (index: number) => void;
  /** Puts another text into the editor; null for queries that have no comment for a view. */
  rewrite: ((change: (text: string) => string) => void) | null;
}

/** Parts of a chart that can be chosen, and the charts that have them. */
const CHOICES: { part: 'x' | 'y' | 'colour'; kinds: Kind[]; label: (kind: Kind) => string }[] = [
  { part: 'x', kinds: ['bar', 'line', 'area', 'scatter', 'bubble'], label: (kind) => (kind === 'bubble' ? TEXTS.names : TEXTS.across) },
  { part: 'y', kinds: ['bar', 'line', 'area', 'scatter', 'bubble', 'treemap'], label: (kind) => (kind === 'bubble' || kind === 'treemap' ? TEXTS.size : TEXTS.up) },
  { part: 'colour', kinds: ['bar', 'line', 'area', 'scatter', 'bubble'], label: () => TEXTS.colour },
];

/** Most items whose labels are looked up for a chart. */
const LABELS = 500;

export class ChartView {
  private readonly kindField = h('select', { class: 'field', 'aria-label': TEXTS.kind });
  private readonly fields = h('div', { class: 'chart-fields' });
  private readonly note = h('p', { class: 'muted chart-note' });
  private readonly host = h('div', { class: 'chart-host', tabindex: '0', role: 'region', 'aria-label': TEXTS.region });
  private readonly writeButton = h('button', { type: 'button', class: 'button quiet small', onclick: () => this.write() }, TEXTS.write);
  readonly element = h('div', { class: 'chart-view' }, h('div', { class: 'chart-tools' }, this.kindField, this.fields, this.note, h('span', { class: 'grow' }), this.writeButton, pictureButtons(() => this.host.querySelector<SVGSVGElement>('svg.chart'))), this.host);
  private columns: ChartColumn[] = [];
  private kinds: Kind[] = [];
  private kind: Kind = 'bar';
  private roles: Roles = { x: NONE, y: NONE, colour: NONE, levels: [] };
  private options: Partial<ViewOptions> = {};
  private data: ChartData | null = null;
  private labels = new Map<string, string>();
  private selected = -1;
  /** Counts changes, so that late data is not drawn for newer choices. */
  private turn = 0;

  constructor(private readonly wiring: ChartWiring) {
    new ResizeObserver(oncePerFrame(() => void this.draw())).observe(this.host);
    this.kindField.addEventListener('change', () => this.choose(this.kindField.value as Kind));
    this.host.addEventListener('click', (event) => {
      const index = Number((event.target as Element).closest('[data-index]')?.getAttribute('data-index') ?? -1);
      if (index >= 0) this.wiring.picked(index);
    });
    this.writeButton.hidden = true;
  }

  /** Takes the columns of an answer and the view that its query names. Returns whether there is a chart of it. */
  show(columns: ChartColumn[], isElements: boolean, options: ViewOptions, canWrite: boolean): boolean {
    this.clear();
    // Tags of elements are no series: their values are counted.
    this.kinds = fitting(columns).filter((kind) => !isElements || kind === 'bar' || kind === 'treemap' || kind === 'scatter' || kind === 'bubble');
    this.columns = columns;
    this.options = options;
    this.writeButton.hidden = !canWrite || this.wiring.rewrite === null;
    const named = (Object.keys(KINDS) as Kind[]).find((kind) => KINDS[kind].toLowerCase() === options.view);
    // A view that the query names is drawn if its columns allow it.
    if (named && !this.kinds.includes(named)) this.kinds.push(...([named].filter(() => usable(columns, options.hide).length > 0)));
    const [first] = this.kinds;
    if (!first) return false;
    this.kindField.replaceChildren(...this.kinds.map((kind) => h('option', { value: kind }, TEXTS.kinds[kind])));
    this.kind = named && this.kinds.includes(named) ? named : first;
    this.kindField.value = this.kind;
    this.roles = rolesOf(this.kind, columns, options);
    if (isElements && !named) this.roles = { ...this.roles, ...countedRoles(columns) };
    this.fill();
    return true;
  }

  /** Whether a view of this name (in lower case) is a chart of the answer. */
  has(view: string): boolean {
    return this.kinds.some((kind) => KINDS[kind].toLowerCase() === view);
  }

  clear(): void {
    this.turn += 1;
    this.data = null;
    this.kinds = [];
    this.selected = -1;
    this.host.replaceChildren();
  }

  /** The rows are others, as a filter was set. */
  refresh(): void {
    this.turn += 1;
    this.data = null;
    if (this.host.checkVisibility()) void this.open();
  }

  /** Draws the chart when it is seen. */
  async open(): Promise<void> {
    if (this.data || !this.kinds.length) return;
    const turn = (this.turn += 1);
    this.note.textContent = TEXTS.drawing;
    const columns = this.drawn().filter((index) => index >= 0);
    const data = await this.wiring.answers.ask({ do: 'chart', columns, counted: this.roles.y === ROWS });
    const labels = await this.labelsOf(data, columns);
    if (turn !== this.turn) return;
    this.labels = labels;
    this.data = data;
    await this.draw();
  }

  mark(index: number): void {
    this.selected = index;
    for (const mark of this.host.querySelectorAll('.mark')) mark.classList.toggle('on', index >= 0 && mark.getAttribute('data-index') === String(index));
  }

  private choose(kind: Kind): void {
    this.kind = kind;
    this.roles = rolesOf(kind, this.columns, this.options);
    this.fill();
    this.data = null;
    void this.open();
  }

  /** Shows the choices of the chart. */
  private fill(): void {
    const columns = usable(this.columns, this.options.hide);
    this.fields.replaceChildren(
      ...CHOICES.filter(({ kinds }) => kinds.includes(this.kind)).map(({ part, label }) => {
        const fits = columns.filter(({ type }) => part === 'colour' ? type === 'text' || type === 'thing' : part === 'y' ? type === 'number' : this.kind === 'bar' || this.kind === 'bubble' || type === 'number' || type === 'date');
        const counted = part === 'y' && (this.kind === 'bar' || this.kind === 'treemap') ? [[ROWS, TEXTS.rows] as const] : [];
        const none = part === 'colour' ? [[NONE, TEXTS.nothing] as const] : [];
        const select = h('select', { class: 'field' }, ...[...none, ...counted, ...fits.map(({ index, name }) => [index, name] as const)].map(([index, name]) => h('option', { value: String(index) }, name)));
        select.value = String(this.roles[part]);
        select.addEventListener('change', () => {
          this.roles = { ...this.roles, [part]: Number(select.value) };
          this.data = null;
          void this.open();
        });
        return h('label', {}, h('span', {}, label(this.kind)), select);
      }),
    );
  }

  /** The columns whose values are drawn, in the order in which the drawing takes them. */
  private drawn(): number[] {
    const { x, y, colour, levels } = this.roles;
    if (this.kind === 'tree' || this.kind === 'dimensions') return levels;
    if (this.kind === 'treemap') return [...levels, y];
    // Groups have their number last.
    return y === ROWS ? [x, colour] : [x, y, colour];
  }

  private async draw(): Promise<void> {
    const { data, kind, turn } = this;
    const { clientWidth, clientHeight } = this.host;
    if (!data || clientWidth < 80 || clientHeight < 60) return;
    try {
      const { draw } = await import('./draw');
      if (turn !== this.turn) return;
      const { element, note } = draw({ kind, ...this.series(data), left: data.left }, { width: clientWidth, height: Math.max(180, clientHeight - 4) });
      this.host.replaceChildren(element ?? h('p', { class: 'muted pad' }, TEXTS.empty));
      this.note.textContent = note;
      this.mark(this.selected);
    } catch (problem) {
      this.note.textContent = TEXTS.failed((problem as Error).message);
    }
  }

  /** Rows with labels in place of items, and the number of rows in its place. */
  private series(data: ChartData): { columns: (ChartColumn | undefined)[]; rows: ChartRow[] } {
    const columns = this.drawn().filter((index) => index !== ROWS).map((index) => this.columns[index]);
    const read = columns.filter((column) => column !== undefined);
    const labelled = (row: ChartRow): ChartRow => ({ ...row, values: row.values.map((value, i) => (read[i]?.type === 'thing' && typeof value === 'string' ? (this.labels.get(value) ?? value) : value)) });
    let rows = data.rows.map(labelled);
    if (this.roles.y !== ROWS) return { columns, rows };
    const counted: ChartColumn = { index: ROWS, name: TEXTS.rows, type: 'number', filled: data.rows.length, distinct: 2 };
    if (this.kind === 'treemap') return { columns: [...columns, counted], rows };
    rows = rows.map((row) => ({ ...row, values: [row.values[0] ?? null, row.values.at(-1) ?? null, ...(read[1] ? [row.values[1] ?? null] : [])] }));
    return { columns: [columns[0], counted, columns[1]], rows };
  }

  private async labelsOf(data: ChartData, indexes: number[]): Promise<Map<string, string>> {
    const ids = new Set<string>();
    indexes.forEach((index, place) => {
      if (this.columns[index]?.type === 'thing') for (const { values } of data.rows) if (/^[QPL]\d+$/.test(String(values[place]))) ids.add(String(values[place]));
    });
    if (!ids.size) return new Map();
    return uniqueLabels(await this.wiring.answers.ask({ do: 'labels', ids: [...ids].slice(0, LABELS), languages: labelLanguages() }).catch(() => []));
  }

  private write(): void {
    const options = optionsOf(this.kind, this.roles, this.columns, this.options.hide ?? []);
    this.wiring.rewrite?.((text) => withView(text, KINDS[this.kind], options));
    announce(TEXTS.written);
  }
}

/** Of elements: the tag with the most rows whose values repeat, and the number of rows of each. */
function countedRoles(columns: ChartColumn[]): Partial<Roles> {
  const tags = usable(columns).filter(({ type, distinct, filled }) => type !== 'number' && distinct > 1 && distinct <= filled / 2);
  const x = tags[0]?.index;
  return x === undefined ? {} : { x, y: ROWS, colour: NONE, levels: [x] };
}

// Style without code: colours and sizes by a column, a heat map, points as one or each. What is chosen is drawn at once, and can be
// written into the query.

import './style.css';
import type { Answers } from '../answer/client';
import type { Layer, Summary } from '../answer/model';
import type { Profile } from '../answer/profile';
import { PLAIN, TOGETHER, type Look } from '../answer/look';
import { announce, h, icon, popover } from '../dom';
import type { Language } from '../link';
import type { AnswerMap } from '../map/map';
import { isRtl, t } from '../text/lookup';
import { legend } from '../views/legend';
import { PALETTES, paletteNamed } from './palettes';
import { pasted } from './paste';
import { ELEMENTS, ROWS, UNSTYLED, isPlain, kindOf, mapcss, type Styling } from './styling';
import { commentOf, firstLook, lookOf, styleOfComment, withStyle } from './written';

/** Points that are drawn apart when they get colours. */
const APART = 20_000;

/** The colours of an answer on the map, and the scale of its heat map. */
type Drawn = Pick<Summary, 'layers' | 'heat'>;

/** What the panel needs of the page. */
export interface PanelWiring {
  answers: Answers;
  map: () => AnswerMap | null;
  /** Where the legend is. */
  legend: HTMLElement;
  /** Puts another text into the editor if the query there is the one that was run. */
  rewrite: (change: (text: string) => string) => void;
  failed: (problem: string) => void;
}

const ICON = 'M8 2a6 6 0 1 0 0 12c1.2 0 1.6-.8 1.3-1.7-.4-1.2.2-2.1 1.5-2.1H12a2 2 0 0 0 2-2C14 4.6 11.4 2 8 2ZM5 8.2v.1M6.4 5v.1M10 5v.1';
/** Columns that are no values of what a row is about. */
const NO_VALUES = /^(id|@id|@lat|@lon|@type)$|^(lat|lon|lng|long|latitude|longitude|wkt|geometry|coord(inate)?s?)$/i;

export class StylePanel {
  readonly button = h('button', { type: 'button', class: 'button only-icon style-button', title: t('style'), 'aria-label': t('style'), hidden: true }, icon(ICON));
  private styling = UNSTYLED;
  /** The query's own style, which is drawn while nothing is chosen. */
  private own = lookOf('');
  /** The look in which the answer is drawn, and what it shows. */
  private drawn = PLAIN;
  private drawing: Promise<Drawn> | null = null;
  private pasted = '';
  private language: Language = 'overpassql';
  private summary: Summary | null = null;
  /** Whether the map shows a heat map or a pasted style. */
  private isSpecial = false;
  private profiles = new Map<string, Profile | null>();
  /** Counts changes, so that a late one does not replace a newer one. */
  private turn = 0;
  private readonly panel = h('div', { class: 'shelf style-panel', role: 'dialog', 'aria-label': t('style') });
  private readonly colour = this.select(t('colourBy'), true);
  private readonly palette = this.select(t('palette'));
  private readonly named = h('input', { type: 'checkbox' });
  private readonly size = this.select(t('sizeBy'));
  private readonly heat = h('input', { type: 'checkbox' });
  private readonly cluster = h('input', { type: 'checkbox' });
  private readonly swatches = h('div', { class: 'swatches', 'aria-hidden': 'true' });
  private readonly paste = h('textarea', { class: 'field area code', rows: '4', spellcheck: 'false', 'aria-label': t('aStyleOfMapLibreAsJSON'), placeholder: '{"layers": [{"type": "circle", "paint": {"circle-color": "#0072b2"}}]}' });
  private readonly problem = h('p', { class: 'style-problem', role: 'alert' });

  constructor(private readonly wiring: PanelWiring) {
    const check = (box: HTMLInputElement, text: string) => h('label', { class: 'check' }, box, text);
    const field = (label: string, select: HTMLElement, ...more: HTMLElement[]) => h('label', { class: 'style-field' }, h('span', {}, label), select, ...more);
    this.panel.append(
      h('h2', {}, t('style')),
      field(t('colourBy'), this.colour),
      h('div', { class: 'named', hidden: true }, check(this.named, t('aColourForEachNumber'))),
      field(t('palette'), this.palette),
      this.swatches,
      field(t('sizeBy'), this.size),
      check(this.heat, t('heatMap')),
      check(this.cluster, t('closePointsAsOne')),
      h('details', {}, h('summary', {}, t('aStyleOfMapLibre')), this.paste, this.problem, h('button', { type: 'button', class: 'button small', onclick: () => this.takePasted() }, t('drawIt'))),
      h('div', { class: 'style-actions' }, h('button', { type: 'button', class: 'button primary', onclick: () => this.write() }, t('writeItIntoTheQuery')), h('button', { type: 'button', class: 'button', onclick: () => this.reset() }, t('reset'))),
    );
    this.panel.addEventListener('input', (event) => {
      if (event.target === this.paste) return;
      this.pasted = '';
      this.styling = this.chosen(event.target);
      void this.draw();
    });
    popover(this.button, this.panel);
    this.panel.addEventListener('beforetoggle', (event) => (event as ToggleEvent).newState === 'open' && this.fill());
  }

  /** Takes an answer: the style of its query, or else what was chosen before if its columns are there. */
  answered(summary: Summary, language: Language, text: string, style: string): void {
    this.summary = summary;
    this.language = language;
    this.profiles.clear();
    this.button.hidden = summary.box === null;
    this.own = lookOf(style);
    this.drawn = firstLook(language, text, style);
    this.drawing = Promise.resolve(summary);
    let inQuery: Styling | null = null;
    try {
      inQuery = language === 'sparql' ? styleOfComment(text) : null;
    } catch (problem) {
      this.wiring.failed((problem as Error).message);
    }
    const columns = this.columns();
    const isThere = (column: string) => !column || columns.includes(column);
    if (inQuery) this.styling = inQuery;
    else if (style || !isThere(this.styling.colour) || !isThere(this.styling.size)) this.styling = UNSTYLED;
    if (style || inQuery) this.pasted = '';
    const missing = [this.styling.colour, this.styling.size].find((column) => !isThere(column));
    if (missing) this.wiring.failed(t('theStyleNamesNoColumn', { column: missing }));
    if (!this.isPlain || this.own.heat || this.own.json) void this.draw();
    else if (this.isSpecial) {
      this.isSpecial = false;
      this.wiring.map()?.redraw({ heat: null, layers: null });
    }
    this.fill();
  }

  private get isPlain(): boolean {
    return isPlain(this.styling) && !this.pasted;
  }

  /** Whether close points are drawn as one by default. */
  private get isCrowded(): boolean {
    const { point = 0, polygon = 0 } = this.summary?.geometries ?? {};
    return point + polygon > TOGETHER;
  }

  private columns(): string[] {
    const { columns = [], others = [] } = this.summary ?? {};
    return [...columns, ...others].filter((column) => !NO_VALUES.test(column));
  }

  private select(label: string, autofocus = false): HTMLSelectElement {
    return h('select', { class: 'field', 'aria-label': label, autofocus });
  }

  private async profile(column: string): Promise<Profile | null> {
    if (!column) return null;
    if (!this.profiles.has(column)) this.profiles.set(column, await this.wiring.answers.ask({ do: 'profile', column }));
    return this.profiles.get(column) ?? null;
  }

  /** Reads the fields. */
  private chosen(changed: EventTarget | null): Styling {
    // Points drawn as one have no colour of their own.
    const isApart = changed === this.colour && this.colour.value !== '' && this.isCrowded && (this.summary?.rows ?? 0) <= APART;
    const cluster = changed === this.cluster ? this.cluster.checked : (this.styling.cluster ?? (isApart ? false : null));
    return { colour: this.colour.value, isNamed: this.named.checked, palette: changed === this.colour || changed === this.heat ? '' : this.palette.value, size: this.size.value, heat: this.heat.checked, cluster };
  }

  /** Shows in the fields what is chosen. */
  private fill(): void {
    const { styling } = this;
    const columns = this.columns();
    const options = (select: HTMLSelectElement, all: [string, string][], value: string) => {
      select.replaceChildren(...all.map(([id, title]) => h('option', { value: id }, title)));
      select.value = value;
    };
    options(this.colour, [['', t('oneColour')], ...columns.map((column): [string, string] => [column, column])], styling.colour);
    options(this.size, [['', t('oneSize')], ...columns.map((column): [string, string] => [column, column])], styling.size);
    this.heat.checked = styling.heat || (this.isPlain && this.own.heat !== null);
    this.cluster.checked = styling.cluster ?? (this.own.look.cluster ?? this.isCrowded);
    this.named.checked = styling.isNamed;
    const values = this.profiles.get(styling.colour) ?? null;
    (this.named.closest('.named') as HTMLElement).hidden = !values?.quantiles || styling.heat;
    const kind = styling.heat ? 'steps' : kindOf(values, styling.isNamed);
    const palette = paletteNamed(styling.palette, kind);
    options(this.palette, PALETTES.filter((one) => one.kind === kind).map(({ id, title }) => [id, title]), palette.id);
    this.palette.disabled = !styling.colour && !styling.heat;
    this.swatches.replaceChildren(...(this.palette.disabled ? [] : palette.colours.map((colour) => {
      const swatch = h('span');
      swatch.style.background = colour;
      return swatch;
    })));
  }

  /** Draws what is chosen, or else the query's own style. */
  private async draw(): Promise<void> {
    const turn = (this.turn += 1);
    const { styling } = this;
    const json = this.pasted || (isPlain(styling) ? this.own.json : '');
    let look: Look = this.own.look;
    let heat = this.own.heat;
    let layers: ReturnType<typeof pasted>['layers'] | null = null;
    try {
      if (json) {
        const own = pasted(json);
        layers = own.layers;
        look = { ...PLAIN, cluster: styling.cluster ?? false, keys: own.keys };
        heat = null;
      } else if (!isPlain(styling)) {
        ({ look, heat } = lookOf(await this.css()));
      }
      this.say('');
    } catch (problem) {
      return this.say((problem as Error).message);
    }
    const drawn = await this.restyle(look);
    if (turn !== this.turn) return;
    const map = this.wiring.map();
    if (map) map.refused = (problem) => this.say(`MapLibre: ${problem}`);
    this.isSpecial = heat !== null || layers !== null;
    map?.redraw({ heat: heat === null ? null : { colours: paletteNamed(heat, 'steps').colours, scale: drawn.heat ?? [] }, layers });
    this.showLegend(layers || heat !== null ? [] : drawn.layers);
    if (heat !== null && !layers) this.wiring.legend.replaceChildren(heatLegend(paletteNamed(heat, 'steps').colours, look.heat ?? ''));
    this.fill();
  }

  /** Has the answer drawn in a look, unless it is already. */
  private restyle(look: Look): Promise<Drawn> {
    if (!this.drawing || JSON.stringify(look) !== JSON.stringify(this.drawn)) {
      this.drawn = look;
      this.drawing = this.wiring.answers.ask({ do: 'restyle', look });
    }
    return this.drawing;
  }

  private async css(): Promise<string> {
    const { colour, size, heat } = this.styling;
    const types = this.summary?.kind === 'elements' ? ELEMENTS : ROWS;
    // A heat map has its own colours, whatever the values are.
    if (heat) return mapcss(this.styling, null, null, types);
    const [colours, sizes] = [await this.profile(colour), await this.profile(size)];
    if (size && sizes && !sizes.quantiles) this.say(t('hasNoNumbersAllHaveOne', { column: size }));
    return mapcss(this.styling, colours, sizes, types);
  }

  private showLegend(layers: Layer[]): void {
    this.wiring.legend.replaceChildren(legend(layers));
    if (layers.length) announce(t('coloursOnTheMap', { n: layers.length }));
  }

  private say(problem: string): void {
    this.problem.textContent = problem;
    if (problem && !this.panel.matches(':popover-open')) this.wiring.failed(problem);
  }

  private takePasted(): void {
    this.pasted = this.paste.value;
    this.styling = { ...UNSTYLED, cluster: this.styling.cluster };
    void this.draw();
  }

  private reset(): void {
    this.styling = UNSTYLED;
    this.pasted = '';
    void this.draw();
  }

  private async write(): Promise<void> {
    const { language, styling } = this;
    // Braces of JSON on lines of their own are no shortcuts.
    const json = this.pasted && JSON.stringify(JSON.parse(this.pasted), null, 1);
    const style = language === 'sparql' ? (isPlain(styling) ? '' : commentOf(styling)) : json || (await this.css());
    if (language === 'sparql' && json) return this.say(t('aStyleOfMapLibreCanBe'));
    this.panel.hidePopover();
    this.wiring.rewrite((text) => withStyle(text, language, style));
    announce(t('theStyleIsInTheQuery'));
  }
}

/** The colours of a heat map from few to many; `weight` is the column that counts. */
function heatLegend(colours: string[], weight: string): HTMLElement {
  const bar = h('div', { class: 'heat-bar', 'aria-hidden': 'true', 'data-colours': colours.join(',') });
  bar.style.background = `linear-gradient(to ${isRtl() ? 'left' : 'right'}, ${colours.join(', ')})`;
  return h('ul', { class: 'legend', 'aria-label': t('heatMap'), tabindex: '0' }, h('li', { class: 'legend-key' }, weight || t('rows')), h('li', {}, t('few'), bar, t('many')));
}

// What the rows of an answer link, as a drawing, and beside it as a list for keys and screen readers: of a node that is selected
// what it is linked with.

import type { Answers } from '../answer/client';
import type { Graph, Link } from '../answer/model';
import { announce, h, oncePerFrame } from '../dom';
import { listText } from '../text/formats';
import { t } from '../text/lookup';
import type { Network } from './network';

export class GraphView {
  readonly element = h('div', { class: 'graph-view' });
  private drawn: { graph: Graph; network: Network; degrees: number[]; places: Map<string, number> } | null = null;
  private readonly selected = h('section', { class: 'graph-selected', 'aria-label': t('selectedNode'), hidden: true });
  private readonly list = h('ul', { class: 'graph-list', 'aria-label': t('nodes') });
  private readonly drawing = h('div', { class: 'graph-drawing' });
  /** The nodes of a row that was selected before the graph was drawn. */
  private wanted: string[] = [];
  private turn = 0;

  constructor(private readonly answers: Answers, private readonly picked: (row: number) => void, private readonly opened: (href: string) => void) {
    new ResizeObserver(oncePerFrame(() => this.drawn?.network.fit())).observe(this.drawing);
    this.list.addEventListener('keydown', (event) => this.key(event));
  }

  /** Another answer: what was drawn is gone. */
  clear(): void {
    this.turn += 1;
    this.drawn = null;
    this.wanted = [];
    this.element.replaceChildren();
  }

  /** Draws it, where that is not done yet. */
  async open(): Promise<void> {
    if (this.drawn || this.element.firstChild) return;
    this.element.replaceChildren(h('p', { class: 'muted pad', role: 'status' }, t('drawing')));
    const { turn } = this;
    try {
      const [{ Network }, graph] = await Promise.all([import('./network'), this.answers.ask({ do: 'graph' })]);
      if (turn === this.turn) this.draw(graph, Network);
    } catch (problem) {
      if (turn === this.turn) this.element.replaceChildren(h('p', { class: 'muted pad', role: 'status' }, (problem as Error).message));
    }
  }

  private draw(graph: Graph, Drawing: typeof Network): void {
    const degrees = graph.nodes.map(() => 0);
    for (const { from, to } of graph.links) for (const end of [from, to]) degrees[end] = (degrees[end] ?? 0) + 1;
    const network = new Drawing(graph, degrees, { picked: (node) => this.pick(node), opened: (node) => this.leave(node) });
    network.element.setAttribute('aria-label', `${this.told(graph)}. ${t('theListBesideItHasThe')}`);
    this.drawn = { graph, network, degrees, places: new Map(graph.nodes.map(({ id }, i) => [id, i])) };
    this.build();
    network.fit();
    this.mark(this.wanted);
    announce(this.told(graph));
  }

  /** Marks the nodes of what was selected elsewhere. */
  mark(ids: string[]): void {
    this.wanted = ids;
    const { drawn } = this;
    if (!drawn) return;
    const nodes = ids.flatMap((id) => drawn.places.get(id) ?? []);
    drawn.network.mark(new Set(nodes));
    const [first] = nodes;
    this.tell(first);
  }

  private build(): void {
    const { drawn } = this;
    if (!drawn) return;
    const { graph, network, degrees } = drawn;
    const order = graph.nodes.map((_, i) => i).sort((a, b) => (degrees[b] ?? 0) - (degrees[a] ?? 0) || a - b);
    this.list.replaceChildren(
      ...order.map((i, place) => {
        const node = graph.nodes[i];
        return h('li', {}, h('button', { type: 'button', class: 'item', title: node?.label, 'data-node': i, tabindex: place ? '-1' : '0', onclick: () => this.pick(i) }, h('span', {}, h('span', { class: `dot column-${(node?.column ?? 0) % 6}`, 'aria-hidden': 'true' }), node?.label ?? ''), h('span', { class: 'count' }, links(degrees[i] ?? 0))));
      }),
    );
    const control = (sign: string, name: string, act: () => void) => h('button', { type: 'button', class: 'button only-icon', title: name, 'aria-label': name, onclick: act }, sign);
    this.drawing.replaceChildren(network.element, h('div', { class: 'graph-controls' }, control('+', t('nearer'), () => network.scale(1.4)), control('−', t('farther'), () => network.scale(1 / 1.4)), control('□', t('allOfIt'), () => network.fit())));
    const columns = [...new Set(graph.nodes.map((node) => node.column))].sort((a, b) => a - b);
    this.element.replaceChildren(
      this.drawing,
      h(
        'div',
        { class: 'graph-side' },
        h('p', { class: 'muted' }, this.told(graph)),
        columns.length > 1 ? h('p', { class: 'graph-legend muted' }, ...columns.map((column) => h('span', {}, h('span', { class: `dot column-${column % 6}`, 'aria-hidden': 'true' }), graph.columns[column]))) : null,
        this.selected,
        this.list,
      ),
    );
  }

  /** How much there is, and how much of it is not drawn. */
  private told({ nodes, links: drawnLinks, more }: Graph): string {
    const all = t('nodesAndLinks', { n: nodes.length, links: links(drawnLinks.length) });
    const left = [more.nodes ? t('moreNodes', { n: more.nodes }) : '', more.links ? t('moreLinks', { n: more.links }) : ''].filter(Boolean);
    return left.length ? t('areNotDrawnTheTableHas', { all, left: listText(left) }) : all;
  }

  private pick(place: number): void {
    const node = this.drawn?.graph.nodes[place];
    if (!node) return;
    // What is told of it must not wait for its row, which is marked with all that is in it.
    this.picked(node.row);
    this.mark([node.id]);
    announce(`${node.label}, ${links(this.drawn?.degrees[place] ?? 0)}`);
  }

  private leave(place: number): void {
    const id = this.drawn?.graph.nodes[place]?.id;
    if (id?.startsWith('/')) this.opened(id);
  }

  /** Says what a node is linked with. */
  private tell(place: number | undefined): void {
    const node = place === undefined ? undefined : this.drawn?.graph.nodes[place];
    this.selected.hidden = !node;
    for (const button of this.list.querySelectorAll('button')) button.toggleAttribute('aria-current', node !== undefined && button.dataset.node === String(place));
    if (!node || place === undefined || !this.drawn) return;
    const { graph } = this.drawn;
    const other = (link: Link, out: boolean) => {
      const at = out ? link.to : link.from;
      return h('li', {}, h('span', { class: 'muted' }, out ? `${link.label} → ` : `← ${link.label} `), h('button', { type: 'button', class: 'link', onclick: () => this.pick(at) }, graph.nodes[at]?.label ?? ''));
    };
    const own = graph.links.flatMap((link) => (link.from === place ? [other(link, true)] : link.to === place ? [other(link, false)] : []));
    const here = node.id.startsWith('/');
    const title = here ? h('a', { href: node.id, 'data-view': '' }, node.label) : /^https?:/.test(node.id) ? h('a', { href: node.id, target: '_blank', rel: 'noopener noreferrer' }, node.label) : node.label;
    this.selected.replaceChildren(h('h2', {}, title, node.label === node.name ? null : h('span', { class: 'note' }, node.name)), h('ul', {}, ...own));
  }

  /** One of the list is reached by Tab, the others from it by arrows. */
  private key(event: KeyboardEvent): void {
    const buttons = [...this.list.querySelectorAll('button')];
    const at = buttons.indexOf(document.activeElement as HTMLButtonElement);
    const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: buttons.length - 1 }[event.key];
    const button = next === undefined ? undefined : buttons[next];
    if (!button || at < 0) return;
    event.preventDefault();
    buttons[at]?.setAttribute('tabindex', '-1');
    button.setAttribute('tabindex', '0');
    button.focus();
  }
}

const links = (number: number): string => t('nLinks', { n: number });

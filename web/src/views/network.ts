// The drawing of a graph: nodes and links where the layout has put them, to be moved, and looked at from near and far. A file of
// its own, as what moves it is loaded when there is a graph to be seen.

import { drag } from 'd3-drag';
import { select } from 'd3-selection';
import { zoom, zoomIdentity, type D3ZoomEvent, type ZoomTransform } from 'd3-zoom';
import type { Graph, Link, Node } from '../answer/model';
import { svg } from '../dom';

const RADIUS = 7;
/** From the middle of a node, which is larger from far, to the head of an arrow. */
const GAP = 12;
/** With more links than that their labels are beside the drawing alone. */
const LABELLED_LINKS = 60;
/** More than that are drawn faintly. */
const DENSE = 150;
/** A label on the screen: pixels of a line of it, and of a letter of it on an average. */
const LINE = 14;
const LETTER = 6.2;
const LONGEST = 30;

export interface Wiring {
  /** A node was clicked. */
  picked(node: number): void;
  /** A node was clicked twice. */
  opened(node: number): void;
}

export class Network {
  readonly element = svg('svg', { role: 'img', class: 'network' });
  private readonly view = svg('g', {});
  private readonly dots: SVGGElement[];
  /** Above all dots. */
  private readonly labels: SVGGElement[];
  private readonly lines: { line: SVGLineElement; text: SVGTextElement | null }[];
  /** Nodes, those with the most links first. */
  private readonly order: number[];
  private seen: ZoomTransform = zoomIdentity;
  private waiting = 0;
  private readonly zoom = zoom<SVGSVGElement, unknown>().scaleExtent([0.1, 6]).clickDistance(4);

  constructor(private readonly graph: Graph, degrees: number[], wiring: Wiring) {
    const few = graph.links.length <= LABELLED_LINKS;
    this.order = graph.nodes.map((_, i) => i).sort((a, b) => (degrees[b] ?? 0) - (degrees[a] ?? 0) || a - b);
    this.lines = graph.links.map((link) => ({ line: svg('line', { 'marker-end': 'url(#graph-arrow)' }), text: few && link.label ? svg('text', { class: 'link-label' }, shortened(link.label)) : null }));
    this.dots = graph.nodes.map((node) => {
      const title = svg('title', {}, node.label === node.name ? node.label : `${node.label} (${node.name})`);
      return svg('g', { class: `node column-${node.column % 6}`, 'data-id': node.id }, title, svg('circle', { r: RADIUS }));
    });
    this.labels = graph.nodes.map((node) => svg('g', { class: 'label' }, svg('text', { x: RADIUS + 4, y: 4 }, shortened(node.label))));
    const arrow = svg('marker', { id: 'graph-arrow', viewBox: '0 0 8 8', refX: 7, refY: 4, markerWidth: 10, markerHeight: 10, markerUnits: 'userSpaceOnUse', orient: 'auto' }, svg('path', { d: 'M0 0.5 8 4 0 7.5Z' }));
    this.view.append(...this.lines.map(({ line }) => line), ...this.lines.flatMap(({ text }) => text ?? []), ...this.dots, ...this.labels);
    this.element.append(svg('defs', {}, arrow), this.view);
    this.element.classList.toggle('dense', graph.links.length > DENSE);
    this.zoom.on('zoom', ({ transform }: D3ZoomEvent<SVGSVGElement, unknown>) => {
      this.view.setAttribute('transform', transform.toString());
      // Texts are as large from far as from near, dots somewhat smaller.
      this.view.style.setProperty('--text', String(1 / transform.k));
      this.view.style.setProperty('--dot', String(1 / Math.sqrt(transform.k)));
      this.element.classList.toggle('far', transform.k < 0.8);
      this.seen = transform;
      if (!this.waiting) this.waiting = requestAnimationFrame(() => this.thin());
    });
    select(this.element).call(this.zoom).on('dblclick.zoom', null);
    const moved = drag<SVGGElement, Node>()
      .clickDistance(4)
      .container(() => this.view)
      .on('drag', ({ x, y, subject }: { x: number; y: number; subject: Node }) => {
        Object.assign(subject, { x, y });
        this.place(subject);
        if (!this.waiting) this.waiting = requestAnimationFrame(() => this.thin());
      });
    select(this.view).selectAll<SVGGElement, Node>('.node').data(graph.nodes).call(moved);
    this.dots.forEach((dot, i) => {
      dot.addEventListener('click', () => wiring.picked(i));
      for (const [name, on] of [['pointerenter', true], ['pointerleave', false]] as const) dot.addEventListener(name, () => this.labels[i]?.classList.toggle('seen', on));
      dot.addEventListener('dblclick', () => wiring.opened(i));
    });
    graph.nodes.forEach((node) => this.place(node));
  }

  /** Shows all of it. */
  fit(): void {
    const { clientWidth: width, clientHeight: height } = this.element;
    if (!width || !height) return;
    const xs = this.graph.nodes.map(({ x }) => x);
    const ys = this.graph.nodes.map(({ y }) => y);
    const [west, east, north, south] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
    // Labels stand to the right of their nodes.
    const [left, right, edge] = [20, Math.min(130, width / 3), 18];
    const scale = Math.min(1.4, (width - left - right) / Math.max(1, east - west), (height - 2 * edge) / Math.max(1, south - north));
    const shift = zoomIdentity.translate((width + left - right) / 2 - (scale * (west + east)) / 2, height / 2 - (scale * (north + south)) / 2).scale(scale);
    select(this.element).call(this.zoom.transform, shift);
  }

  scale(by: number): void {
    select(this.element).call(this.zoom.scaleBy, by);
  }

  /** Marks nodes, and the links of them. */
  mark(nodes: Set<number>): void {
    for (const all of [this.dots, this.labels]) all.forEach((one, i) => one.classList.toggle('on', nodes.has(i)));
    this.graph.links.forEach(({ from, to }, i) => this.lines[i]?.line.classList.toggle('on', nodes.has(from) || nodes.has(to)));
  }

  /** Hides labels that would lie on others; nodes with many links keep theirs. */
  private thin(): void {
    this.waiting = 0;
    const taken: [number, number, number][] = [];
    for (const i of this.order) {
      const node = this.graph.nodes[i];
      if (!node) continue;
      const [x, y] = this.seen.apply([node.x, node.y]);
      const width = LETTER * shortened(node.label).length + 2 * RADIUS;
      const free = taken.every(([left, top, wide]) => x + width < left || left + wide < x || Math.abs(top - y) >= LINE);
      if (free) taken.push([x, y, width]);
      this.labels[i]?.classList.toggle('bare', !free);
    }
    // Those of links are where these leave room.
    this.graph.links.forEach(({ from, to, label }, i) => {
      const { text } = this.lines[i] ?? {};
      const [a, b] = [this.graph.nodes[from], this.graph.nodes[to]];
      if (!text || !a || !b) return;
      const [x, y] = this.seen.apply([(a.x + b.x) / 2, (a.y + b.y) / 2]);
      const width = LETTER * shortened(label).length;
      const free = taken.every(([left, top, wide]) => x + width / 2 < left || left + wide < x - width / 2 || Math.abs(top - y) >= LINE);
      if (free) taken.push([x - width / 2, y, width]);
      text.classList.toggle('bare', !free);
    });
  }

  private place(node: Node): void {
    const at = this.graph.nodes.indexOf(node);
    for (const one of [this.dots[at], this.labels[at]]) one?.setAttribute('transform', `translate(${node.x},${node.y})`);
    this.graph.links.forEach((link, i) => (link.from === at || link.to === at) && this.draw(link, i));
  }

  /** From the border of a node to that of another. */
  private draw(link: Link, i: number): void {
    const [a, b] = [this.graph.nodes[link.from], this.graph.nodes[link.to]];
    if (!a || !b) return;
    const length = Math.hypot(b.x - a.x, b.y - a.y) || 1;
    const [dx, dy] = [(b.x - a.x) / length, (b.y - a.y) / length];
    const { line, text } = this.lines[i] ?? {};
    for (const [name, value] of Object.entries({ x1: a.x + RADIUS * dx, y1: a.y + RADIUS * dy, x2: b.x - GAP * dx, y2: b.y - GAP * dy })) line?.setAttribute(name, value.toFixed(1));
    text?.setAttribute('x', ((a.x + b.x) / 2).toFixed(1));
    text?.setAttribute('y', ((a.y + b.y) / 2 - 3).toFixed(1));
  }
}

const shortened = (text: string): string => (text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text);

// Where the nodes of a graph stand: by forces, until they hardly move. A file of its own, as what computes them is asked for
// seldom. The same graph is laid out the same way every time.

import { forceCollide, forceLink, forceManyBody, forceSimulation, forceX, forceY } from 'd3-force';
import type { Graph } from './model';

const STEPS = 300;

export function layOut({ nodes, links }: Graph): void {
  const places: { x?: number; y?: number }[] = nodes.map(() => ({}));
  const simulation = forceSimulation(places)
    .force('links', forceLink(links.map(({ from, to }) => ({ source: from, target: to }))).distance(84))
    .force('apart', forceManyBody().strength(-260).distanceMax(700))
    .force('room', forceCollide(17))
    .force('x', forceX(0).strength(0.045))
    .force('y', forceY(0).strength(0.07))
    .stop();
  simulation.tick(STEPS);
  places.forEach(({ x = 0, y = 0 }, i) => {
    const node = nodes[i];
    if (node) [node.x, node.y] = [Math.round(10 * x) / 10, Math.round(10 * y) / 10];
  });
}

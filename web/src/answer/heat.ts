// The scale of a heat map: the densest place of an answer has the last colour, at every zoom.

import type { Position } from 'geojson';

/** Zooms and radii of a point in pixels, with straight lines between. */
export const RADII: [zoom: number, radius: number][] = [[0, 4], [8, 14], [15, 34]];

/** Zooms with a scale of their own. */
export const ZOOMS = [0, 2, 4, 6, 8, 10, 12, 14, 15];

const WORLD = 512;
/** Density of a cell by each point in it, by MapLibre's kernel; halved, so that places with half of the most have the last colour. */
const KERNEL = 0.3 / 2;

function radius(zoom: number): number {
  const at = RADII.findIndex(([from]) => from >= zoom);
  const [[a = 0, low = 4] = [], [b = 15, high = 34] = []] = [RADII[Math.max(0, at - 1)], RADII[Math.max(0, at)]];
  return a === b ? low : low + ((high - low) * (zoom - a)) / (b - a);
}

/** Returns the intensity for each of `ZOOMS` by the points with their weights. */
export function intensities(points: { at: Position; weight: number }[]): number[] {
  const flat = points.map(({ at: [lon = 0, lat = 0], weight }) => {
    const sine = Math.sin((Math.max(-85, Math.min(85, lat)) * Math.PI) / 180);
    return { x: lon / 360 + 0.5, y: 0.5 - Math.log((1 + sine) / (1 - sine)) / (4 * Math.PI), weight };
  });
  return ZOOMS.map((zoom) => {
    const cells = (WORLD * 2 ** zoom) / radius(zoom);
    const sums = new Map<number, number>();
    let most = 0;
    for (const { x, y, weight } of flat) {
      const cell = Math.floor(x * cells) * 2 ** 26 + Math.floor(y * cells);
      const sum = (sums.get(cell) ?? 0) + weight;
      sums.set(cell, sum);
      most = Math.max(most, sum);
    }
    return most > 0 ? 1 / (KERNEL * most) : 1;
  });
}

// What the map shows of the data before anything is asked.

import { overpass } from '../service';

/** The box in which most places are, without what lies far out, such as the ends of ferry lines; nothing without places. */
export async function settled(): Promise<[number, number, number, number] | null> {
  const { elements } = await overpass<{ lat: number; lon: number }>('[out:json][timeout:5];node[place][name];out skel 2000;').catch(() => ({ elements: [] }));
  if (elements.length < 5) return null;
  const range = (values: number[]): [number, number] => {
    const sorted = values.sort((a, b) => a - b);
    const at = (share: number) => sorted[Math.round(share * (sorted.length - 1))] ?? 0;
    const margin = 0.08 * (at(0.97) - at(0.03)) + 0.01;
    return [at(0.03) - margin, at(0.97) + margin];
  };
  const [south, north] = range(elements.map(({ lat }) => lat));
  const [west, east] = range(elements.map(({ lon }) => lon));
  return [south, west, north, east];
}

/** The box of the data as large as the map has room for. */
export function wholeView([south, west, north, east]: [number, number, number, number], element: HTMLElement): [number, number, number] {
  const mercator = (lat: number) => Math.log(Math.tan(Math.PI / 4 + (Math.max(-85, Math.min(85, lat)) * Math.PI) / 360));
  const width = Math.max(1e-6, (east - west) / 360);
  const height = Math.max(1e-6, (mercator(north) - mercator(south)) / (2 * Math.PI));
  const zoom = Math.min(Math.log2(Math.max(200, element.clientWidth - 40) / 512 / width), Math.log2(Math.max(200, element.clientHeight - 40) / 512 / height));
  return [(south + north) / 2, (west + east) / 2, Math.max(0, Math.min(15, zoom))];
}

// A copy of the map's canvas.

import type { Map as MapLibre } from 'maplibre-gl';

/** Copies the canvas of the map in the frame in which it was drawn: later it is empty. */
export function copied(map: MapLibre): HTMLCanvasElement {
  const drawn = map.getCanvas();
  const copy = document.createElement('canvas');
  [copy.width, copy.height] = [drawn.width, drawn.height];
  copy.getContext('2d')?.drawImage(drawn, 0, 0);
  return copy;
}

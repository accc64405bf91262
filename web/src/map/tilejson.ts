// The description of the server's tiles. It is fetched while the map's code is, so that the first tile waits for neither.

import { Refused, json } from '../service';

interface TileJson {
  tiles: string[];
  maxzoom?: number;
}

let about: Promise<TileJson | null> | undefined;

/** Returns the description of the tiles; null if the server has none. */
export function tileJson(): Promise<TileJson | null> {
  about ??= json<TileJson>('/tiles.json').catch((problem: Error) => {
    // With a token there may be tiles.
    if (problem instanceof Refused && problem.status === 401) about = undefined;
    return null;
  });
  return about;
}

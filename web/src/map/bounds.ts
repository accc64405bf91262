// The box of a map as queries take it: a map may show the world more than once, and past 180 degrees.

/** South, west, north, east in degrees. */
export type QueryBox = [number, number, number, number];

/** Longitude within -180 to 180. */
const wrapped = (degrees: number): number => ((((degrees + 180) % 360) + 360) % 360) - 180;

const rounded = (degrees: number): number => Math.round(degrees * 1e6) / 1e6;

/** Returns the box with latitudes clamped and longitudes wrapped; west is greater than east if it crosses 180 degrees. */
export function queryBox([south, west, north, east]: QueryBox): QueryBox {
  const [low, high] = [Math.max(-90, south), Math.min(90, north)].map(rounded) as [number, number];
  if (east - west >= 360) return [low, -180, high, 180];
  const [left, right] = [rounded(wrapped(west)), rounded(wrapped(east))];
  // The right edge of a box that ends at 180 degrees is not its left edge.
  return [low, left, high, right === -180 ? 180 : right];
}

/** Returns latitude and longitude of the middle of such a box. */
export function middleOf([south, west, north, east]: QueryBox): [number, number] {
  return [rounded((south + north) / 2), rounded(wrapped((west + (east < west ? east + 360 : east)) / 2))];
}

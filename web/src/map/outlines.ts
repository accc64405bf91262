// Maki's outlines, in a file of their own: they are fetched when the map first wants a symbol.

const FILES = import.meta.glob<string>('/node_modules/@mapbox/maki/icons/*.svg', { query: '?raw', import: 'default', eager: true });

/** The sides of the square that an outline is drawn in. */
export const SIDE = 15;

/** The outline of a symbol as SVG's `d`. */
export function outline(name: string): string | undefined {
  return / d="([^"]+)"/.exec(FILES[`/node_modules/@mapbox/maki/icons/${name}.svg`] ?? '')?.[1]?.replaceAll(/&#x[0-9A-Fa-f]+;/g, ' ');
}

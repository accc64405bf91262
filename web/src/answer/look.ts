// How an answer is drawn on the map.

export interface Look {
  /** MapCSS. */
  css: string;
  /** Whether points that are close together are drawn as one; `null` if only where there are many. */
  cluster: boolean | null;
  /** The tag whose numbers weigh on a heat map; empty if all count the same, `null` without a heat map. */
  heat: string | null;
  /** Tags that a pasted style reads; `null` without such a style. */
  keys: string[] | null;
}

export const PLAIN: Look = { css: '', cluster: null, heat: null, keys: null };

/** From more points on, those that are close are drawn as one by default. */
export const TOGETHER = 1500;

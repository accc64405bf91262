// The dashes that lines are drawn with, in widths of the line: the map takes them from a list, not from what it draws.

export const DASHES = [[1, 1], [2, 2], [4, 4], [8, 8], [1, 2], [1, 4], [2, 4], [4, 8], [2, 1], [4, 1], [4, 2], [8, 2], [8, 4], [0.5, 0.5]] as const;

// Lines along which a height over a grid is the same: marching squares, with the pieces joined.
import { finiteRange } from "./axis_range.js";

/** @typedef {{ heights: ArrayLike<number>, axis: number[] }} Grid heights row by row, over one axis in both directions */
/** @typedef {(number | null)[]} Numbers with a null between two lines */
/** @typedef {{ x: Numbers, y: Numbers }} Lines */

/**
 * Levels at round numbers, about so many between the least and the largest height.
 * @type {(heights: ArrayLike<number>, count: number) => number[]}
 */
export function roundLevels(heights, count) {
  const [low, high] = finiteRange([heights]) ?? [0, 0];
  const power = 10 ** Math.floor(Math.log10((high - low) / count));
  const step = [1, 2, 5, 10].map((by) => by * power).find((one) => (high - low) / one <= count);
  if (!step || !Number.isFinite(step)) return []; // it is flat
  const first = Math.floor(low / step) + 1; // nothing is below the least
  return Array.from({ length: Math.max(0, Math.floor(high / step) - first + 1) }, (_, i) => (first + i) * step);
}

/**
 * The lines of these levels, with the height at each of their points.
 * @type {(grid: Grid, levels: number[]) => Lines & { heights: Numbers }}
 */
export function levelLines(grid, levels) {
  /** @type {Lines & { heights: Numbers }} */
  const lines = { x: [], y: [], heights: [] };
  for (const level of levels) {
    for (const line of joined(crossings(grid, level))) {
      for (const edge of line) {
        const [x, y] = placeOn(grid, edge, level);
        lines.x.push(x);
        lines.y.push(y);
        lines.heights.push(level);
      }
      lines.x.push(null);
      lines.y.push(null);
      lines.heights.push(null);
    }
  }
  return lines;
}

/**
 * The edges of the grid that a level crosses, each with those that it is joined to: 2k is the edge to the right of
 * corner k, 2k + 1 the one above it.
 * @type {(grid: Grid, level: number) => Map<number, number[]>}
 */
function crossings({ heights, axis }, level) {
  const size = axis.length;
  /** @type {Map<number, number[]>} */
  const next = new Map();
  /** @type {(one: number, other: number) => void} */
  const join = (one, other) => {
    next.set(one, [...(next.get(one) ?? []), other]);
    next.set(other, [...(next.get(other) ?? []), one]);
  };
  for (let row = 0; row + 1 < size; row += 1) {
    for (let column = 0; column + 1 < size; column += 1) {
      const corner = row * size + column;
      const [a, b, c, d] = [0, 1, size + 1, size].map((by) => heights[corner + by] > level);
      if (a === b && b === c && c === d) continue;
      const [below, right, above, left] = [2 * corner, 2 * (corner + 1) + 1, 2 * (corner + size), 2 * corner + 1];
      const crossed = [a !== b && below, b !== c && right, c !== d && above, d !== a && left];
      const edges = crossed.filter((edge) => edge !== false);
      join(edges[0], edges[1]);
      if (edges.length === 4) join(edges[2], edges[3]); // a saddle
    }
  }
  return next;
}

/**
 * Edges one after the other along each line, from an end where it has one.
 * @param {Map<number, number[]>} next
 */
function joined(next) {
  const seen = new Set();
  const ends = [...next.keys()].filter((edge) => next.get(edge)?.length === 1);
  return [...ends, ...next.keys()].flatMap((start) => {
    if (seen.has(start)) return [];
    const line = [];
    for (let at = /** @type {number | undefined} */ (start); at !== undefined; ) {
      seen.add(at);
      line.push(at);
      at = next.get(at)?.find((edge) => !seen.has(edge));
    }
    const isRing = line.length > 2 && next.get(line[line.length - 1])?.includes(start);
    return [isRing ? [...line, start] : line];
  });
}

/** @type {(grid: Grid, edge: number, level: number) => number[]} Where on an edge the height is that of the level. */
function placeOn({ heights, axis }, edge, level) {
  const size = axis.length;
  const corner = Math.floor(edge / 2);
  const [row, column] = [Math.floor(corner / size), corner % size];
  const isUp = edge % 2 === 1;
  const [from, to] = [heights[corner], heights[corner + (isUp ? size : 1)]];
  const share = (level - from) / (to - from);
  const step = axis[1] - axis[0];
  return isUp ? [axis[column], axis[row] + share * step] : [axis[column] + share * step, axis[row]];
}

// Level lines of a height over a grid: where they run, and that each is one piece.
import assert from "node:assert/strict";
import test from "node:test";
import { levelLines, roundLevels } from "../../explorer/web/kit/level_lines.js";

const AXIS = Array.from({ length: 41 }, (_, i) => -1 + i / 20);
/** @param {(x: number, y: number) => number} height */
const gridOf = (height) => ({ axis: AXIS, heights: AXIS.flatMap((y) => AXIS.map((x) => height(x, y))) });
/** @param {ReturnType<typeof levelLines>} lines */
function pieces({ x, y }) {
  const found = [];
  let piece = [];
  for (const [i, one] of x.entries()) {
    if (one !== null) piece.push([one, y[i]]);
    else {
      found.push(piece);
      piece = [];
    }
  }
  return found;
}

test("a plane has a straight line from edge to edge", () => {
  const lines = levelLines(
    gridOf((x, y) => x - y),
    [0.3],
  );
  const [line, ...others] = pieces(lines);
  assert.equal(others.length, 0);
  for (const [x, y] of line) assert.ok(Math.abs(x - y - 0.3) < 1e-9);
  const ends = [line[0], line.at(-1)].map(([x, y]) => Math.max(Math.abs(x), Math.abs(y)));
  assert.ok(ends.every((end) => Math.abs(end - 1) < 1e-9));
  assert.ok(lines.heights.every((height) => height === null || height === 0.3));
});

test("a bowl has a closed ring", () => {
  const [ring, ...others] = pieces(
    levelLines(
      gridOf((x, y) => x * x + y * y),
      [0.25],
    ),
  );
  assert.equal(others.length, 0);
  assert.deepEqual(ring[0], ring.at(-1));
  for (const [x, y] of ring) assert.ok(Math.abs(Math.hypot(x, y) - 0.5) < 2e-3);
});

test("a saddle has two lines, and what is flat none", () => {
  const saddle = gridOf((x, y) => (x + 0.011) * (y - 0.013));
  assert.equal(pieces(levelLines(saddle, [0.1])).length, 2);
  const flat = gridOf(() => 3);
  assert.deepEqual(roundLevels(flat.heights, 14), []);
  assert.deepEqual(pieces(levelLines(flat, [1, 5])), []);
});

test("levels stand at round numbers, and none at the least height", () => {
  assert.deepEqual(roundLevels([0, 10], 5), [2, 4, 6, 8, 10]);
  const below = roundLevels([-1, -0.63, -0.9], 4).map((one) => one.toFixed(3));
  assert.deepEqual(below, ["-0.900", "-0.800", "-0.700"]);
  for (const count of [3, 8, 14]) assert.ok(roundLevels([0.1, 7.7], count).length <= count);
});

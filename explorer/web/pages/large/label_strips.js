// The labels along a side of the map: a strip that darkens with the label, and their names.
import { paint } from "../../kit/cell_canvas.js";
import { show } from "../../kit/number_format.js";

/** @typedef {import("../../wire").Bands} Bands */
/** @typedef {"row" | "column"} Side */

/**
 * @param {HTMLCanvasElement} strip
 * @param {Side} side
 * @param {Bands} bands
 * @param {number} length in pixels
 */
export function drawStrip(strip, side, { labels: [lows, highs] }, length) {
  const [least, largest] = [Math.min(...lows), Math.max(...highs)];
  const values = lows.map((low, i) => {
    const share = largest > least ? ((low + highs[i]) / 2 - least) / (largest - least) : 0.5;
    return 30 + 210 * share;
  });
  const [rows, columns] = side === "row" ? [values.length, 1] : [1, values.length];
  paint(strip, { rows, columns, values, least: 0, largest: 255, ramp: "sequential" });
  strip.style.setProperty(side === "row" ? "height" : "width", `${length}px`);
}

/**
 * As many names as stand clear of each other: of each label in its middle, or of six bands.
 * @param {Side} side
 * @param {Bands} bands
 * @param {number} length in pixels
 */
export function labelMarks(side, { edges, labels, levels }, length) {
  const count = edges.length - 1;
  const [from, to] = [edges[0], edges[count]];
  /** @param {number} position */
  const place = (position) => ((position - from) / (to - from)) * length;
  const marks = levels.length
    ? levels.map(({ label, start, stop }) => ({ content: [show(label)], at: (place(start) + place(stop)) / 2 }))
    : Array.from({ length: 6 }, (_, i) => {
        const band = Math.min(count - 1, Math.round(((i + 0.5) * count) / 6));
        return { content: [show(labels[0][band], 2)], at: ((band + 0.5) / count) * length };
      });
  const room = side === "row" ? 14 : 30;
  let last = -Infinity;
  return marks.filter(({ at }) => {
    if (at - last < room) return false;
    last = at;
    return true;
  });
}

// Histograms above each other, a row for each group, on one axis: how something is spread in each.
import { s } from "./drawing.js";
import { show } from "./numbers.js";
import { scaleOf } from "./plot.js";

/** @typedef {import("./types").Look} Look */
/** @typedef {import("./types").Span} Span */

/**
 * `before` are counts that are outlined.
 * @typedef {{ name: string, counts: number[], look: Look, before?: number[], beforeLook?: Look }} Row
 */

/**
 * `row` pixels from one row to the next, `top` above them all, `tall` the highest of them; `gap` pixels
 * between two bars, 0 for an outline without any. With `together` all rows are on one scale, else each is
 * as high as any.
 * @param {{ row: number, tall: number, right?: number, top?: number, foot?: number, gap?: number,
 *   together?: boolean, attributes?: Look }} options
 */
export function ridges({ row, tall, right = 8, top = 0, foot = 24, gap = 0, together = false, attributes = {} }) {
  const svg = s("svg", { role: "img", ...attributes });

  /**
   * Rows, the first at the bottom; `edges` of the bins, `span` of the axis, `names` of the two axes.
   * @param {{ width: number, left: number, edges: number[], rows: Row[], span: Span,
   *   names?: { x?: string, y?: string } }} figure
   */
  function draw({ width, left, edges, rows, span, names = { x: "", y: "" } }) {
    const height = top + rows.length * row + foot;
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    const scale = scaleOf(span);
    /** @param {number} v */
    const toX = (v) => left + scale.to(Math.max(span[0], Math.min(span[1], v))) * (width - left - right);
    const whole = Math.max(1, ...rows.flatMap(({ counts }) => counts));
    /** @type {(x: number, y: number, anchor: string, said: string) => SVGElement} */
    const text = (x, y, anchor, said) => s("text", { x, y, "text-anchor": anchor }, said);
    /** @type {(counts: number[], base: number) => string} */
    const shape = (counts, base) =>
      pathOf(counts, edges, span, toX, base, tall / (together ? whole : Math.max(1, ...counts)));
    const drawn = rows.flatMap(({ name, counts, look, before, beforeLook }, place) => {
      const base = top + (rows.length - place) * row;
      return [
        s("line", { x1: left, x2: width - right, y1: base, y2: base, stroke: "var(--lp-line)" }),
        s("path", { ...look, d: shape(counts, base) }),
        ...(before ? [s("path", { fill: "none", ...beforeLook, d: shape(before, base) })] : []),
        text(left - 8, base - 4, "end", name),
      ];
    });
    const ends = [span[0], (span[0] + span[1]) / 2, span[1]].map((v, i) =>
      text(
        [left, (left + width - right) / 2, width - right][i],
        height - 6,
        ["start", "middle", "end"][i],
        show(Number(v.toFixed(6)), 2),
      ),
    );
    const called = [
      { y: 10, name: names.y },
      { y: height - 6, name: names.x },
    ].flatMap(({ y, name }) => (name ? [text(left - 8, y, "end", name)] : []));
    svg.replaceChildren(...drawn, ...ends, ...called);
    return {
      height,
      /** @param {number} share */
      binAt: (share) => edges.findIndex((_, i) => toX(edges[i]) <= share * width && share * width < toX(edges[i + 1])),
    };
  }

  /**
   * @param {number[]} counts
   * @param {number[]} edges
   * @param {Span} span
   * @param {(value: number) => number} toX
   * @param {number} base
   * @param {number} unit
   */
  function pathOf(counts, edges, span, toX, base, unit) {
    const bars = counts.flatMap((count, i) => {
      if (edges[i] < span[0] || edges[i + 1] > span[1] + 1e-9) return [];
      return [[toX(edges[i]), toX(edges[i + 1]), base - unit * count].map((v) => Number(v.toFixed(1)))];
    });
    if (!bars.length) return "";
    if (gap) return bars.map(([x1, x2, y]) => `M${x1} ${base}V${y}H${Math.max(x2 - gap, x1 + gap)}V${base}Z`).join("");
    const steps = bars.map(([x1, x2, y]) => `L${x1} ${y}L${x2} ${y}`).join("");
    return `M${bars[0][0]} ${base}${steps}L${bars[bars.length - 1][1]} ${base}`;
  }

  return { element: svg, draw };
}

// Histograms above each other, a row for each group, on one axis: how something is spread in each.
import { show } from "./numbers.js";
import { plotArea } from "./plot.js";

/** @typedef {import("./types").Look} Look */
/** @typedef {import("./types").Span} Span */

/**
 * `before` are counts that are outlined.
 * @typedef {{ name: string, counts: number[], look: Look, before?: number[], beforeLook?: Look }} Row
 */

/**
 * Rows, the first at the bottom; `edges` of the bins, `span` of the axis, `left` pixels for the names of the
 * rows, `names` of the two axes; `label` says all of it.
 * @typedef {{ width: number, left: number, edges: number[], rows: Row[], span: Span, label: string,
 *   names?: { x?: string, y?: string } }} Ridges
 */

/**
 * `row` pixels from one row to the next, `top` above them all, `tall` the highest of them; `gap` pixels
 * between two bars, null for an outline without any. With `together` all rows are on one scale, else each is
 * as high as any. `emit` hears which bin is under the pointer.
 * @param {Element} root
 * @param {{ row: number, tall: number, right?: number, top?: number, foot?: number, gap?: number | null,
 *   together?: boolean, attributes?: Look }} options
 * @param {(what: "reach", bin: number | null) => void} [emit]
 */
export function ridges(root, options, emit = () => undefined) {
  const { row, tall, right = 8, top = 0, foot = 24, gap = null, together = false, attributes = {} } = options;
  /** @type {number[]} */
  let bins = [];
  const area = plotArea(root, { margins: { left: 0, right, top, bottom: foot }, attributes }, (what, value) => {
    if (what !== "reach") return;
    const bin = value === null ? -1 : bins.findIndex((edge, i) => edge <= value && value < bins[i + 1]);
    emit("reach", bin < 0 ? null : bin);
  });

  /** @param {{ data: Ridges }} next */
  function update({ data: { width, left, edges, rows, span, label, names = {} } }) {
    bins = edges;
    const whole = Math.max(1, ...rows.flatMap(({ counts }) => counts));
    const inside = edges
      .slice(0, -1)
      .flatMap((edge, i) => (edge < span[0] || edges[i + 1] > span[1] + 1e-9 ? [] : [i]));
    /** @type {(counts: number[], place: number, look: Look, gap: number | null) => import("./plot.js").Bars} */
    const barsOf = (counts, place, look, gap) => {
      const unit = tall / row / (together ? whole : Math.max(1, ...counts));
      return {
        look,
        gap,
        base: place,
        from: inside.map((i) => edges[i]),
        to: inside.map((i) => Math.min(edges[i + 1], span[1])),
        heights: inside.map((i) => place + unit * counts[i]),
      };
    };
    area.update({
      data: {
        width,
        height: top + rows.length * row + foot,
        left,
        x: {
          span,
          ticks: [span[0], (span[0] + span[1]) / 2, span[1]],
          write: (v) => show(Number(v.toFixed(6)), 2),
          name: names.x,
          inside: true,
        },
        y: { span: [0, rows.length], ticks: rows.map((_, i) => i), write: (i) => rows[i].name, name: names.y, lift: 8 },
        bars: rows.flatMap(({ counts, look, before, beforeLook }, place) => [
          barsOf(counts, place, look, gap),
          ...(before ? [barsOf(before, place, { fill: "none", ...beforeLook }, gap)] : []),
        ]),
      },
    });
    area.element.setAttribute("aria-label", label);
  }

  return { update, taken: area.taken };
}

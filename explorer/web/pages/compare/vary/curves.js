// Curves of several losses over one axis, each with its letter at its end; what is read at a value is told
// elsewhere. It gets numbers, and tells the value under the pointer.
import { h, roomOf, worded } from "../../../kit/dom.js";
import { s } from "../../../kit/drawing.js";
import { show } from "../../../kit/numbers.js";
import { plotArea, scaleOf, ticksOf } from "../../../kit/plot.js";
import { say } from "../../../kit/words.js";
import { colourOf, letterOf } from "../legend.js";
import { heightsOf, spaced } from "./along.js";

/** @typedef {import("../../../kit/types").Span} Span */

/**
 * A curve of the loss at `place`; `limit` is a line that it runs to, `between` the two edges it lies in.
 * @typedef {{ place: number, x: number[], y: ArrayLike<number>, limit?: number | null,
 *   between?: ArrayLike<number>[] | null }} Curve
 */

/**
 * What a panel shows: `bands` over ranges of either axis.
 * @typedef {{ curves: Curve[], axis: { span: Span, logarithmic: boolean }, logarithmic?: boolean, range?: Span,
 *   bands?: import("../../../kit/plot.js").Band[], also?: number[] }} Shown
 */

const TALL = 178;
const MARGINS = { left: 46, right: 26, top: 10, bottom: 22 };
export const DASHES = ["", "7 3", "2 3", "10 3 2 3", "4 2", "1 3"];

/** @typedef {ReturnType<typeof curvePanel>} Panel */

/**
 * `key` names what is drawn, "" where a title is told with the curves. `hear` is told the value under the
 * pointer ("reach", or null) and the one that is pressed or dragged to ("press").
 * @param {{ key: string, write?: (value: number) => string, hear?: (what: "reach" | "press", value: number | null) =>
 *   void }} options
 */
export function curvePanel({ key, write = (v) => show(v, 3), hear = () => {} }) {
  const head = key ? worded("div.lp-curves-head", key) : h("div.lp-curves-head");
  const element = h("div.lp-curves-panel", {}, head);
  const area = plotArea(element, { margins: MARGINS, attributes: { height: TALL } }, (what, value) => {
    if (what === "reach") hear("reach", value);
    else if (what !== "click") hear("press", value);
  });
  const over = s("g");
  const names = s("g", { "font-size": 12, "font-weight": 700 });
  area.element.append(over, names);
  const room = roomOf(element, () => draw());
  /** @type {Shown | null} */
  let shown = null;
  /** @type {(number | null)[]} */
  let marked = [];

  const wide = () => Math.max(room.width, 200);

  function scales() {
    const { curves = [], axis = { span: [0, 1], logarithmic: false }, logarithmic, range, also } = shown ?? {};
    const limits = curves.flatMap(({ limit }) => (limit === null || limit === undefined ? [] : [limit]));
    const up = heightsOf(
      curves.map(({ y }) => y),
      { logarithmic, range, also: [...(also ?? []), ...limits] },
    );
    const [across, along] = [
      scaleOf(/** @type {Span} */ (axis.span), axis.logarithmic),
      scaleOf(up.span, up.logarithmic),
    ];
    const { left, right, top, bottom } = MARGINS;
    return {
      up,
      axis,
      /** @param {number} v */
      toX: (v) => left + across.to(v) * (wide() - left - right),
      /** @param {number} v */
      toY: (v) => Math.max(top, Math.min(TALL - bottom, top + (1 - along.to(v)) * (TALL - top - bottom))),
    };
  }

  function draw() {
    if (!shown || !room.width) return;
    const { curves, bands = [] } = shown;
    const { up, axis, toX, toY } = scales();
    const span = /** @type {Span} */ (axis.span);
    area.update({
      data: {
        width: wide(),
        height: TALL,
        x: {
          span,
          logarithmic: axis.logarithmic,
          ticks: ticksOf(span, Math.max(2, Math.floor(wide() / 80)), axis.logarithmic),
          write: (v) => show(v, 3),
          stems: true,
        },
        y: { ...up, ticks: ticksOf(up.span, 4, up.logarithmic), write },
        bands,
        curves: curves.map(({ place, x, y }) => ({ x, y, look: lookOf(place) })),
      },
    });
    over.replaceChildren(...curves.flatMap((one) => aroundOf(one, toX, toY, up.logarithmic)));
    nameEnds(curves, toX, toY);
    area.element.setAttribute("aria-label", spoken(curves));
    mark();
  }

  /** @param {number} place */
  const lookOf = (place) => ({
    stroke: colourOf(place),
    "stroke-width": 2.2,
    "stroke-dasharray": DASHES[place],
  });

  /**
   * The edges it lies between, and the line it runs to.
   * @param {Curve} curve
   * @param {(value: number) => number} toX
   * @param {(value: number) => number} toY
   * @param {boolean} logarithmic
   */
  function aroundOf({ place, x, limit, between }, toX, toY, logarithmic) {
    const parts = [];
    if (between) {
      const [low, high] = between.map((edge) => x.map((v, i) => `${toX(v).toFixed(1)} ${toY(edge[i]).toFixed(1)}`));
      parts.push(
        s("path", { d: `M${low.join("L")}L${high.reverse().join("L")}z`, fill: colourOf(place), opacity: 0.14 }),
      );
    }
    if (limit !== null && limit !== undefined && (!logarithmic || limit > 0)) {
      const [from, to] = [toX(x[0]), toX(x[x.length - 1])];
      const y = toY(limit);
      parts.push(
        s("line", {
          x1: from,
          x2: to,
          y1: y,
          y2: y,
          stroke: colourOf(place),
          "stroke-width": 1,
          "stroke-dasharray": "1 4",
        }),
      );
    }
    return parts;
  }

  /**
   * @param {Curve[]} curves
   * @param {(value: number) => number} toX
   * @param {(value: number) => number} toY
   */
  function nameEnds(curves, toX, toY) {
    const told = curves.flatMap(({ place, x, y }) => {
      const last = Array.from(y).findLastIndex(Number.isFinite);
      return last < 0 ? [] : [{ place, x: toX(x[last]), y: toY(y[last]) }];
    });
    const rows = spaced(
      told.map(({ y }) => y),
      13,
      [MARGINS.top + 6, TALL - MARGINS.bottom],
    );
    names.replaceChildren(
      ...told.map(({ place }, i) =>
        s("text", { x: told[i].x + 7, y: rows[i] + 4, fill: colourOf(place) }, letterOf(place)),
      ),
    );
  }

  /** @param {Curve[]} curves */
  function spoken(curves) {
    const parts = curves.map(({ place, y }) =>
      say("compare.vary.curve", { letter: letterOf(place), first: write(y[0]), last: write(y[y.length - 1]) }),
    );
    return [head.textContent, ...parts].join(" ");
  }

  // The value that is read, as a line and a dot on every curve: `at` is the place in each of them.
  function mark() {
    if (!shown) return;
    const { curves } = shown;
    const lines = curves.flatMap(({ x }, i) => (marked[i] === null || marked[i] === undefined ? [] : [x[marked[i]]]));
    area.update({
      state: {
        lines: [...new Set(lines)].map((x) => ({ x, look: { stroke: "var(--lp-faint)", "stroke-dasharray": "3 3" } })),
        dots: curves.flatMap(({ place, x, y }, i) => {
          const at = marked[i];
          return at === null || at === undefined ? [] : [{ x: x[at], y: y[at], look: { r: 4, fill: colourOf(place) } }];
        }),
      },
    });
  }

  return {
    element,
    /**
     * @param {Shown} next
     * @param {string} [title]
     */
    draw(next, title) {
      shown = next;
      element.hidden = !next.curves.length;
      if (title) head.textContent = title;
      draw();
    },
    /** @param {(number | null)[]} places in each curve */
    mark(places) {
      marked = places;
      mark();
    },
    drawn: () => ({ element: area.element, title: head.textContent ?? "", wide: wide(), tall: TALL }),
  };
}

/**
 * Several panels as one drawing, each under its title, so many beside each other.
 * @param {Panel[]} panels
 */
export function sheet(panels, across = 2) {
  const shown = panels.filter(({ element }) => !element.hidden).map((panel) => panel.drawn());
  const wide = Math.max(...shown.map((one) => one.wide));
  const [step, row] = [wide + 18, TALL + 28];
  const drawn = s(
    "svg",
    {},
    ...shown.map(({ element, title }, i) =>
      s(
        "g",
        { transform: `translate(${(i % across) * step} ${Math.floor(i / across) * row})` },
        s("text", { x: 0, y: 14, "font-size": 12.5, fill: "var(--lp-ink)" }, title),
        s("g", { transform: "translate(0 20)" }, ...[...element.childNodes].map((node) => node.cloneNode(true))),
      ),
    ),
  );
  const columns = Math.min(across, shown.length);
  return { drawn, wide: columns * step - 18, tall: Math.ceil(shown.length / across) * row };
}

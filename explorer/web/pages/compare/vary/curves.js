// Curves of several losses over one axis, each with its letter at its end; what is read at a value stands
// elsewhere. It gets numbers, and tells the value under the pointer.
import { themeColour } from "../../../kit/colours.js";
import { h, worded } from "../../../kit/dom.js";
import { show } from "../../../kit/numbers.js";
import { axisOver, band, plotlyChart } from "../../../kit/plotly.js";
import { say } from "../../../kit/words.js";
import { letterOf } from "../legend.js";
import { heightsOf } from "./along.js";

/** @typedef {import("../../../kit/types").Span} Span */

/**
 * A curve of the loss at `place`; `limit` is a line that it runs to, `between` the two edges it lies in.
 * @typedef {{ place: number, x: number[], y: ArrayLike<number>, limit?: number | null,
 *   between?: ArrayLike<number>[] | null }} Curve
 */

/**
 * What a panel shows: `bands` over ranges of either axis, `colour` of the theme.
 * @typedef {{ curves: Curve[], axis: { span: Span, logarithmic: boolean }, logarithmic?: boolean, range?: Span,
 *   bands?: { colour: string, x?: Span, y?: Span }[], also?: number[] }} Shown
 */

const MARGINS = { l: 46, r: 26, t: 10, b: 26 };
const HEIGHT = 178;
const FILE_WIDTH = 420; // pixels of a panel in a file
const DASHES = ["solid", "dash", "dot", "longdashdot", "6px,3px", "2px,4px"];

/** @typedef {ReturnType<typeof curvePanel>} Panel */

/**
 * The traces of a curve: the band it lies in, the line it runs to, itself with its letter at its end.
 * @param {Curve} curve
 */
function tracesOf({ place, x, y, limit = null, between }) {
  const colour = themeColour(`side-${place + 1}`);
  const quiet = { type: "scatter", mode: "lines", hoverinfo: "skip" };
  const heights = Array.from(y);
  const last = heights.findLastIndex(Number.isFinite);
  const edges = (between ?? []).map((edge, i) => ({
    ...quiet,
    x,
    y: Array.from(edge),
    line: { width: 0 },
    ...(i ? { fill: "tonexty", fillcolor: `${colour}24` } : {}),
  }));
  const runsTo =
    limit === null
      ? []
      : [{ ...quiet, x: [x[0], x[x.length - 1]], y: [limit, limit], line: { color: colour, width: 1, dash: "dot" } }];
  const curve = {
    type: "scatter",
    mode: "lines+text",
    name: letterOf(place),
    x,
    y: heights,
    line: { color: colour, width: 2.2, dash: DASHES[place] },
    text: heights.map((_y, i) => (i === last ? letterOf(place) : "")),
    textposition: "middle right",
    textfont: { color: colour, size: 12 },
    cliponaxis: false,
    hovertemplate: "%{y:.3~g}",
  };
  return [...edges, ...runsTo, curve];
}

/**
 * `key` names what is drawn, "" where a title comes with the curves. `hear` is given the value under the
 * pointer ("reach", or null) and the one that is clicked ("press").
 * @param {{ key: string, write?: (value: number) => string, hear?: (what: "reach" | "press", value: number | null) =>
 *   void }} options
 */
export function curvePanel({ key, write = (v) => show(v, 3), hear = () => {} }) {
  const head = key ? worded("div.lp-curves-head", key) : h("div.lp-curves-head");
  /** @type {Shown | null} */
  let shown = null;
  const chart = plotlyChart(figure, (plot) => {
    plot.on("plotly_hover", ({ points }) => hear("reach", points[0].x));
    plot.on("plotly_unhover", () => hear("reach", null));
    plot.on("plotly_click", ({ points }) => hear("press", points[0].x));
  });
  const element = h("div.lp-curves-panel", {}, head, chart.box);

  function figure() {
    if (!shown) return null;
    const { curves, axis, bands = [], logarithmic, range, also = [] } = shown;
    const limits = curves.flatMap(({ limit }) => (typeof limit === "number" ? [limit] : []));
    const up = heightsOf(
      curves.map(({ y }) => y),
      { logarithmic, range, also: [...also, ...limits] },
    );
    const layout = {
      height: HEIGHT,
      margin: MARGINS,
      hovermode: "x unified",
      hoverdistance: -1,
      dragmode: false,
      xaxis: axisOver(axis.span, axis.logarithmic, 5),
      yaxis: axisOver(up.span, up.logarithmic, 5),
      shapes: bands.map(({ colour, x, y }) =>
        band(colour, 0.2, {
          ...(x ? { xref: "x", x0: x[0], x1: x[1] } : {}),
          ...(y ? { yref: "y", y0: y[0], y1: y[1] } : {}),
        }),
      ),
    };
    return { data: curves.flatMap(tracesOf), layout };
  }

  /** @param {Curve[]} curves */
  function spoken(curves) {
    const parts = curves.map(({ place, y }) =>
      say("compare.vary.curve", { letter: letterOf(place), first: write(y[0]), last: write(y[y.length - 1]) }),
    );
    return [head.textContent, ...parts].join(" ");
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
      chart.box.setAttribute("aria-label", spoken(next.curves));
      chart.draw();
    },
    /** @param {(number | null)[]} places where each curve is read */
    mark(places) {
      const at = places.findIndex((place) => place !== null);
      const place = places[at];
      chart.mark(shown && typeof place === "number" ? shown.curves[at].x[place] : null);
    },
    drawn: () => chart.panel(FILE_WIDTH, HEIGHT, head.textContent ?? ""),
  };
}

/**
 * Several panels as one chart, each under its title, so many beside each other.
 * @param {Panel[]} panels
 */
export const sheet = (panels, across = 2) => ({
  panels: panels.filter(({ element }) => !element.hidden).map((panel) => panel.drawn()),
  across,
});

// Curves of several losses over one axis, each with its letter.
import { heightAxis } from "../../../kit/axis_range.js";
import { themeColour } from "../../../kit/colours.js";
import { letterOf } from "../../../kit/compared_loss_labels.js";
import { show } from "../../../kit/number_format.js";
import { axisOver, band } from "../../../kit/plotly.js";
import { Plot } from "../../../kit/plotly_component.js";
import { h } from "../../../kit/preact_view.js";
import { say } from "../../../kit/translated_sentences.js";
import { useMemo } from "../../../kit/vendor/preact/hooks.js";

/** @typedef {import("../../../kit/types").Span} Span */

/**
 * A curve of the loss at `place`, with a dot and its letter at the `present` one of its points, or the letter at its
 * end; `limit` is a line that it tends to, `between` the two edges it lies in.
 * @typedef {{ place: number, x: number[], y: ArrayLike<number>, present?: number, limit?: number | null,
 *   between?: ArrayLike<number>[] | null }} Curve
 */

/**
 * What a panel shows: `bands` over ranges of either axis, `colour` of the theme.
 * @typedef {{ curves: Curve[], axis: { span: Span, logarithmic: boolean }, logarithmic?: boolean, range?: Span,
 *   bands?: { colour: string, x?: Span, y?: Span }[], also?: number[] }} CurvePanelContent
 */

const MARGINS = { l: 46, r: 26, t: 18, b: 26 };
const HEIGHT = 236;
const FILE_WIDTH_PX = 420; // pixels of a panel in a file
const DASHES = ["solid", "dash", "dot", "longdashdot", "6px,3px", "2px,4px"];

/** @typedef {import("../../../kit/plotly_component.js").PlotlyChart} PlotlyChart */

/**
 * The traces of a curve: the band it lies in, the line it tends to, itself with its letter, its dot.
 * @param {Curve} curve
 */
function tracesOf({ place, x, y, present = -1, limit = null, between }) {
  const colour = themeColour(`side-${place + 1}`);
  const quiet = { type: "scatter", mode: "lines", hoverinfo: "skip" };
  const heights = Array.from(y);
  const isDotted = Number.isFinite(heights[present]);
  const lettered = isDotted ? present : heights.findLastIndex(Number.isFinite);
  const edges = (between ?? []).map((edge, i) => ({
    ...quiet,
    x,
    y: Array.from(edge),
    line: { width: 0 },
    ...(i ? { fill: "tonexty", fillcolor: `${colour}24` } : {}),
  }));
  const limitLine =
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
    text: heights.map((_y, i) => (i === lettered ? letterOf(place) : "")),
    textposition: isDotted ? "top center" : "middle right",
    textfont: { color: colour, size: 12 },
    cliponaxis: false,
    hovertemplate: "%{y:.3~g}",
  };
  const dot = { type: "scatter", mode: "markers", hoverinfo: "skip", cliponaxis: false, x: [x[present]] };
  const dots = isDotted ? [{ ...dot, y: [heights[present]], marker: { color: colour, size: 8 } }] : [];
  return [...edges, ...limitLine, curve, ...dots];
}

/** @param {CurvePanelContent} shown */
function figureOf({ curves, axis, bands = [], logarithmic, range, also = [] }) {
  const limits = curves.flatMap(({ limit }) => (typeof limit === "number" ? [limit] : []));
  const heights = heightAxis(
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
    yaxis: axisOver(heights.span, heights.logarithmic, 5),
    shapes: bands.map(({ colour, x, y }) =>
      band(colour, 0.2, {
        ...(x ? { xref: "x", x0: x[0], x1: x[1] } : {}),
        ...(y ? { yref: "y", y0: y[0], y1: y[1] } : {}),
      }),
    ),
  };
  return { data: curves.flatMap(tracesOf), layout };
}

/**
 * A chart below its title. `reach` is called with the value under the pointer, null for none, and `press` with the
 * one that is clicked; `at` is the marked value. The chart is drawn again where `shown` is another object. `charts`
 * has it under its title.
 * @param {{ title: string, shown: CurvePanelContent, at: number | null, write?: (value: number) => string,
 *   charts: Map<string, PlotlyChart>, reach: (value: number | null) => void, press: (value: number) => void }}
 *   properties
 */
export function Curves({ title, shown, at, write = (v) => show(v, 3), charts, reach, press }) {
  const parts = shown.curves.map(({ place, y }) =>
    say("compare.vary.curve", { letter: letterOf(place), first: write(y[0]), last: write(y[y.length - 1]) }),
  );
  const label = [title, ...parts].join(" ");
  const figure = useMemo(() => () => figureOf(shown), [shown]);
  const keep = (/** @type {PlotlyChart} */ chart) => charts.set(title, chart);
  return h("div.lp-curves-panel", h("div.lp-curves-head", title), h(Plot, { figure, label, at, reach, press, keep }));
}

/**
 * Several charts as one figure, each under its title.
 * @param {Map<string, PlotlyChart>} charts
 * @param {string[]} titles of those that are drawn
 */
export const chartsFigure = (charts, titles) => ({
  panels: titles.flatMap((title) => charts.get(title)?.panel(FILE_WIDTH_PX, HEIGHT, title) ?? []),
  across: 2,
});

/**
 * A slider through the values of all curves, with the value in words. `share`: from 0 to 1.
 * @param {{ label: string, share: number, steps: number, words: string, disabled?: boolean,
 *   change: (share: number) => void, enter?: () => void, children?: import("../../../kit/types").Children }} properties
 */
export const Scrub = ({ label, share, steps, words, disabled, change, enter, children }) =>
  h(
    "div.lp-row.lp-wrap.lp-vary-scrub",
    h(
      "div.lp-slider",
      h("input", {
        type: "range",
        min: 0,
        max: steps,
        step: 1,
        value: Math.round(steps * share),
        disabled,
        style: `--lp-fill: ${100 * share}%`,
        "aria-label": label,
        "aria-valuetext": words,
        onInput: (event) => change(Number(event.currentTarget.value) / steps),
        onKeyDown: (event) => event.key === "Enter" && enter?.(),
      }),
    ),
    h("output.lp-vary-here", words),
    children,
  );

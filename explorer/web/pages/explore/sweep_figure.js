// A curve along a parameter as a chart: with the bands of the two rules of thumb, and a dot where the scenario stands.
import { heightAxis } from "../../kit/axis_range.js";
import { themeColour } from "../../kit/colours.js";
import { axisOver, band } from "../../kit/plotly.js";

/** @typedef {import("../../kit/types").Span} Span */
/** @typedef {"loss" | "gradient" | "active"} Name */
/** @typedef {{ name: Name, write: (value: number) => string, logarithmic?: boolean, range?: Span }} Panel */
/**
 * The curves along a parameter; `key` is what they depend on.
 * @typedef {Omit<import("../../wire").Swept, Name> & { heights: Record<Name, number[] | null>, key: string }} SweptCurves
 */

const HEIGHT = 172;
const MARGINS = { l: 46, r: 18, t: 10, b: 26 };
/** @type {Span} */
const ADVISED_NORMS = [0.1, 10]; // of the gradient norm, as the derivation circulating with CoSENT advises

/**
 * Return the traces and the layout of a panel; `here` is the setting in force and the height there.
 * @param {{ curves: SweptCurves, panel: Panel, here: { setting: number, height: number } }} shown
 */
export function figureOf({ curves, panel: { name, logarithmic, range }, here }) {
  const heights = curves.heights[name] ?? [];
  const { values, within } = curves;
  const also = logarithmic && within ? ADVISED_NORMS : [];
  const scale = heightAxis([heights], { logarithmic, range, also });
  const layout = {
    ...{ height: HEIGHT, margin: MARGINS, hovermode: "x", hoverdistance: -1, dragmode: false },
    shapes: bandsOf(curves, name),
    xaxis: axisOver([values[0], values[values.length - 1]], curves.logarithmic, 6),
    yaxis: { ...axisOver(scale.span, scale.logarithmic, 6), ...(range ? { tickformat: ".0%" } : {}) },
  };
  const curve = {
    type: "scatter",
    mode: "lines",
    x: values,
    y: heights,
    line: { color: themeColour("ink"), width: 2 },
  };
  const marker = { color: themeColour("accent"), size: 9 };
  const dot = { type: "scatter", mode: "markers", hoverinfo: "skip", cliponaxis: false, marker };
  return {
    data: [
      { ...curve, hoverinfo: "none" },
      { ...dot, x: [here.setting], y: [here.height] },
    ],
    layout,
  };
}

/**
 * What the two rules say, as bands behind the curve.
 * @param {SweptCurves} curves
 * @param {Name} name
 */
function bandsOf({ values, advised, within }, name) {
  /** @param {number} v */
  const inside = (v) => Math.max(values[0], Math.min(values[values.length - 1], v));
  return [
    ...(advised
      ? [band("collapse", 0.2, { name: "advised", xref: "x", x0: inside(advised[0]), x1: inside(advised[1]) })]
      : []),
    ...(within ?? []).map(([x0, x1]) => band("floor", 1, { name: "within", xref: "x", x0, x1, y1: 0.03 })),
    ...(name === "gradient" && within
      ? [band("floor", 0.2, { name: "norm-band", yref: "y", y0: ADVISED_NORMS[0], y1: ADVISED_NORMS[1] })]
      : []),
  ];
}

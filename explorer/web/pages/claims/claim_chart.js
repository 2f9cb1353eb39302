// The curves of a claim over λ, K, a margin or a step.
import { finiteRange } from "../../kit/axis_range.js";
import { themeColour } from "../../kit/colours.js";
import { read } from "../../kit/number_format.js";
import { axisOver, band } from "../../kit/plotly.js";
import { Plot } from "../../kit/plotly_component.js";
import { h } from "../../kit/preact_view.js";
import { say } from "../../kit/translated_sentences.js";
import { useMemo } from "../../kit/vendor/preact/hooks.js";

/** @typedef {import("../../wire").ClaimChart} ClaimChart */

const COLOURS = ["side-1", "side-2", "side-3", "side-4", "faint"];
const DASHES = ["solid", "dash", "dot", "dashdot", "dash"];
const MARGIN = { l: 58, r: 24, t: 34, b: 44 };
const HEIGHT = 340;
const MIN_LOGARITHMIC_RATIO = 30;
const HALF_BAR_WIDTH = 0.5; // of bars at whole numbers, so that the outermost are not cut off
const HEADROOM = 1.1; // above the highest curve

/** @param {number} place of a curve */
export const colourOf = (place) => themeColour(COLOURS[place]);

/** @param {{ chart: ClaimChart }} properties */
export function ClaimCurves({ chart }) {
  const figure = useMemo(() => () => figureOf(chart), [chart]);
  return h(Plot, { figure, label: `${say("claims.chart")}: ${chart.y} / ${chart.x}` });
}

/** @param {ClaimChart} chart */
export function figureOf({ x, y, curves, logarithmic_x, logarithmic_y, band: bounds }) {
  const heights = [...curves.flatMap((curve) => curve.y.map(read)), ...(bounds ?? [])].filter(Number.isFinite);
  const positive = heights.filter((one) => one > 0);
  // Over less a logarithmic axis has hardly a number.
  const isLog = logarithmic_y && Math.max(...positive) > MIN_LOGARITHMIC_RATIO * Math.min(...positive);
  const ends = finiteRange(curves.map((curve) => curve.x.map(read))) ?? [0, 1];
  const beside = curves.some(({ bars }) => bars) ? HALF_BAR_WIDTH : 0;
  const [least, largest] = finiteRange([isLog ? positive : [0, ...heights]]) ?? [0, 1];
  return {
    data: curves.map((curve, i) => ({
      name: say(`claims.curve.${curve.name}`),
      x: curve.x.map(read),
      // A logarithmic axis has no place for 0.
      y: curve.y.map((one) => (isLog && Number(read(one)) <= 0 ? null : read(one))),
      hoverinfo: "x+y+name",
      ...(curve.bars
        ? { type: "bar", marker: { color: colourOf(i) } }
        : { type: "scatter", mode: "lines", line: { color: colourOf(i), dash: DASHES[i], width: 2.5 } }),
    })),
    layout: {
      margin: MARGIN,
      height: HEIGHT,
      showlegend: true,
      legend: { orientation: "h", y: 1.02, yanchor: "bottom", x: 0 },
      shapes: bounds ? [band("floor", 0.14, { yref: "y", y0: bounds[0], y1: bounds[1] })] : [],
      xaxis: {
        title: { text: x },
        ...axisOver([ends[0] - beside, ends[1] + beside], logarithmic_x, 8),
      },
      yaxis: { title: { text: y }, ...axisOver([least, HEADROOM * largest], isLog, 6) },
    },
  };
}

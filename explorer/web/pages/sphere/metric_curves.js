// Small curves of a film, one below the other: loss, alignment, uniformity, effective rank, rank correlation. Plotly
// draws them over one axis of steps, and a line marks the frame in sight.
import { finiteRange } from "../../kit/axis_range.js";
import { themeColour } from "../../kit/colours.js";
import { axisOver, template } from "../../kit/plotly.js";
import { Plot } from "../../kit/plotly_component.js";
import { h } from "../../kit/preact_view.js";
import { say } from "../../kit/translated_sentences.js";
import { useMemo } from "../../kit/vendor/preact/hooks.js";

const CURVES = ["loss", "alignment", "uniformity", "effective_rank", "spearman"];
const HEIGHT = 470;
const GAP_SHARE = 0.05; // of the height between two curves
const SPARE_SHARE = 0.08; // of a curve's span above and below it

/** @param {{ page: import("./state.js").SpherePage }} properties */
export function Curves({ page }) {
  page.observe("frame", "film");
  const { films, at, last } = page;
  // Another film is another figure; in another frame only the mark moves.
  const figure = useMemo(() => () => figureOf(films, last), [films, last]);
  return h("div.lp-curves", h(Plot, { figure, label: say("sphere.curves"), at, press: (step) => page.show(step) }));
}

/** @type {(films: (import("./state.js").Film | null)[]) => string[]} The curves that have a number in any frame. */
export const shownCurves = (films) =>
  CURVES.filter((name) => films.some((film) => film?.curves[name].some(Number.isFinite)));

/**
 * @param {(import("./state.js").Film | null)[]} films
 * @param {number} last
 */
function figureOf(films, last) {
  const names = shownCurves(films);
  if (!names.length) return null;
  const tall = (1 - GAP_SHARE * (names.length - 1)) / names.length;
  const tops = names.map((_name, row) => 1 - row * (tall + GAP_SHARE));
  const axes = names.map((name, row) => {
    const domain = [Math.max(0, tops[row] - tall), tops[row]];
    return [row ? `yaxis${row + 1}` : "yaxis", { ...template().yaxis, ...yAxis(films, name), domain }];
  });
  return {
    data: names.flatMap((name, row) => traces(films, name).map((one) => ({ ...one, yaxis: `y${row ? row + 1 : ""}` }))),
    layout: {
      margin: { l: 44, r: 8, t: 14, b: 34 },
      height: HEIGHT,
      hovermode: "x",
      xaxis: { ...xAxis(last), anchor: names.length > 1 ? `y${names.length}` : "y" },
      ...Object.fromEntries(axes),
      annotations: names.map((name, row) => ({
        text: say(`sphere.curve.${name}`),
        ...{ xref: "paper", x: 0, xanchor: "left", yref: "paper", y: tops[row], yanchor: "bottom", showarrow: false },
        font: { size: 11, color: themeColour("ink") },
      })),
    },
  };
}

/** @param {number} last */
export const xAxis = (last) => ({ ...axisOver([0, last], false, 4), title: { text: say("sphere.steps") } });

/**
 * @param {(import("./state.js").Film | null)[]} films
 * @param {string} name
 */
export function yAxis(films, name) {
  const [low, high] = finiteRange(films.map((film) => film?.curves[name] ?? [])) ?? [0, 0];
  const spare = SPARE_SHARE * (high - low) || SPARE_SHARE * Math.abs(high) || SPARE_SHARE;
  return axisOver([low - spare, high + spare], false, 2);
}

/**
 * @param {(import("./state.js").Film | null)[]} films
 * @param {string} name
 */
export const traces = (films, name) =>
  films.flatMap((film, place) => {
    if (!film) return [];
    const color = themeColour(`side-${place + 1}`);
    const y = Array.from(film.curves[name], (one) => (Number.isFinite(one) ? one : null));
    return [{ type: "scatter", mode: "lines", x: y.map((_, i) => i), y, line: { color, width: 2 }, hoverinfo: "x+y" }];
  });

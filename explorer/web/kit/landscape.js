// A loss over the scores of a positive and of a negative pair: from above with its level lines, or as a surface; and a
// cut through it with the second derivative.
import { floats } from "./base64_arrays.js";
import { themeColour } from "./colours.js";
import { levelLines, roundLevels } from "./level_lines.js";
import { show } from "./number_format.js";
import { template } from "./plotly.js";
import { Plot } from "./plotly_component.js";
import { h } from "./preact_view.js";
import { say } from "./translated_sentences.js";
import { useMemo } from "./vendor/preact/hooks.js";

/** @typedef {import("../wire").Boundary} Boundary */
/**
 * The landscape of a loss at each stop of a lever.
 * @typedef {{ heights: Float32Array, slopes: Float32Array, dots: Float32Array, boundaries: (Boundary | null)[],
 *   comparisons: number, axis: number[], arrows: number[] }} Landscape
 */
/** @typedef {{ heights: Float32Array, axis: number[], boundary: Boundary | null }} HeightsAtStop */
/** @typedef {"levels" | "surface"} View */

const LEVELS = 14;
const ARROW = 0.17; // the length of the longest, in scores
const SHORTEST = 0.02; // of an arrow that is drawn, by the longest slope
const MARGIN = { l: 46, r: 8, t: 8, b: 40 };
const TICKS = { tickvals: [-1, -0.5, 0, 0.5, 1], ticktext: ["−1", "", "0", "", "1"] };
const DOT = 0.013; // half of the width of a dot, in scores
const PLAIN_SIDE = { showbackground: false, showspikes: false, zeroline: false };
const QUIET = { type: "scatter", mode: "lines", hoverinfo: "skip" };

/**
 * The landscapes of an answer, null for a loss without one.
 * @type {(answer: import("../wire").Landscapes) => (Landscape | null)[]}
 */
export const landscapesIn = ({ sides, axis, arrows }) =>
  sides.map(
    ({ found }) =>
      found && {
        ...{
          heights: floats(found.heights),
          slopes: floats(found.slopes),
          dots: floats(found.dots) ?? new Float32Array(),
        },
        ...{ boundaries: found.boundaries, comparisons: found.comparisons, axis, arrows },
      },
  );

/**
 * The place of a stop among those that a landscape has: all of them, or one.
 * @type {(landscape: { boundaries: unknown[] }, stop: number) => number}
 */
const placeOf = ({ boundaries }, stop) => Math.min(stop, boundaries.length - 1);

/** @type {(landscape: Landscape, stop: number) => HeightsAtStop} */
function heightsAtStop(landscape, stop) {
  const { axis, heights, boundaries } = landscape;
  const place = placeOf(landscape, stop);
  const cells = axis.length ** 2;
  return { axis, heights: heights.subarray(place * cells, (place + 1) * cells), boundary: boundaries[place] };
}

/** @param {HeightsAtStop} stopHeights */
const rowsOf = ({ axis, heights }) =>
  axis.map((_one, row) => heights.subarray(row * axis.length, (row + 1) * axis.length));

/** The pale half of the ramp, on which lines and dots are seen. */
function colourScale() {
  const colours = themeColour("sequential").split(" ").slice(0, 4);
  return colours.map((one, i) => [i / (colours.length - 1), one]);
}

/** @param {HeightsAtStop} stopHeights */
function boundaryLines({ axis, heights, boundary }) {
  return levelLines({ axis, heights }, boundary ? [boundary.level] : []);
}

/**
 * Where a step against the gradient takes the two scores: an arrow at each of some points, long where it is steep.
 * @type {(landscape: Landscape, stop: number) => import("./level_lines.js").Lines}
 */
function arrowLines(landscape, stop) {
  const { slopes, arrows } = landscape;
  const count = arrows.length ** 2;
  const gradient = slopes.subarray(2 * placeOf(landscape, stop) * count).subarray(0, 2 * count);
  const sizes = Array.from({ length: count }, (_, i) => Math.hypot(gradient[2 * i], gradient[2 * i + 1]));
  const largest = Math.max(...sizes);
  /** @type {import("./level_lines.js").Lines} */
  const lines = { x: [], y: [] };
  sizes.forEach((size, i) => {
    if (!(size > SHORTEST * largest)) return;
    const [across, up] = [-gradient[2 * i] / size, -gradient[2 * i + 1] / size];
    const long = ARROW * Math.sqrt(size / largest);
    const [x, y] = [arrows[i % arrows.length], arrows[Math.floor(i / arrows.length)]];
    const tip = [x + long * across, y + long * up];
    /** @type {(turned: number) => number[]} */
    const barb = (turned) => [
      tip[0] - 0.35 * long * (across - turned * up),
      tip[1] - 0.35 * long * (up + turned * across),
    ];
    for (const [a, b] of [[x, y], tip, barb(0.6), tip, barb(-0.6)]) {
      lines.x.push(a);
      lines.y.push(b);
    }
    lines.x.push(null);
    lines.y.push(null);
  });
  return lines;
}

/** @param {Landscape} landscape */
const dotsOf = ({ dots }) => ({
  x: Array.from({ length: dots.length / 2 }, (_, i) => dots[2 * i]),
  y: Array.from({ length: dots.length / 2 }, (_, i) => dots[2 * i + 1]),
});

/**
 * Points as short strokes of one line, which Plotly draws at once: it styles every marker by itself.
 * @param {{ x: number[], y: number[] }} points
 * @param {string} color
 */
const dotted = ({ x, y }, color) => ({
  ...QUIET,
  x: x.flatMap((one) => [one - DOT, one + DOT, null]),
  y: y.flatMap((one) => [one, one, null]),
  line: { color, width: 5 },
});

/**
 * From above: heights as colours, level lines, arrows, the comparisons of the batch, and where it is cut.
 * @param {Landscape} landscape
 * @param {number} stop
 * @param {number | null} negative where it is cut
 * @param {number} width
 */
function levelsFigure(landscape, stop, negative, width) {
  const stopHeights = heightsAtStop(landscape, stop);
  const { axis, heights } = stopHeights;
  const [ink, faint, up, accent] = ["ink", "faint", "up", "accent"].map(themeColour);
  const names = [say("landscape.positive"), say("landscape.negative"), say("landscape.heights")];
  const heat = {
    ...{ type: "heatmap", x: axis, y: axis, z: rowsOf(stopHeights), zsmooth: "fast" },
    ...{ colorscale: colourScale(), showscale: false },
    hovertemplate: `${names[0]} %{x:.2f}<br>${names[1]} %{y:.2f}<br>${names[2]} %{z:.4~g}<extra></extra>`,
  };
  const levels = levelLines({ axis, heights }, roundLevels(heights, LEVELS));
  const ends = [axis[0], axis[axis.length - 1]];
  const cut =
    negative === null
      ? []
      : [{ ...QUIET, x: ends, y: [negative, negative], line: { color: accent, width: 1.5, dash: "dot" } }];
  const side = { range: ends, fixedrange: true, showgrid: false, ...TICKS };
  return {
    data: [
      heat,
      { ...QUIET, ...levels, line: { color: faint, width: 1 }, opacity: 0.55 },
      { ...QUIET, ...arrowLines(landscape, stop), line: { color: ink, width: 1.2 } },
      { ...dotted(dotsOf(landscape), up), opacity: 0.6 },
      ...cut,
      { ...QUIET, ...boundaryLines(stopHeights), line: { color: ink, width: 3.5 } },
    ],
    layout: {
      ...{ height: width - MARGIN.l - MARGIN.r + MARGIN.t + MARGIN.b, margin: MARGIN, dragmode: false },
      xaxis: { ...side, title: { text: names[0], standoff: 4 } },
      yaxis: { ...side, title: { text: names[1], standoff: 2 } },
    },
  };
}

/**
 * The height at two scores, between the corners of the grid.
 * @type {(stopHeights: HeightsAtStop, x: number, y: number) => number}
 */
function heightAt({ axis, heights }, x, y) {
  const last = axis.length - 2;
  const [across, up] = [x, y].map((one) => ((one - axis[0]) / (axis[last + 1] - axis[0])) * (last + 1));
  const [column, row] = [across, up].map((one) => Math.max(0, Math.min(last, Math.floor(one))));
  const [right, above] = [across - column, up - row];
  /** @type {(r: number, c: number) => number} */
  const at = (r, c) => heights[(row + r) * axis.length + column + c];
  const [low, high] = [0, 1].map((r) => at(r, 0) * (1 - right) + at(r, 1) * right);
  return low * (1 - above) + high * above;
}

/**
 * As a surface, with its level lines, its boundary and the comparisons of the batch on it.
 * @param {Landscape} landscape
 * @param {number} stop
 * @param {number} width
 */
function surfaceFigure(landscape, stop, width) {
  const stopHeights = heightsAtStop(landscape, stop);
  const { axis } = stopHeights;
  const [ink, faint, line, up] = ["ink", "faint", "line", "up"].map(themeColour);
  const dots = dotsOf(landscape);
  const edge = boundaryLines(stopHeights);
  const levels = levelLines(stopHeights, roundLevels(stopHeights.heights, LEVELS));
  const quiet = { type: "scatter3d", hoverinfo: "skip" };
  const side = { ...PLAIN_SIDE, ...TICKS, color: faint, gridcolor: line };
  const surface = {
    ...{ type: "surface", x: axis, y: axis, z: rowsOf(stopHeights), colorscale: colourScale(), showscale: false },
    ...{ hoverinfo: "skip" },
    lighting: { ambient: 0.85, diffuse: 0.3, specular: 0.02 },
  };
  return {
    data: [
      surface,
      { ...quiet, mode: "lines", ...levels, z: levels.heights, line: { color: faint, width: 2 } },
      { ...quiet, mode: "lines", ...edge, z: edge.heights, line: { color: ink, width: 6 } },
      {
        ...{ ...quiet, mode: "markers", ...dots, marker: { color: up, size: 2.5 } },
        z: dots.x.map((x, i) => heightAt(stopHeights, x, dots.y[i])),
      },
    ],
    layout: {
      ...{ height: width - MARGIN.l - MARGIN.r + MARGIN.t + MARGIN.b, margin: { l: 0, r: 0, t: 0, b: 0 } },
      scene: {
        xaxis: { ...side, title: { text: say("landscape.positive") } },
        yaxis: { ...side, title: { text: say("landscape.negative") } },
        zaxis: { ...PLAIN_SIDE, color: faint, gridcolor: line, nticks: 4, title: { text: say("landscape.heights") } },
        camera: { eye: { x: 1.7, y: -1.7, z: 1.1 }, center: { x: 0, y: 0, z: -0.12 } },
        aspectmode: "cube",
      },
    },
  };
}

/**
 * A landscape at one stop. `negative` is where it is cut, null for nowhere; `press` hears of a score of the negative
 * that was clicked.
 * @param {{ landscape: Landscape, stop: number, view: View, negative: number | null, label: string,
 *   press?: (negative: number) => void }} properties
 */
export function LandscapePlot({ landscape, stop, view, negative, label, press }) {
  const figure = useMemo(
    () => (/** @type {number} */ width) =>
      view === "surface" ? surfaceFigure(landscape, stop, width) : levelsFigure(landscape, stop, negative, width),
    [landscape, stop, view, negative],
  );
  return h(Plot, { key: view, figure, label, press: (_x, y) => press?.(y) });
}

/**
 * A landscape from above as a square panel of a file, with its lines and dots; the colours of the heights stay on the
 * page.
 * @param {Landscape} landscape
 * @param {{ stop: number, negative: number | null, side: number, title: string }} options `side` in pixels
 */
export function landscapePanel(landscape, { stop, negative, side, title }) {
  const { data, layout } = levelsFigure(landscape, stop, negative, side);
  const lines = data.filter((one) => /** @type {{ type?: string }} */ (one).type === "scatter");
  return { wide: side, tall: side, title, data: lines, layout };
}

/** @typedef {{ heights: Float32Array, curvature: Float32Array, formula: Float32Array | null, axis: number[] }} Cut */

/** @type {(answer: import("../wire").Cuts) => (Cut | null)[]} The cuts of an answer, null for a loss without one. */
export const cutsIn = ({ sides, axis }) =>
  sides.map(
    ({ found }) =>
      found && {
        ...{ heights: floats(found.heights), curvature: floats(found.curvature) },
        ...{ formula: floats(found.formula), axis },
      },
  );

/** @typedef {{ cut: Cut | null, stop: number }} CutSide the cut of a loss, and its stop */

/** @type {(values: Float32Array, points: number, stop: number) => number[]} One curve of a cut at a stop. */
function alongCut(values, points, stop) {
  const place = Math.min(stop, values.length / points - 1);
  return Array.from(values.subarray(place * points, (place + 1) * points));
}

/** @typedef {"heights" | "curvature"} Curves the losses of a cut, or their second derivatives */

/**
 * The curves of a cut, with the formula as dots on the second derivatives, and the axis of their values.
 * @param {CutSide[]} sides
 * @param {Curves} what
 */
function curvesOf(sides, what) {
  let [low, high] = [0, 1e-9];
  const data = sides.flatMap(({ cut, stop }, place) => {
    if (!cut) return [];
    const { axis, formula } = cut;
    const y = alongCut(cut[what], axis.length, stop);
    [low, high] = [Math.min(low, ...y), Math.max(high, ...y)];
    const colour = themeColour(`side-${place + 1}`);
    const curve = { ...QUIET, x: axis, y, line: { color: colour, width: 2.2 }, hoverinfo: "x+y" };
    if (what === "heights" || !formula) return [curve];
    const some = axis.map((_one, i) => i).filter((i) => i % 16 === 0);
    const exact = alongCut(formula, axis.length, stop);
    return [curve, dotted({ x: some.map((i) => axis[i]), y: some.map((i) => exact[i]) }, colour)];
  });
  const title = { text: say(`landscape.${what}`), standoff: 2 };
  const yaxis = { range: [low, low + 1.08 * (high - low)], fixedrange: true, nticks: 3, title };
  return { data, yaxis };
}

/** The axis of the score of the positive. @param {number[]} axis */
const positiveAxis = (axis) => ({
  ...{ range: [axis[0], axis[axis.length - 1]], fixedrange: true, ...TICKS },
  title: { text: say("landscape.positive"), standoff: 4 },
});

/** @param {CutSide[]} sides */
const axisOf = (sides) => sides.find(({ cut }) => cut)?.cut?.axis ?? [-1, 1];

/**
 * The cut of losses: above the losses, below their second derivatives.
 * @param {CutSide[]} sides
 * @param {number} height
 */
function cutFigure(sides, height) {
  const [above, below] = /** @type {const} */ (["heights", "curvature"]).map((what) => curvesOf(sides, what));
  return {
    data: [...above.data, ...below.data.map((one) => ({ ...one, yaxis: "y2" }))],
    layout: {
      ...{ height, margin: MARGIN, dragmode: false },
      xaxis: { ...positiveAxis(axisOf(sides)), anchor: "y2" },
      yaxis: { ...above.yaxis, domain: [0.54, 1] },
      yaxis2: { ...template().yaxis, ...below.yaxis, domain: [0, 0.46] },
    },
  };
}

/**
 * A panel of a cut for a file.
 * @param {CutSide[]} sides
 * @param {Curves} what
 * @param {number} wide
 * @param {number} tall
 */
export function cutPanel(sides, what, wide, tall) {
  const { data, yaxis } = curvesOf(sides, what);
  return { wide, tall, title: "", data, layout: { xaxis: positiveAxis(axisOf(sides)), yaxis } };
}

/** @param {{ sides: CutSide[], height: number, label: string }} properties */
export function CutPlot({ sides, height, label }) {
  const parts = sides.flatMap(({ cut, stop }) => [cut, stop]);
  const figure = useMemo(() => () => cutFigure(sides, height), [height, ...parts]);
  return h(Plot, { figure, label });
}

/**
 * In words where the boundary of a loss is, "" where it has none.
 * @type {(landscape: Landscape, stop: number) => string}
 */
export function boundaryWords(landscape, stop) {
  const boundary = landscape.boundaries[placeOf(landscape, stop)];
  if (!boundary) return "";
  const { radius, shift, straight_below: below } = boundary;
  if (radius !== null) return say("landscape.arc", { radius: show(radius, 3), below: show(below ?? 0, 3) });
  return shift ? say("landscape.shifted", { shift: show(shift, 3) }) : say("landscape.line");
}

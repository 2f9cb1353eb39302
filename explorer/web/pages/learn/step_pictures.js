// The pictures of a step at one stop of its lever: a matrix of Explore, or a chart.
import { bytes, floats } from "../../kit/base64_arrays.js";
import { cellWords, textsAt } from "../../kit/cell_card.js";
import { themeColour } from "../../kit/colours.js";
import { matrixData } from "../../kit/derivation_step_matrix.js";
import { h as element } from "../../kit/dom.js";
import { Matrix } from "../../kit/matrix_view.js";
import { percent } from "../../kit/number_format.js";
import { axisOver } from "../../kit/plotly.js";
import { Plot } from "../../kit/plotly_component.js";
import { h, hosted } from "../../kit/preact_view.js";
import { onTheme } from "../../kit/theme.js";
import { say } from "../../kit/translated_sentences.js";
import { useMemo } from "../../kit/vendor/preact/hooks.js";

/** @typedef {import("../../wire").Matrix} MatrixPicture */
/** @typedef {import("../../wire").Chart} Chart */
/** @typedef {import("../../kit/cell_card.js").DrawnStep} DrawnStep */

/** @type {Record<import("../../wire").Curve["role"], string>} */
const COLOURS = { first: "side-1", second: "side-2", third: "side-3", faint: "faint" };
const MAX_BAR_LINE_LETTERS = 12; // in a line below a bar
const MARGIN = { l: 52, r: 12, t: 30, b: 44 };
// Pixels of the height that are not for the cells.
const heightAroundCells = () => 330;

/** @param {{ stop: import("../../wire").Stop }} properties */
export const StepPictures = ({ stop }) =>
  h(
    "div.lp-pictures",
    stop.pictures.map((picture, i) => h("curves" in picture ? ChartPicture : MatrixPicture, { key: i, picture })),
  );

/** @param {{ picture: any }} properties a chart */
function ChartPicture({ picture }) {
  const figure = useMemo(() => () => figureOf(picture), [picture]);
  const label = [picture.x, picture.y].map(titleOf).filter(Boolean).join(", ") || say("learn.chart");
  return h(Plot, { figure, label });
}

/** @param {{ picture: any }} properties a matrix */
const MatrixPicture = ({ picture }) => hosted({ make: matrix, update: ({ draw }) => draw(picture) });

/** @param {HTMLElement} root */
function matrix(root) {
  /** @type {DrawnStep | null} */
  let step = null;
  const words = element("p.lp-cell-words");
  /** @type {import("../../kit/matrix_view.js").Options["words"]} */
  const keys = {
    layer: (name) => `facet.${name}`,
    scale: (name) => `legend.${name}`,
    order: (name) => `order.${name}`,
    sorted: "ui.sorted_by",
  };
  const view = new Matrix(
    root,
    {
      layers: [],
      orders: [],
      hasBar: false,
      words: keys,
      around: heightAroundCells,
      speak: (cell) => (step ? cellWords(step, ...cell) : ""),
    },
    (what, value) => {
      if (what === "range") view.update({ state: { range: value } });
      if (what !== "point") return;
      view.update({ state: { cell: value } });
      words.textContent = value && step ? shortWords(step, value) : say("learn.hover");
    },
  );
  root.append(words);

  /** @param {MatrixPicture} picture */
  function draw(picture) {
    const { shown, batch, facet, marked } = picture;
    const arrays = {
      value: floats(shown.value),
      gradient: null,
      weight: shown.weight ? floats(shown.weight) : null,
      mask: shown.mask ? bytes(shown.mask) : null,
      score: new Float32Array(0),
    };
    /** @param {number} pair */
    const numberOf = (pair) => pair + 1;
    const wrong = { pairs: marked, sign: "✗" };
    step = /** @type {DrawnStep} */ (/** @type {unknown} */ ({ shown, arrays, batch, numberOf, marked: wrong }));
    const data = matrixData(step);
    data.rowAxis.factsAt = data.columnAxis.factsAt = () => null;
    data.title = "";
    view.update({ data, state: { layer: facet, range: null } });
    words.textContent = say("learn.hover");
  }
  onTheme(() => view.draw());
  return { draw };
}

/**
 * Both texts of a cell, and its weight.
 * @type {(step: DrawnStep, cell: import("../../kit/heatmap_frame.js").Cell) => string}
 */
function shortWords(step, [row, column]) {
  const { shown, arrays } = step;
  const texts = [...textsAt(step, shown.row_axis, row), ...textsAt(step, shown.column_axis, column)];
  const weight = arrays.weight ? [percent(arrays.weight[row * shown.columns + column])] : [];
  return [...texts.map((text) => `“${text}”`), ...weight].join(" · ");
}

/** @param {import("../../wire").Side} side */
const titleOf = ({ name }) => (name ? say(`learn.axis.${name}`) : "");

/** @param {Chart} chart */
export function figureOf({ curves, x, y, square }) {
  const bars = curves.filter(({ kind }) => kind === "bars");
  /** @param {import("../../wire").Side} side */
  const axis = (side) => ({
    title: { text: titleOf(side) },
    ...axisOver([side.low, side.high], side.logarithmic),
    ...(square ? { visible: false, fixedrange: true } : {}),
  });
  return {
    data: curves.map(traceOf),
    layout: {
      margin: MARGIN,
      height: 360,
      showlegend: curves.some(({ name }) => name),
      legend: { orientation: "h", y: 1.02, yanchor: "bottom", x: 0 },
      xaxis: {
        ...axis(x),
        ...(bars.length
          ? {
              title: { text: "" }, // the names of the bars say what they are
              tickvals: bars.map((one) => one.x[0]),
              ticktext: bars.map((one) => inLines(say(one.texts[0]))),
              tickangle: 0,
            }
          : {}),
      },
      yaxis: { ...axis(y), ...(square ? { scaleanchor: "x", scaleratio: 1 } : {}) },
    },
  };
}

/** @type {(name: string) => string} The name of a bar in lines that stand beside each other on a narrow screen. */
function inLines(name) {
  /** @type {string[]} */
  const lines = [];
  for (const part of name.split(/(?<=[ -]|\p{Script=Han})/u)) {
    const last = lines.at(-1);
    if (last === undefined || widthOf(last + part) > MAX_BAR_LINE_LETTERS) lines.push(part);
    else lines[lines.length - 1] = last + part;
  }
  return lines.join("<br>");
}

/** How many letters a text is wide. @param {string} text */
const widthOf = (text) => text.replace(/\p{Script=Han}/gu, "xx").trimEnd().length;

/** @param {import("../../wire").Curve} curve */
function traceOf({ kind, role, x, y, name }) {
  const color = themeColour(COLOURS[role]);
  const common = {
    x,
    y,
    colour: color,
    cliponaxis: false,
    name: name ? say(name) : "",
    showlegend: Boolean(name),
    hoverinfo: "x+y",
  };
  if (kind === "bars") return { ...common, type: "bar", width: x.map(() => 0.8), marker: { color }, hoverinfo: "y" };
  return kind === "line"
    ? { ...common, type: "scatter", mode: "lines", line: { color, width: 2.5 } }
    : { ...common, type: "scatter", mode: "markers", marker: { color, size: 9, opacity: 0.75 } };
}

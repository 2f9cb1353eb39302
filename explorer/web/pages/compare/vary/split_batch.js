// The same batch processed in another way than in one piece: which comparisons are left, and what the loss and
// its gradient become.
import { bytes } from "../../../kit/base64_arrays.js";
import { CellStage } from "../../../kit/cell_canvas.js";
import { labelOf, letterOf, Named } from "../../../kit/compared_loss_labels.js";
import { Checkbox, Select } from "../../../kit/components.js";
import { show } from "../../../kit/number_format.js";
import { group, h, hosted } from "../../../kit/preact_view.js";
import { panelOf } from "../../../kit/shapes_read_from_drawn_svg.js";
import { Slider } from "../../../kit/slider.js";
import { s } from "../../../kit/svg_drawing.js";
import { isDark } from "../../../kit/theme.js";
import { say } from "../../../kit/translated_sentences.js";
import { useRef, useState } from "../../../kit/vendor/preact/hooks.js";
import { Downloads } from "../downloads.js";
import { ExperimentOptions } from "../folding_section.js";
import { Result, useExperiment } from "./experiment_request.js";
import { LossTable, RefusedCell } from "./loss_table.js";

/** @typedef {import("./experiment_request.js").Side} Side */
/** @typedef {import("../state.js").ComparePage} ComparePage */
/** @typedef {import("../../../wire").SplitBatch} SplitLoss */
/** @typedef {{ place: number, canvas: HTMLCanvasElement, width: number, height: number }} Drawn */

const COLUMNS = ["whole", "this_way", "difference", "gradient_ratio", "cosine", "comparisons"];
const CELL_KINDS = ["felt", "seen", "absent"];
const LARGEST_SIZE = 64; // that the slider reaches
const [MIN_MATRIX_PX, MAX_MATRIX_PX] = [120, 250]; // pixels of a matrix
const ONE_SIDED_GRADIENT = 2;
const EQUAL_TOLERANCE = 1e-10; // as the server has it

/** @param {{ page: ComparePage }} properties */
export function SplitBatch({ page }) {
  const [averaged, setAveraged] = useState(false);
  const { way, size } = page.store.state;
  const canAverage = way === "micro";
  /** @type {import("./experiment_request.js").Experiment<import("../../../wire").ExperimentResults>} */
  const experiment = useExperiment(page, "mechanics", { way, size, average: averaged && canAverage });
  const { answer, sides } = experiment;
  return group(
    h(
      ExperimentOptions,
      { page, kind: "lp-vary-controls" },
      h(Select, {
        name: say("compare.vary.way"),
        inline: true,
        id: "lp-vary-way",
        value: way,
        options: page.store.choices("way").map((name) => [name, say(`compare.vary.way.${name}`)]),
        change: (name) => page.set({ way: name }),
      }),
      h(Slider, {
        entry: { ...page.store.entry("size"), high: LARGEST_SIZE },
        value: size,
        title: "compare.vary.size",
        name: "vary-size",
        change: (value) => page.set({ size: value }),
      }),
      canAverage ? h(Checkbox, { name: say("compare.vary.average"), checked: averaged, change: setAveraged }) : null,
    ),
    h("p.lp-note", say(`compare.vary.way.${way}.about`, { size })),
    h(Result, { experiment }, answer && h(SplitResult, { page, answer, sides })),
  );
}

/**
 * @param {{ page: ComparePage, answer: import("../../../wire").ExperimentResults, sides: Side[] }} properties
 */
function SplitResult({ page, answer, sides }) {
  /** @type {Map<number, Drawn>} */
  const drawn = useRef(new Map()).current;
  const pieces = answer.sides.map(({ found }) => /** @type {SplitLoss | null} */ (found));
  return group(
    h(
      "div.lp-vary-cells",
      pieces.map((one, place) => (one ? h(Matrix, { key: place, sides, place, pieces: one, drawn }) : null)),
    ),
    pieces.some(Boolean) ? h(CellLegend) : null,
    h(LossTable, {
      label: say("compare.vary.mechanics"),
      heads: COLUMNS.map((name) => say(`compare.vary.${name}`)),
      sides,
      cells: (place) => {
        const one = pieces[place];
        if (one) return h(Cells, { pieces: one });
        return h(RefusedCell, { problem: answer.sides[place].problem, columns: COLUMNS.length });
      },
    }),
    h(Downloads, {
      page,
      name: "batch-mechanics",
      figure: () => figureOf(page, [...drawn.values()]),
      csv: () => csvOf(page, pieces, sides),
    }),
  );
}

const CellLegend = () =>
  h(
    "p.lp-vary-key",
    CELL_KINDS.map((name) =>
      h("span", { key: name }, h(`i.lp-cell-${name}`), h("span", say(`compare.vary.cell.${name}`))),
    ),
  );

/** @param {{ pieces: SplitLoss }} properties */
function Cells({ pieces }) {
  const { whole, loss, equal, gradient_ratio, gradient_cosine, average } = pieces;
  const counts = { part: pieces.comparisons, all: pieces.whole_comparisons };
  return group(
    h("td", show(whole)),
    h("td", h("b", show(loss)), average ? h("p.lp-note", averageWords(average)) : null),
    h("td", { class: equal ? "lp-same" : "" }, differenceWords(pieces)),
    h("td", gradient_ratio === null ? "—" : `× ${show(gradient_ratio, 3)}`),
    h("td", show(gradient_cosine, 3)),
    h("td", say("figure.of", counts)),
  );
}

/** @param {SplitLoss} pieces */
function differenceWords({ whole, loss, equal }) {
  if (equal) return say("compare.vary.equal");
  const difference = Number(loss) - Number(whole);
  const isSame = Math.abs(difference) <= EQUAL_TOLERANCE * Math.max(Math.abs(Number(whole)), 1);
  return isSame ? say("compare.vary.equal_value") : `≠ ${show(difference, 3)}`;
}

/** @param {import("../../../wire").AverageOverSplits} average */
function averageWords({ loss, comparisons, drawn: count, exact }) {
  const words = say(exact ? "compare.vary.averaged" : "compare.vary.averaged_drawn", { loss: show(loss), count });
  return comparisons === null
    ? words
    : `${words} ${say("compare.vary.averaged_comparisons", { comparisons: show(comparisons, 3) })}`;
}

/**
 * The comparisons that are left of the batch: full, faint where one side has no gradient, hatched where absent.
 * @param {{ sides: Side[], place: number, pieces: SplitLoss, drawn: Map<number, Drawn> }} properties
 */
function Matrix({ sides, place, pieces, drawn }) {
  const { shape, all, row_axis, column_axis } = pieces;
  const [rows, columns] = shape;
  const axes = say("compare.vary.cells_of", { rows: say(`axis.${row_axis}`), columns: say(`axis.${column_axis}`) });
  const isCut = rows < all[0] || columns < all[1];
  const cut = isCut ? say("ui.cut", { rows, columns, all: `${all[0]} × ${all[1]}` }) : "";
  const key = [pieces, isDark()];
  return h(
    "figure.lp-vary-matrix",
    h("figcaption", h(Named, { sides, place })),
    hosted({
      make: (root) => {
        const stage = new CellStage({ role: "img" });
        root.append(stage.element);
        return { stage, key: /** @type {unknown[]} */ ([]) };
      },
      update: (made) => {
        if (key.some((one, i) => one !== made.key[i])) drawn.set(place, { place, ...drawCells(made.stage, pieces) });
        made.key = key;
        made.stage.canvas.setAttribute("aria-label", `${labelOf(sides, place)}. ${cellsWords(pieces)}`);
      },
    }),
    h("p.lp-note", [axes, cut].filter(Boolean).join(" ")),
  );
}

/**
 * @param {import("../../../kit/cell_canvas.js").CellStage} stage
 * @param {SplitLoss} pieces
 */
function drawCells(stage, { cells, shape: [rows, columns] }) {
  const values = bytes(cells);
  const cell = Math.min(MAX_MATRIX_PX / columns, MAX_MATRIX_PX / rows, 28);
  const [width, height] = [columns, rows].map((count) => Math.round(Math.max(cell * count, MIN_MATRIX_PX)));
  const shades = Array.from(values, (v) => (v === ONE_SIDED_GRADIENT ? 0.42 : v));
  stage.draw(
    { rows, columns, values: shades, least: 0, largest: 1, ramp: "mask", present: values },
    { top: 0, left: 0, rows, columns },
    { width, height, ratio: window.devicePixelRatio || 1 },
  );
  return { canvas: stage.canvas, width, height };
}

/** @param {SplitLoss} pieces */
function cellsWords({ cells, comparisons, whole_comparisons }) {
  const seen = bytes(cells).reduce((count, v) => count + Number(v === ONE_SIDED_GRADIENT), 0);
  return say("compare.vary.cells", { part: comparisons, all: whole_comparisons, seen });
}

/** @type {(page: ComparePage, drawn: Drawn[]) => import("../downloads.js").Figure | null} */
function figureOf(page, drawn) {
  if (!drawn.length) return null;
  const step = Math.max(...drawn.map(({ width }) => width)) + 26;
  const tall = Math.max(...drawn.map(({ height }) => height)) + 24;
  const matrices = drawn.map(({ place, canvas, width, height }, i) =>
    s(
      "g",
      { transform: `translate(${i * step} 0)` },
      s("text", { x: 0, y: 13, "font-size": 13, fill: "var(--lp-ink)" }, letterOf(place)),
      s("image", { x: 0, y: 20, width, height, href: canvas.toDataURL() }),
    ),
  );
  const { way, size } = page.store.state;
  const title = `${say("compare.vary.mechanics")}: ${say(`compare.vary.way.${way}`)}, ${size}`;
  const note = CELL_KINDS.map((one) => say(`compare.vary.cell.${one}.shown`)).join(" ");
  return { panels: [panelOf({ drawn: s("svg", {}, ...matrices), wide: drawn.length * step, tall })], title, note };
}

/** @type {(page: ComparePage, pieces: (SplitLoss | null)[], sides: Side[]) => import("../downloads.js").Rows} */
function csvOf({ store }, pieces, sides) {
  const { way, size } = store.state;
  return [
    ["loss", "way", "size", "whole", "this_way", "equal", "gradient_ratio", "gradient_cosine", "comparisons", "of"],
    ...pieces.flatMap((one, place) => {
      if (!one) return [];
      const gradient = [one.gradient_ratio ?? "", one.gradient_cosine ?? ""];
      const values = [labelOf(sides, place), way, size, one.whole, one.loss, String(one.equal)];
      return [[...values, ...gradient, one.comparisons, one.whole_comparisons]];
    }),
  ];
}

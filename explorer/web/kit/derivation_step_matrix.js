// A step of a trace as one looks at it: its matrix with a card for the cell that is pointed at, or the
// one number that it is. It gets a picture with its batch, wherever these come from.
import { bytes, floats } from "./base64_arrays.js";
import {
  CellCard,
  cellWords,
  isMarkedAt,
  labelAndScore,
  pairsAt,
  signedName,
  substituted,
  textsAt,
} from "./cell_card.js";
import { h } from "./dom.js";
import { tex } from "./formula.js";
import { liveFormula } from "./live_formula.js";
import { Matrix } from "./matrix_view.js";
import { bare, read, show, texNumber } from "./number_format.js";
import { referenceValueScale } from "./reference_value_scale.js";
import { say } from "./translated_sentences.js";

/** @typedef {import("./heatmap_frame.js").Cell} Cell */
/** @typedef {import("./cell_card.js").DrawnStep} DrawnStep */
/** @typedef {import("../wire").View} View */

/**
 * `referenceFormulas` has the formulas of "collapse" and "floor" by their names; `moving`: see `move`.
 * @typedef {{ picture: import("../wire").Looked, batch: import("./cell_card.js").Batch | null,
 *   numberOf: import("./cell_card.js").Numbering, marked?: import("./cell_card.js").Marked, referenceFormulas: { collapse?: string, floor?: string },
 *   moving?: Partial<DrawnStep["arrays"]> | null }} PictureData
 */

/**
 * Cells are named by the items of their row and column, which outlive sorting.
 * @typedef {{ view: Pick<View, "facet" | "order" | "pinned" | "colour_range">,
 *   pointed: import("./types").Pointed, drawn: number }} PictureState
 */

/**
 * What is pointed at, which part of the view is another, which parameter is asked for.
 * @typedef {["point", number[], Cell | null, import("./types").PointedPart | null]
 *   | ["view", Partial<View>] | ["parameter", string]} Emitted
 */

const FACETS = ["value", "mask", "weight", "gradient"];
export const ORDERS = ["label", "score", "entry"];
/** @type {import("./matrix_view.js").Options["words"]} */
const WORDS = {
  layer: (name) => `facet.${name}`,
  scale: (name) => `legend.${name}`,
  order: (name) => `order.${name}`,
  sorted: "ui.sorted_by",
};
/** @typedef {DrawnStep & PictureData} ShownStep */

/** @param {PictureData} step */
const chosenStep = ({ picture }) => picture.steps[picture.chosen];
/** @param {PictureData} step */
const isNumber = (step) => "value" in chosenStep(step);
/** @param {ShownStep} step */
const isEmpty = (step) => !isNumber(step) && step.shown.rows * step.shown.columns === 0;

/**
 * The items that a cell stands for.
 * @type {(step: DrawnStep, place: Cell) => Cell}
 */
const itemsAt = ({ shown }, [row, column]) => [shown.row_axis.items[row], shown.column_axis.items[column]];

/**
 * The cell of these items; null where the step has none.
 * @type {(step: DrawnStep, items: Cell | null) => Cell | null}
 */
function placeOf({ shown }, items) {
  if (!items) return null;
  const row = shown.row_axis.items.indexOf(items[0]);
  const column = shown.column_axis.items.indexOf(items[1]);
  return row < 0 || column < 0 ? null : [row, column];
}

class PictureView {
  /**
   * `beside` is where the card of a cell stands; by default that is below the matrix. `around`, `tools` and
   * `hasBar`: see the matrix.
   * @param {HTMLElement} root
   * @param {{ orderId?: string | null, beside?: HTMLElement | null,
   *   around?: (isPresenting: boolean) => number, tools?: HTMLElement | null, hasBar?: boolean }} options
   * @param {(...event: Emitted) => void} emit
   */
  constructor(root, { orderId = null, beside = null, around, tools = null, hasBar = true }, emit) {
    this.emit = emit;
    /** @type {PictureState} */
    this.state = {
      view: { facet: "value", order: "label", pinned: null, colour_range: null },
      pointed: { pairs: [], cell: null, part: null },
      drawn: 0,
    };
    /** @type {ShownStep | null} */
    this.step = null; // with its arrays unpacked
    // Cells by their items:
    /** @type {Cell | null} */
    this.last = null; // the card stays with the cell last pointed at, so that its formula can be reached
    /** @type {Cell | null} */
    this.heaviest = null; // of the terms that were shown last: what the card begins with
    /** @type {Cell | null} */
    this.cellOfCard = null;
    this.lone = h("div.lp-lone", { hidden: true });
    /** @param {Cell} place */
    const speak = (place) => (this.step ? cellWords(this.step, ...place) : "");
    const options = { layers: FACETS, orders: ORDERS, words: WORDS, orderId, around, tools, hasBar, speak };
    this.cells = new Matrix(root, options, (...event) => this.#hear(...event));
    this.card = new CellCard((...event) => {
      if (event[0] === "lead") this.#lead(event[1]);
      else emit("point", event[1], event[2] ? this.cellOfCard : null, event[2]);
    });
    root.querySelector(".lp-frame")?.after(this.lone);
    if (beside) beside.append(this.card.element);
    else root.querySelector(".lp-spoken")?.before(this.card.element);
  }

  /** @param {import("./matrix_view.js").Emitted} event what was done to the matrix */
  #hear(...[what, value]) {
    const { step } = this;
    if (what === "layer") this.emit("view", { facet: value, colour_range: null });
    else if (what === "range") this.emit("view", { colour_range: value });
    else if (what === "order") this.emit("view", { order: value });
    else if (what === "pick") this.#pick(value);
    else if (value && step) this.emit("point", pairsAt(step.shown, ...value), itemsAt(step, value), null);
    else this.emit("point", [], null, null);
  }

  /** @param {{ data?: PictureData, state?: Partial<PictureState> }} next */
  update(next) {
    if (next.state) this.state = { ...this.state, ...next.state };
    if (next.data) this.#take(next.data);
    else if (this.step) this.#mark(this.step);
  }

  redraw = () => this.cells.draw();

  /** Say it in another language. */
  reword = () => {
    if (this.step) this.#take(this.step);
  };

  /** @param {PictureData} data */
  #take(data) {
    const { shown } = data.picture;
    const arrays = {
      value: floats(shown.value),
      gradient: floats(shown.gradient),
      weight: floats(shown.weight),
      mask: shown.mask ? bytes(shown.mask) : null,
      score: floats(data.picture.pairs.score),
    };
    const step = { ...data, shown, arrays, live: liveFormula(shown) };
    this.step = step;
    if (arrays.weight) this.heaviest = itemsAt(step, heaviestOf(arrays.weight, shown.columns));
    const isSingle = isNumber(step) || isEmpty(step);
    this.lone.hidden = !isSingle;
    this.card.element.hidden = isSingle;
    if (isSingle) {
      this.cells.update({ data: null, state: this.#marked(step) });
      this.#showNumber(step);
    } else {
      this.move(data.moving);
      this.#showCard(step);
    }
  }

  /**
   * Draw these cells in place of the picture's own until the next picture; without, its own.
   * @param {PictureData["moving"]} moving
   */
  move(moving) {
    const { step } = this;
    if (!step) return;
    const arrays = { ...step.arrays, ...moving };
    const data = { ...matrixData({ ...step, arrays }), isMixed: Boolean(moving) };
    this.cells.update({ data, state: this.#marked(step) });
  }

  /**
   * A cell pointed at gets a frame; pairs pointed at elsewhere get their row and column.
   * @type {(step: DrawnStep) => import("./matrix_view.js").MatrixState}
   */
  #marked(step) {
    const { pointed, view, drawn } = this.state;
    const { cell, pairs, part } = pointed;
    const { shown } = step;
    const at = placeOf(step, cell);
    const isKnown = !at && pairs.length > 0;
    return {
      layer: view.facet,
      order: view.order,
      range: view.colour_range,
      drawn,
      cell: at,
      pinned: placeOf(step, view.pinned),
      resting: this.#resting(step),
      row: isKnown ? shown.row_axis.pairs.indexOf(pairs[0]) : -1,
      column: isKnown ? shown.column_axis.pairs.indexOf(pairs[pairs.length - 1]) : -1,
      strong: part?.at ?? null,
    };
  }

  /** @param {DrawnStep} step */
  #mark(step) {
    this.cells.update({ state: this.#marked(step) });
    if (!this.card.element.hidden) this.#showCard(step);
  }

  /** @param {Cell | null} place */
  #pick(place) {
    const items = this.step && place && itemsAt(this.step, place);
    const isPinned = String(this.state.view.pinned) === String(items);
    this.emit("view", { pinned: isPinned ? null : items });
  }

  // ---- The card ------------------------------------------------------------------------------

  /**
   * The cell that the card tells of while none is pointed at: the pinned one, the one before, the heaviest.
   * @param {DrawnStep} step
   */
  #resting(step) {
    const cells = [this.state.view.pinned, this.last, this.heaviest];
    return cells.map((items) => placeOf(step, items)).find((place) => place !== null) ?? null;
  }

  /** @param {DrawnStep} step */
  #showCard(step) {
    const { pointed, view } = this.state;
    if (pointed.cell) this.last = pointed.cell;
    const at = step.batch ? (placeOf(step, pointed.cell) ?? this.#resting(step)) : null;
    this.cellOfCard = at && itemsAt(step, at);
    const now = String(this.cellOfCard);
    const mark = now === String(view.pinned) ? "pinned" : now === String(this.heaviest) ? "heaviest" : "";
    this.card.showCell(step, at, mark);
  }

  /** @type {(of: string) => void} Go to the step that a part of the formula came from, or to its parameter. */
  #lead(of) {
    if (!this.step) return;
    const { steps, chosen } = this.step.picture;
    const from = steps.slice(0, chosen).findLastIndex((one) => one.name === of);
    if (from >= 0) this.emit("view", { step: from, colour_range: null });
    else this.emit("parameter", of);
  }

  // ---- A step that is one number: large, with its formula; the loss with its reference values -------

  /** @param {ShownStep} step */
  #showNumber(step) {
    this.cellOfCard = null;
    const { name, latex, source, value = NaN } = chosenStep(step);
    const { shown, arrays, picture } = step;
    const formula = h("div.lp-live");
    if (latex) tex(formula, latex, true);
    else formula.append(h("code", source || name));
    if (isEmpty(step)) {
      // A batch without triplets, say.
      const count = { rows: shown.all_rows, columns: shown.all_columns };
      this.lone.replaceChildren(formula, h("p.lp-note", say("ui.empty_step", count)));
      return;
    }
    /** @type {HTMLElement[]} */
    const parts = [formula];
    if (shown.live) {
      const put = h("div.lp-live.lp-put");
      tex(put, `${substituted(step, 0, 0)} = ${bare(texNumber(value))}`, true);
      this.card.wire(step, put, 0, 0);
      parts.push(put);
    }
    parts.push(h("strong", show(value, 6)));
    if (picture.chosen === picture.steps.length - 1) parts.push(...referenceValuesOf(step));
    else if (arrays.gradient)
      parts.push(h("p.lp-note", say("ui.gradient_at_step", { step: name, value: show(arrays.gradient[0]) })));
    this.lone.replaceChildren(...parts);
  }
}

/** @type {(...given: ConstructorParameters<typeof PictureView>) => PictureView} */
export const pictureView = (...given) => new PictureView(...given);

/**
 * The loss on a scale with its reference values, and how each of them follows.
 * @param {ShownStep} step
 */
function referenceValuesOf({ referenceFormulas, picture: { figures } }) {
  const lines = /** @type {const} */ (["collapse", "floor"]).flatMap((name) => {
    const height = read(figures[name]);
    if (height === null || !Number.isFinite(height)) return [];
    const line = h("span");
    tex(line, `${referenceFormulas[name]} = ${bare(texNumber(height))}`);
    return [h(`p.lp-reference-value.lp-${name}`, say(`ui.${name}_is`), " ", line)];
  });
  return [h("div.lp-marks", referenceValueScale(figures)), ...lines];
}

/**
 * A step as the data of a matrix.
 * @type {(step: Pick<DrawnStep, "shown" | "arrays" | "batch" | "numberOf" | "marked">) => import("./matrix_view.js").MatrixData}
 */
export function matrixData(step) {
  const { shown, arrays, batch } = step;
  const { name, latex } = shown;
  const kind = shown.boolean ? "mask" : "number";
  const of = shown.boolean ? "mask" : undefined;
  /** @type {(side: import("../wire").Axis, count: number, isShown: boolean) => import("./matrix_view.js").Side} */
  const axis = (side, count, isShown) => ({
    title: side.name && isShown ? say("ui.axis", { what: say(`axis.${side.name}`), count }) : "",
    names: side.items.map((_, i) => signedName(step, side, i)),
    isMarked: (place) => isMarkedAt(step, side, place),
    textsAt: (place) => textsAt(step, side, place),
    factsAt: (place) => labelAndScore(step, side, place),
  });
  /**
   * @param {ArrayLike<number> | null} values
   * @param {Partial<import("./heatmap_frame.js").Layer>} look
   * @returns {import("./heatmap_frame.js").Layer | null}
   */
  const layer = (values, look) => values && { values, kind, of, ...look };
  return {
    key: batch?.key,
    pictures: batch?.pictures,
    rows: shown.rows,
    columns: shown.columns,
    all: [shown.all_rows, shown.all_columns],
    name,
    title: latex || `\\texttt{${name.replace(/_/g, "\\_")}}`,
    layers: {
      value: layer(arrays.value, { centred: shown.signed && !shown.boolean }),
      mask: layer(arrays.mask, { kind: "mask" }),
      weight: layer(arrays.weight, { kind: shown.boolean ? "mask" : "weight" }),
      gradient: layer(arrays.gradient, { centred: !shown.boolean }),
    },
    present: shown.hatched && !shown.boolean ? arrays.mask : null,
    rowAxis: axis(shown.row_axis, shown.all_rows, shown.rows > 1),
    columnAxis: axis(shown.column_axis, shown.all_columns, true),
  };
}

/** @type {(weights: Float32Array, columns: number) => Cell} Row and column of the largest weight. */
function heaviestOf(weights, columns) {
  let at = 0;
  for (let i = 1; i < weights.length; i += 1) if (weights[i] > weights[at] || Number.isNaN(weights[at])) at = i;
  return [Math.floor(at / columns), at % columns];
}

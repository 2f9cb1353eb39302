// A step of a trace as one looks at it: its matrix with a card for the cell that is pointed at, or the
// one number that it is. It gets a picture with its batch, wherever these come from.
import { bytes, floats } from "./arrays.js";
import { cellCard, cellWords, labelAndScore, nameAt, pairsAt, substituted, textsAt } from "./card.js";
import { h } from "./dom.js";
import { tex } from "./formula.js";
import { liveFormula } from "./live.js";
import { matrix } from "./matrix.js";
import { bare, read, show, texNumber } from "./numbers.js";
import { landmarkScale } from "./scale.js";
import { say } from "./words.js";

/** @typedef {import("./frame.js").Cell} Cell */
/** @typedef {import("./card.js").DrawnStep} DrawnStep */
/** @typedef {import("../wire").View} View */

/**
 * `landmarks` has the formulas of "collapse" and "floor" by their names.
 * @typedef {{ picture: import("../wire").Looked, batch: import("./card.js").Batch | null,
 *   numberOf: import("./card.js").Numbering, landmarks: { collapse?: string, floor?: string } }} PictureData
 */

/**
 * Cells are named by the items of their row and column, which outlive sorting.
 * @typedef {{ view: Pick<View, "facet" | "order" | "pinned">,
 *   pointed: import("./types").Pointed, drawn: number }} PictureState
 */

/**
 * What is pointed at, which part of the view is another, which parameter is asked for.
 * @typedef {["point", number[], Cell | null, import("./types").PointedPart | null]
 *   | ["view", Partial<View>] | ["parameter", string]} Told
 */

const FACETS = ["value", "mask", "weight", "gradient"];
const ORDERS = ["label", "score", "entry"];
/** @type {Parameters<typeof matrix>[1]["words"]} */
const WORDS = {
  layer: (name) => `facet.${name}`,
  scale: (name) => `legend.${name}`,
  order: (name) => `order.${name}`,
  sorted: "ui.sorted_by",
};
/**
 * @param {HTMLElement} root
 * `beside` is where the card of a cell stands; by default that is below the matrix. `around` and `tools`: see `matrix`.
 * @param {{ orderId?: string | null, beside?: HTMLElement | null,
 *   around?: (isPresenting: boolean) => number, tools?: HTMLElement | null }} options
 * @param {(...told: Told) => void} emit
 */
export function pictureView(root, { orderId = null, beside = null, around, tools = null }, emit) {
  const lone = h("div.lp-lone", { hidden: true });
  /** @param {Cell} place */
  const speak = (place) => (step ? cellWords(step, ...place) : "");
  const options = { layers: FACETS, orders: ORDERS, words: WORDS, orderId, around, tools, speak };
  const cells = matrix(root, options, (what, value) => {
    if (what === "layer") emit("view", { facet: value });
    else if (what === "order") emit("view", { order: value });
    else if (what === "pick") pick(value);
    else if (value && step) emit("point", pairsAt(step.shown, ...value), itemsAt(step, value), null);
    else emit("point", [], null, null);
  });
  const card = cellCard((...told) => {
    if (told[0] === "lead") lead(told[1]);
    else emit("point", told[1], told[2] ? cellOfCard : null, told[2]);
  });
  root.querySelector(".lp-frame")?.after(lone);
  if (beside) beside.append(card.element);
  else root.querySelector(".lp-spoken")?.before(card.element);

  /** @type {PictureState} */
  let state = {
    view: { facet: "value", order: "label", pinned: null },
    pointed: { pairs: [], cell: null, part: null },
    drawn: 0,
  };
  /** @type {(DrawnStep & PictureData) | null} */
  let step = null; // the step that is shown, with its arrays unpacked
  /** @type {Cell | null} */
  let last = null; // the card stays with the cell last pointed at, so that its formula can be reached
  /** @type {Cell | null} */
  let heaviest = null; // of the terms that were shown last: what the card begins with
  /** @type {Cell | null} */
  let cellOfCard = null;

  // A cell as the items it stands for, and back to its place.
  /** @type {(step: DrawnStep, place: Cell) => Cell} */
  const itemsAt = ({ shown }, [row, column]) => [shown.row_axis.items[row], shown.column_axis.items[column]];
  /**
   * @param {DrawnStep} step
   * @param {Cell | null} items
   * @returns {Cell | null}
   */
  function placeOf(step, items) {
    if (!items) return null;
    const row = step.shown.row_axis.items.indexOf(items[0]);
    const column = step.shown.column_axis.items.indexOf(items[1]);
    return row < 0 || column < 0 ? null : [row, column];
  }

  /** @param {{ data?: PictureData, state?: Partial<PictureState> }} next */
  function update(next) {
    if (next.state) state = { ...state, ...next.state };
    if (next.data) take(next.data);
    else if (step) mark(step);
  }

  /** @param {PictureData} data */
  function take(data) {
    const { shown } = data.picture;
    const arrays = {
      value: floats(shown.value),
      gradient: floats(shown.gradient),
      weight: floats(shown.weight),
      mask: shown.mask ? bytes(shown.mask) : null,
      score: floats(data.picture.pairs.score),
    };
    step = { ...data, shown, arrays, live: liveFormula(shown) };
    if (arrays.weight) heaviest = itemsAt(step, heaviestOf(arrays.weight, shown.columns));
    const single = isNumber(step) || isEmpty(step);
    lone.hidden = !single;
    card.element.hidden = single;
    cells.update({ data: single ? null : cellsOf(step), state: marked(step) });
    if (single) showNumber(step);
    else showCard(step);
  }

  /** @param {PictureData} step */
  const stepShown = ({ picture }) => picture.steps[picture.chosen];
  /** @param {PictureData} step */
  const isNumber = (step) => "value" in stepShown(step);
  /** @param {DrawnStep & PictureData} step */
  const isEmpty = (step) => !isNumber(step) && step.shown.rows * step.shown.columns === 0;

  // ---- The matrix ----------------------------------------------------------------------------

  /**
   * @param {DrawnStep & PictureData} step
   * @returns {import("./matrix.js").MatrixData}
   */
  function cellsOf(step) {
    const { shown, arrays, batch } = step;
    const { name, latex } = stepShown(step);
    const kind = shown.boolean ? "mask" : "number";
    const of = shown.boolean ? "mask" : undefined;
    /** @type {(side: import("../wire").Axis, count: number, isShown: boolean) => import("./matrix.js").Side} */
    const axis = (side, count, isShown) => ({
      title: side.name && isShown ? say("ui.axis", { what: say(`axis.${side.name}`), count }) : "",
      names: side.items.map((_, i) => nameAt(step, side, i)),
      textsAt: (place) => textsAt(step, side, place),
      factsAt: (place) => labelAndScore(step, side, place),
    });
    /**
     * @param {ArrayLike<number> | null} values
     * @param {Partial<import("./frame.js").Layer>} look
     * @returns {import("./frame.js").Layer | null}
     */
    const layer = (values, look) => values && { values, kind, of, ...look };
    return {
      key: batch?.key,
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

  /**
   * A cell pointed at gets a frame; pairs pointed at elsewhere get their row and column.
   * @param {DrawnStep} step
   * @returns {import("./matrix.js").MatrixState}
   */
  function marked(step) {
    const { cell, pairs, part } = state.pointed;
    const { shown } = step;
    const at = placeOf(step, cell);
    const known = !at && pairs.length > 0;
    return {
      layer: state.view.facet,
      order: state.view.order,
      drawn: state.drawn,
      cell: at,
      pinned: placeOf(step, state.view.pinned),
      resting: resting(step),
      row: known ? shown.row_axis.pairs.indexOf(pairs[0]) : -1,
      column: known ? shown.column_axis.pairs.indexOf(pairs[pairs.length - 1]) : -1,
      strong: part?.at ?? null,
    };
  }

  /** @param {DrawnStep} step */
  function mark(step) {
    cells.update({ state: marked(step) });
    if (!card.element.hidden) showCard(step);
  }

  /** @param {Cell | null} place */
  function pick(place) {
    const items = step && place && itemsAt(step, place);
    const same = String(state.view.pinned) === String(items);
    emit("view", { pinned: same ? null : items });
  }

  // ---- The card ------------------------------------------------------------------------------

  /**
   * The cell that the card tells of while none is pointed at: the pinned one, the one before, the heaviest.
   * @param {DrawnStep} step
   */
  const resting = (step) =>
    [state.view.pinned, last, heaviest].map((items) => placeOf(step, items)).find((place) => place !== null) ?? null;

  /** @param {DrawnStep} step */
  function showCard(step) {
    if (state.pointed.cell) last = state.pointed.cell;
    const at = step.batch ? (placeOf(step, state.pointed.cell) ?? resting(step)) : null;
    cellOfCard = at && itemsAt(step, at);
    const now = String(cellOfCard);
    const mark = now === String(state.view.pinned) ? "pinned" : now === String(heaviest) ? "heaviest" : "";
    card.tell(step, at, mark);
  }

  /** @param {string} of */
  function lead(of) {
    if (!step) return;
    const { steps, chosen } = step.picture;
    const from = steps.slice(0, chosen).findLastIndex((one) => one.name === of);
    if (from >= 0) emit("view", { step: from });
    else emit("parameter", of);
  }

  // ---- A step that is one number: large, with its formula; the loss with its landmarks -------

  /** @param {DrawnStep & PictureData} step */
  function showNumber(step) {
    cellOfCard = null;
    const { name, latex, source, value = NaN } = stepShown(step);
    const { shown, arrays, landmarks, picture } = step;
    const { figures, steps, chosen } = picture;
    const formula = h("div.lp-live");
    if (latex) tex(formula, latex, true);
    else formula.append(h("code", {}, source || name));
    if (isEmpty(step)) {
      // A batch without triplets, say.
      const count = { rows: shown.all_rows, columns: shown.all_columns };
      lone.replaceChildren(formula, h("p.lp-note", {}, say("ui.empty_step", count)));
      return;
    }
    const told = [formula, h("strong", {}, show(value, 6))];
    if (shown.live) {
      const put = h("div.lp-live.lp-put");
      tex(put, `${substituted(step, 0, 0)} = ${bare(texNumber(value))}`, true);
      card.wire(step, put, 0, 0);
      told.splice(1, 0, put);
    }
    if (chosen === steps.length - 1) {
      told.push(h("div.lp-marks", {}, landmarkScale(figures)));
      for (const landmark of /** @type {const} */ (["collapse", "floor"])) {
        const height = read(figures[landmark]);
        if (height === null || !Number.isFinite(height)) continue;
        const line = h("span");
        tex(line, `${landmarks[landmark]} = ${bare(texNumber(height))}`);
        told.push(h(`p.lp-landmark.lp-${landmark}`, {}, say(`ui.${landmark}_is`), " ", line));
      }
    } else if (arrays.gradient) {
      const put = { step: name, value: show(arrays.gradient[0]) };
      told.push(h("p.lp-note", {}, say("ui.gradient_at_step", put)));
    }
    lone.replaceChildren(...told);
  }

  return {
    update,
    redraw: () => cells.draw(),
    // The words follow the language.
    reword: () => {
      if (step) take(step);
    },
  };
}

/**
 * Row and column of the largest weight.
 * @param {Float32Array} weights
 * @param {number} columns
 * @returns {Cell}
 */
function heaviestOf(weights, columns) {
  let at = 0;
  for (let i = 1; i < weights.length; i += 1) if (weights[i] > weights[at] || Number.isNaN(weights[at])) at = i;
  return [Math.floor(at / columns), at % columns];
}

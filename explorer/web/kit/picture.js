// A step of a trace as one looks at it: its matrix with a card for the cell that is pointed at, or the
// one number that it is. It gets a picture with its batch, wherever these come from.
//
// data: { picture, batch, numberOf, landmarks: formulas of "collapse" and "floor" by their names }.
// state: { view: { facet, order, pinned }, pointed: { pairs, cell, part }, drawn }; cells are named by
// the items of their row and column, which outlive sorting.
// emit: ("point", pairs, cell, part), ("view", change), ("parameter", name).
import { bytes, floats } from "./arrays.js";
import { cellCard, nameAt, pairsAt, substituted } from "./card.js";
import { h } from "./dom.js";
import { tex } from "./formula.js";
import { liveFormula } from "./live.js";
import { matrix } from "./matrix.js";
import { read, show, texNumber } from "./numbers.js";
import { landmarkScale } from "./scale.js";
import { say } from "./words.js";

const FACETS = ["value", "mask", "weight", "gradient"];
const ORDERS = ["label", "score", "entry"];
const WORDS = {
  layer: (name) => `facet.${name}`,
  scale: (name) => `legend.${name}`,
  order: (name) => `order.${name}`,
  sorted: "ui.sorted_by",
};
const bare = (number) => number.replace(/^\((.*)\)$/, "$1");

export function pictureView(root, { orderId = null } = {}, emit) {
  const lone = h("div.lp-lone", { hidden: true });
  const cells = matrix(root, { layers: FACETS, orders: ORDERS, words: WORDS, orderId }, (what, value) => {
    if (what === "layer") emit("view", { facet: value });
    else if (what === "order") emit("view", { order: value });
    else if (what === "pick") pick(value);
    else if (value) emit("point", pairsAt(step.shown, ...value), itemsAt(...value), null);
    else emit("point", [], null, null);
  });
  const card = cellCard((what, ...told) => {
    if (what === "lead") lead(...told);
    else emit("point", told[0], told[1] ? cellOfCard : null, told[1]);
  });
  root.querySelector(".lp-frame").after(lone);
  root.querySelector(".lp-spoken").before(card.element);

  let data = null;
  let state = { view: {}, pointed: { pairs: [], cell: null, part: null }, drawn: 0 };
  let step = null; // the step that is shown, with its arrays unpacked
  let last = null; // the card stays with the cell last pointed at, so that its formula can be reached
  let cellOfCard = null;

  // A cell as the items it stands for, and back to its place.
  const itemsAt = (row, column) => [step.shown.row_axis.items[row], step.shown.column_axis.items[column]];
  function placeOf(items) {
    if (!items) return null;
    const row = step.shown.row_axis.items.indexOf(items[0]);
    const column = step.shown.column_axis.items.indexOf(items[1]);
    return row < 0 || column < 0 ? null : [row, column];
  }

  function update(next) {
    if (next.state) state = { ...state, ...next.state };
    if (next.data) take(next.data);
    else if (step) mark();
  }

  function take(next) {
    data = next;
    const { shown } = data.picture;
    const arrays = {
      value: floats(shown.value),
      gradient: floats(shown.gradient),
      weight: floats(shown.weight),
      mask: shown.mask ? bytes(shown.mask) : null,
    };
    step = { ...data, shown, arrays, live: liveFormula(shown) };
    const single = isNumber() || isEmpty();
    lone.hidden = !single;
    card.element.hidden = single;
    cells.update({ data: single ? null : cellsOf(), state: marked() });
    if (single) showNumber();
    else showCard();
  }

  const stepShown = () => data.picture.steps[data.picture.chosen];
  const isNumber = () => "value" in stepShown();
  const isEmpty = () => !isNumber() && step.shown.rows * step.shown.columns === 0;

  // ---- The matrix ----------------------------------------------------------------------------

  function cellsOf() {
    const { shown, arrays, batch } = step;
    const { name, latex } = stepShown();
    const kind = shown.boolean ? "mask" : "number";
    const of = shown.boolean ? "mask" : undefined;
    const axis = (side, count, isShown) => ({
      title: side.name && isShown ? say("ui.axis", { what: say(`axis.${side.name}`), count }) : "",
      names: side.items.map((_, i) => nameAt(step, side, i)),
      sentences: side.items.map((_, i) => sentenceAt(side, i)),
    });
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
        weight: layer(arrays.weight, { kind: shown.boolean ? "mask" : "share" }),
        gradient: layer(arrays.gradient, { centred: !shown.boolean }),
      },
      present: shown.hatched && !shown.boolean ? arrays.mask : null,
      rowAxis: axis(shown.row_axis, shown.all_rows, shown.rows > 1),
      columnAxis: axis(shown.column_axis, shown.all_columns, true),
    };
  }

  function sentenceAt({ sentences, pairs }, place) {
    const { batch } = step;
    return (sentences[place] >= 0 ? batch?.sentences[sentences[place]] : batch?.first[pairs[place]]) ?? "";
  }

  // A cell pointed at gets a frame; pairs pointed at elsewhere get their row and column.
  function marked() {
    const { cell, pairs, part } = state.pointed;
    const { shown } = step;
    const at = placeOf(cell);
    const known = !at && pairs.length > 0;
    return {
      layer: state.view.facet,
      order: state.view.order,
      drawn: state.drawn,
      cell: at,
      pinned: placeOf(state.view.pinned),
      row: known ? shown.row_axis.pairs.indexOf(pairs[0]) : -1,
      column: known ? shown.column_axis.pairs.indexOf(pairs.at(-1)) : -1,
      strong: part?.at ?? null,
    };
  }

  function mark() {
    cells.update({ state: marked() });
    if (!card.element.hidden) showCard();
  }

  function pick(place) {
    const items = place && itemsAt(...place);
    const same = String(state.view.pinned) === String(items);
    emit("view", { pinned: same ? null : items });
  }

  // ---- The card ------------------------------------------------------------------------------

  function showCard() {
    if (state.pointed.cell) last = state.pointed.cell;
    const { pinned } = state.view;
    cellOfCard = state.pointed.cell ?? pinned ?? last;
    const at = step.batch ? placeOf(cellOfCard) : null;
    card.tell(step, at, Boolean(at) && String(cellOfCard) === String(pinned));
  }

  function lead(of) {
    const { steps, chosen } = data.picture;
    const from = steps.slice(0, chosen).findLastIndex((one) => one.name === of);
    if (from >= 0) emit("view", { step: from });
    else emit("parameter", of);
  }

  // ---- A step that is one number: large, with its formula; the loss with its landmarks -------

  function showNumber() {
    cellOfCard = null;
    const { name, latex, source, value } = stepShown();
    const { figures, steps, chosen } = data.picture;
    const { shown, arrays } = step;
    const formula = h("div.lp-live");
    if (latex) tex(formula, latex, true);
    else formula.append(h("code", {}, source || name));
    if (isEmpty()) {
      // A batch without triplets, say.
      const count = { rows: shown.all_rows, columns: shown.all_columns };
      lone.replaceChildren(formula, h("p.lp-note", {}, say("ui.empty_step", count)));
      return;
    }
    const told = [formula, h("strong", {}, show(value, 6))];
    if (shown.live) {
      const put = h("div.lp-live.lp-put");
      tex(put, `${substituted(step, 0, 0)} = ${bare(texNumber(value))}`, true);
      card.wire(step, put);
      told.splice(1, 0, put);
    }
    if (chosen === steps.length - 1) {
      told.push(h("div.lp-marks", {}, landmarkScale(figures)));
      for (const landmark of ["collapse", "floor"]) {
        const height = read(figures[landmark]);
        if (!Number.isFinite(height)) continue;
        const line = h("span");
        tex(line, `${data.landmarks[landmark]} = ${bare(texNumber(height))}`);
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
      if (data) take(data);
    },
  };
}

// A matrix, cell by cell: layers to choose from, what its rows and columns are called, a scale, a part
// to look at closely, and the same as a table. It gets plain arrays and tells what was pointed at or
// chosen; it knows neither a loss nor a server, and several may stand beside each other.
import { rangeOf } from "./cells.js";
import { asTable, h, roomOf, setText, worded } from "./dom.js";
import { tex } from "./formula.js";
import { cellFrame } from "./frame.js";
import { percent, show } from "./numbers.js";
import { has, language, say } from "./words.js";

/** @typedef {import("./frame.js").Cell} Cell */
/**
 * What the rows or columns are called: numbers, the one or two texts of each, and the label and score of its pair.
 * @typedef {{ title: string, names: (number | string)[], textsAt: (place: number) => string[],
 *   factsAt: (place: number) => [number, number] | null }} Side
 */

/**
 * What is drawn; `all` may be more rows and columns than there are here, and `present` is 0 where a
 * cell takes no part.
 * @typedef {object} MatrixData
 * @property {string} [key] of what the names belong to
 * @property {number} rows
 * @property {number} columns
 * @property {[number, number]} all
 * @property {string} title LaTeX
 * @property {string} name
 * @property {Record<string, import("./frame.js").Layer | null>} layers
 * @property {ArrayLike<number> | null} present
 * @property {Side} rowAxis
 * @property {Side} columnAxis
 */

/**
 * Cells and sides are places in the matrix as it lies.
 * `resting` is marked as the pinned one is, while none is pinned.
 * @typedef {import("./frame.js").Marked & { layer?: string, order?: string, drawn?: number,
 *   resting?: Cell | null }} MatrixState
 */

/** @typedef {["layer", string] | ["order", string] | ["point", Cell | null] | ["pick", Cell | null]} Told */

const MOST_IN_TABLE = 40;
const WIDEST = 560;
const MOST_WORDED = 32; // rows that have their texts beside them
const WORDS_FROM = 560; // pixels of room that this takes
const LEAST_WORDS = 264; // pixels of the texts
const LEAST_CELL = 10; // pixels of a row that has its texts beside it
const LEAST_TALL = 150; // pixels of the cells
// Pixels of the screen's height that are not for the cells; on a projector the bar stands above.
const AROUND = (/** @type {boolean} */ isPresenting) => (isPresenting ? 325 : 260);
let count = 0; // of the matrices of a page

/**
 * @param {HTMLElement} root
 * @param {object} options
 * @param {string[]} options.layers
 * @param {string[]} options.orders
 * @param {{ layer: (name: string) => string, scale: (name: string) => string,
 *   order: (name: string) => string, sorted: string }} options.words the keys of what they are called
 * @param {string | null} [options.orderId]
 * @param {(isPresenting: boolean) => number} [options.around] see AROUND
 * @param {HTMLElement | null} [options.tools] stand at the end of the line with the title
 * @param {(cell: Cell) => string} options.speak what a screen reader says of a cell that is walked to
 * @param {(...told: Told) => void} emit
 */
export function matrix(root, { layers, orders, words, orderId = null, around = AROUND, tools = null, speak }, emit) {
  // ---- Furniture ---------------------------------------------------------------------------

  const order = h(
    "select",
    { id: orderId, onchange: () => emit("order", order.value) },
    orders.map((name) => worded("option", words.order(name), { value: name })),
  );
  const sorting = h("label.lp-inline", {}, worded("span", words.sorted), order);
  // The colours of numbers follow their own range, or keep the one that they had when this was checked.
  const keeps = h("input", { type: "checkbox", onchange: () => draw() });
  const keeping = h("label.lp-check", {}, keeps, worded("span", "ui.keep_range"));
  const title = h("span.lp-formula");
  const measure = h("span");
  const meaning = h("span.lp-tip", { role: "tooltip", id: `lp-tip-matrix-${++count}` });
  const measured = h("div.lp-measured", { "aria-describedby": meaning.id }, measure, meaning);
  /** @type {(kind: string, key: string) => HTMLElement} */
  const swatch = (kind, key) => h("div.lp-swatch", { hidden: true }, h(`i.lp-swatch-${kind}`), worded("span", key));
  const swatches = {
    masked: swatch("masked", "figure_text.masked"),
    broken: swatch("broken", "legend.broken"),
  };
  const note = h("p.lp-note", { hidden: true });
  const spoken = h("div.lp-spoken", { "aria-live": "polite" });
  const whole = worded("button.lp-button", "ui.whole_matrix", {
    type: "button",
    hidden: true,
    onclick: () => zoom(null),
  });
  const table = h("div.lp-scroll.lp-cells", { hidden: true, tabIndex: 0 });
  const unfolded = asTable("button.lp-button", table, () => data && fillTable(data));
  const head = h("div.lp-title", {}, title, h("span.lp-fill"), whole, tools);

  // A click pins; a drag chooses the part to look at; the wheel goes nearer or back.
  const frame = cellFrame({
    layers,
    called: words.layer,
    choose: (layer) => emit("layer", layer),
    stage: { role: "img", pins: true },
    scale: (bar) => h("div.lp-legend-side", {}, measured, bar, Object.values(swatches), keeping, unfolded.button),
    hand: {
      view: () => (data ? seen : null),
      hover: (cell) => emit("point", cell),
      pick: (cell) => emit("pick", cell),
      choose: zoom,
      pinched: ({ left, right, top, bottom }) => {
        grid.settle();
        zoom({
          top: Math.round(seen.top + top * seen.rows),
          rows: Math.round((bottom - top) * seen.rows),
          left: Math.round(seen.left + left * seen.columns),
          columns: Math.round((right - left) * seen.columns),
        });
      },
      turned: (at, nearer) => {
        const factor = nearer ? 0.8 : 1.25;
        const [rows, columns] = [Math.round(seen.rows * factor), Math.round(seen.columns * factor)];
        const share = [(at[0] - seen.top) / seen.rows, (at[1] - seen.left) / seen.columns];
        const [top, left] = [Math.round(at[0] - share[0] * rows), Math.round(at[1] - share[1] * columns)];
        zoom({ top, left, rows, columns });
      },
    },
  });
  const { canvas, grid, tabList } = frame;
  root.append(h("div.lp-bar", {}, tabList, sorting), head, frame.element, note, table, spoken);
  const room = roomOf(frame.element, draw);

  // ---- What is shown -----------------------------------------------------------------------

  /** @type {MatrixData | null} */
  let data = null;
  /** @type {MatrixState} */
  let state = {};
  /** @type {{ of: string, range: [number, number] }} */
  let held = { of: "", range: [0, 0] };
  let drawnAs = { step: "", shape: "", masked: false }; // what the picture before showed
  // The part of the matrix in view, in cells.
  let seen = { shape: "", top: 0, left: 0, rows: 1, columns: 1 };

  /** @param {MatrixData} of */
  const layerNow = (of) => (state.layer && of.layers[state.layer] ? state.layer : layers[0]);
  /** @param {MatrixData} of */
  const shownOf = (of) => /** @type {import("./frame.js").Layer} */ (of.layers[layerNow(of)]);

  /** @param {{ data?: MatrixData | null, state?: MatrixState }} next */
  function update(next) {
    if (next.state) state = { ...state, ...next.state };
    if (next.data !== undefined) take(next.data);
    else if (data) mark();
    order.value = state.order ?? "";
  }

  /** @param {MatrixData | null} next */
  function take(next) {
    data = next;
    for (const part of [head, frame.element, sorting, tabList]) part.hidden = !data;
    canvas.dataset.drawn = String(state.drawn ?? 0);
    if (!data) {
      note.hidden = true;
      unfolded.close();
      return;
    }
    const shape = `${data.rows}×${data.columns}`;
    if (shape !== seen.shape) seen = { shape, top: 0, left: 0, rows: data.rows, columns: data.columns };
    draw();
    describe(data);
  }

  // ---- Drawing -----------------------------------------------------------------------------

  // A vector is a strip; a matrix is square in the cell, as far as the room goes. What stands below it
  // stays on the screen, also on a projector's.
  /**
   * @param {boolean} worded
   * @param {boolean} narrow
   */
  function sizeFor(worded, narrow) {
    const { rows, columns } = seen;
    const { width: across, magnified } = room;
    const beside = worded ? LEAST_WORDS + 120 : narrow ? 72 : 160;
    const wide = Math.max(160, Math.min(WIDEST, across - beside));
    const tallest = Math.max(LEAST_TALL, Math.min(WIDEST, window.innerHeight / magnified - around(magnified > 1)));
    const cell = Math.min(wide / columns, tallest / rows, rows === 1 ? 40 : 64);
    const tall = rows === 1 ? 40 : Math.max(48, Math.min(tallest, cell * rows));
    const broad = rows === 1 ? wide : Math.max(48, Math.min(wide, cell * columns));
    return {
      width: Math.round(broad),
      height: Math.round(tall),
      ratio: (window.devicePixelRatio || 1) * magnified,
    };
  }

  function draw() {
    if (!data || !room.width) return;
    const { rows, columns, layers: known } = data;
    const narrow = room.width < 480;
    root.classList.toggle("lp-narrow", narrow);
    const mayBeWorded = seen.rows > 1 && seen.rows <= MOST_WORDED && room.width >= WORDS_FROM && hasTexts(data.rowAxis);
    const size = sizeFor(mayBeWorded, narrow);
    const worded = mayBeWorded && size.height / seen.rows >= LEAST_CELL;
    const layer = shownOf(data);
    const present = layer.kind === "mask" ? null : data.present;
    leadOver(data, present !== null);
    const range = rangeKept(data, layer);
    const found = frame.draw({ rows, columns, layer, present, view: seen, size, range, write: scaleOf(layer) });
    swatches.masked.hidden = !found.masked;
    swatches.broken.hidden = !found.broken;
    explain(words.scale(layer.of ?? layerNow(data)));
    frame.choosable(layerNow(data), (name) => Boolean(known[name]));
    canvas.dataset.drawn = String(state.drawn ?? 0);
    whole.hidden = seen.rows === rows && seen.columns === columns;
    keeping.hidden = layer.kind !== "number";
    ticks("row", data.rowAxis, seen.top, seen.rows, size.height, worded);
    ticks("column", data.columnAxis, seen.left, seen.columns, size.width, false);
    unfolded.refill();
    mark();
  }

  const mark = () => frame.mark({ ...state, pinned: state.pinned ?? state.resting });

  /**
   * Another step or layer of the same shape comes by a short transition; a mask falls over what it masks.
   * @param {MatrixData} of
   * @param {boolean} masked
   */
  function leadOver(of, masked) {
    const step = `${of.name}|${layerNow(of)}`;
    const shape = `${of.key}|${Object.values(seen).join()}`;
    if (drawnAs.step !== step && drawnAs.shape === shape) frame.tween(masked && !drawnAs.masked);
    drawnAs = { step, shape, masked };
  }

  /**
   * The range that the colours of this step keep; null where they follow what is in sight.
   * @param {MatrixData} of
   * @param {import("./frame.js").Layer} layer
   */
  function rangeKept(of, { kind, values }) {
    if (!keeps.checked || kind !== "number") {
      held.of = "";
      return null;
    }
    const step = `${of.key}|${of.name}|${layerNow(of)}`;
    if (held.of !== step) held = { of: step, range: rangeOf(values, of.columns, seen) };
    return held.range;
  }

  /**
   * What the scale measures, in a tip what that means, where it has to be said.
   * @param {string} key
   */
  function explain(key) {
    setText(measure, say(key));
    const about = `${key}.about`;
    meaning.hidden = !has(about);
    measured.removeAttribute("tabindex");
    if (meaning.hidden) return;
    setText(meaning, say(about));
    measured.tabIndex = 0;
  }

  /**
   * The numbers beside the scale: largest, middle, least.
   * @param {import("./frame.js").Layer} layer
   * @returns {import("./frame.js").Drawing["write"]}
   */
  function scaleOf({ kind }) {
    if (kind === "mask") return () => [say("ui.yes"), "", say("ui.no")];
    /** @param {number} value */
    const unit = (value) => (kind === "weight" ? percent(value) : show(value, 3));
    return (least, largest, middle) => [unit(largest), unit(middle), unit(least)];
  }

  /** @param {Side} axis */
  const hasTexts = ({ textsAt }) => textsAt(0).length > 0;

  /**
   * Numbers beside the cells, all or every so many; with texts, label and score where they are `worded`.
   * @param {"row" | "column"} side
   * @param {Side} axis
   * @param {number} from
   * @param {number} count
   * @param {number} length
   * @param {boolean} worded
   */
  function ticks(side, axis, from, count, length, worded) {
    const box = frame.marks[side];
    const names = axis.names.slice(from, from + count);
    const key = `${data?.key}|${axis.title}|${from}|${length}|${worded}|${names.join()}`;
    if (box.dataset.key === key) return;
    box.dataset.key = key;
    box.classList.toggle("lp-worded", worded);
    const cell = length / count;
    const every = worded ? 1 : Math.ceil((side === "row" ? 13 : 22) / cell);
    box.style.fontSize = worded ? `${Math.min(12, 0.8 * cell)}px` : "";
    const marks = [];
    for (let i = 0; axis.title && i < count; i += every) {
      const texts = axis.textsAt(from + i);
      const facts = (axis.factsAt(from + i) ?? []).map((value) => show(Math.round(100 * value) / 100, 3));
      const beside = worded ? [...texts.map((text) => h("q", {}, text)), ...facts.map((fact) => h("i", {}, fact))] : [];
      marks.push({ at: (i + 0.5) * cell, said: [h("b", {}, names[i]), ...beside], title: texts.join(" | ") });
    }
    if (worded && axis.factsAt(from)) {
      const heads = [h("b"), h("q"), h("q"), h("i", {}, "y"), h("i", {}, "s")];
      marks.unshift({ at: -9, said: heads, title: say("ui.label_and_score") });
    }
    frame.ticks(side, length, marks);
  }

  /** @param {MatrixData} of */
  function describe(of) {
    if (title.dataset.formula !== of.title + language()) {
      title.dataset.formula = of.title + language();
      tex(title, of.title);
    }
    setText(frame.names.row, of.rowAxis.title);
    setText(frame.names.column, of.columnAxis.title);
    const [allRows, allColumns] = of.all;
    note.hidden = of.rows === allRows && of.columns === allColumns;
    setText(
      note,
      note.hidden ? "" : say("ui.cut", { rows: of.rows, columns: of.columns, all: `${allRows} × ${allColumns}` }),
    );
    const called = { name: of.name, rows: allRows, columns: allColumns };
    canvas.setAttribute("aria-label", say("ui.matrix_label", { ...called, facet: say(words.layer(layerNow(of))) }));
  }

  // ---- Pointing ----------------------------------------------------------------------------

  /**
   * Look at this part, at least 3 cells either way; null for all of it.
   * @param {import("./cells.js").View | null} part
   */
  function zoom(part) {
    if (!data) return;
    const all = { top: 0, left: 0, rows: data.rows, columns: data.columns };
    const { top, left, rows, columns } = part ?? all;
    const tall = Math.max(Math.min(3, data.rows), Math.min(rows, data.rows));
    const wide = Math.max(Math.min(3, data.columns), Math.min(columns, data.columns));
    seen = {
      shape: seen.shape,
      rows: tall,
      columns: wide,
      top: Math.max(0, Math.min(top, data.rows - tall)),
      left: Math.max(0, Math.min(left, data.columns - wide)),
    };
    draw();
  }

  canvas.addEventListener("keydown", (event) => {
    if (!data) return;
    const next = grid.step(event, state.cell ?? [0, -1], data.rows, data.columns);
    if (next) {
      event.preventDefault();
      walk(next);
    } else if (event.key === "Enter" && state.cell) emit("pick", state.cell);
    // Esc goes back one thing at a time; what is left of it leaves the presentation.
    else if (event.key === "Escape" && (!whole.hidden || state.pinned)) {
      event.preventDefault();
      emit("pick", null);
      zoom(null);
    }
  });

  /** @param {Cell} to */
  function walk([row, column]) {
    // A walk past the edge of what is in view takes the view along.
    const top = Math.max(Math.min(seen.top, row), row - seen.rows + 1);
    const left = Math.max(Math.min(seen.left, column), column - seen.columns + 1);
    if (top !== seen.top || left !== seen.left) zoom({ ...seen, top, left });
    emit("point", [row, column]);
    spoken.textContent = speak([row, column]);
  }

  // ---- The same as a table -----------------------------------------------------------------

  /**
   * For whoever reads rather than looks; at most 40 by 40.
   * @param {MatrixData} of
   */
  function fillTable(of) {
    const { values } = shownOf(of);
    const [rows, columns] = [seen.rows, seen.columns].map((count) => Math.min(count, MOST_IN_TABLE));
    /** @param {number} count */
    const upTo = (count) => Array.from({ length: count }, (_, i) => i);
    /** @type {(axis: Side, i: number) => number | string} */
    const named = (axis, i) => axis.names[i] ?? i + 1;
    const line = upTo(columns).map((c) => h("th", { scope: "col" }, named(of.columnAxis, seen.left + c)));
    const body = upTo(rows).map((r) =>
      h(
        "tr",
        {},
        h("th", { scope: "row" }, named(of.rowAxis, seen.top + r)),
        upTo(columns).map((c) => {
          const v = values[(seen.top + r) * of.columns + seen.left + c];
          return h("td", {}, v === -Infinity ? "·" : show(v, 3));
        }),
      ),
    );
    const caption = h("caption", {}, canvas.getAttribute("aria-label") ?? "");
    table.replaceChildren(h("table", {}, caption, h("thead", {}, h("tr", {}, h("td"), line)), h("tbody", {}, body)));
  }

  return { update, draw };
}

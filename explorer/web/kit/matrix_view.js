// A matrix, cell by cell: layers to choose from, what its rows and columns are called, a scale, a part
// to look at closely, and the same as a table. It gets plain arrays and tells what was pointed at or
// chosen; it knows neither a loss nor a server, and several may stand beside each other.

import { batchText } from "./batch_text_with_picture.js";
import { rangeOf } from "./cell_canvas.js";
import { ScaleCaption } from "./colour_legend.js";
import { asTable, h, roomOf, setText, worded } from "./dom.js";
import { tex } from "./formula.js";
import { CellFrame } from "./heatmap_frame.js";
import { percent, show } from "./number_format.js";
import { language, say } from "./translated_sentences.js";

/** @typedef {import("./heatmap_frame.js").Cell} Cell */
/**
 * What the rows or columns are called: numbers, the one or two texts of each, the label and score of its pair, and
 * whether it is marked.
 * @typedef {{ title: string, names: (number | string)[], textsAt: (place: number) => string[],
 *   factsAt: (place: number) => [number, number] | null, isMarked: (place: number) => boolean }} Side
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
 * @property {Record<string, import("./heatmap_frame.js").Layer | null>} layers
 * @property {ArrayLike<number> | null} present
 * @property {Side} rowAxis
 * @property {Side} columnAxis
 * @property {Record<string, string>} [pictures] of what texts name
 * @property {boolean} [isMixed] whether no number of a cell is exact, so that none is written
 */

/**
 * Cells and sides are places in the matrix as it lies.
 * `resting` is marked as the pinned one is, while none is pinned. The colours of numbers keep to `range`.
 * @typedef {import("./heatmap_frame.js").Marked & { layer?: string, order?: string, drawn?: number,
 *   resting?: Cell | null, range?: [number, number] | null }} MatrixState
 */

/**
 * `words` are the keys of what layers, scales and orders are called. `around`: see heightAround. `tools` stand at the end
 * of the line with the title. `speak` is what a screen reader says of a cell that is walked to. Without `hasBar`,
 * layer and order are chosen elsewhere.
 * @typedef {{ layers: string[], orders: string[],
 *   words: { layer: (name: string) => string, scale: (name: string) => string, order: (name: string) => string,
 *     sorted: string },
 *   orderId?: string | null, around?: (isPresenting: boolean) => number, tools?: HTMLElement | null,
 *   hasBar?: boolean, speak: (cell: Cell) => string }} Options
 */

/** @typedef {["layer", string] | ["order", string] | ["point", Cell | null] | ["pick", Cell | null]
 *   | ["range", [number, number] | null]} Emitted */

const MAX_TABLE_SIDE = 40;
const MAX_SIDE = 560;
const MAX_ROWS_WITH_TEXTS = 32; // rows that have their texts beside them
const MIN_WIDTH_WITH_TEXTS = 560; // pixels of room that this takes
const MIN_TEXT_WIDTH = 264; // pixels of the texts
const MIN_TEXT_ROW_HEIGHT = 10; // pixels of a row that has its texts beside it
const MIN_HEIGHT = 150; // pixels of the cells
// Pixels of the screen's height that are not for the cells; on a projector the bar stands above.
const heightAround = (/** @type {boolean} */ isPresenting) => (isPresenting ? 325 : 260);

export class Matrix {
  /**
   * @param {HTMLElement} root
   * @param {Options} options
   * @param {(...event: Emitted) => void} emit
   */
  constructor(root, options, emit) {
    this.root = root;
    this.options = options;
    this.emit = emit;
    /** @type {MatrixData | null} */
    this.data = null;
    /** @type {MatrixState} */
    this.state = {};
    this.drawnAs = { step: "", shape: "", masked: false }; // what the picture before showed
    this.seen = { shape: "", top: 0, left: 0, rows: 1, columns: 1 }; // the part in view, in cells
    const { orders, words, orderId = null, tools = null, hasBar = true } = options;
    this.order = h(
      "select",
      { id: orderId, onchange: () => this.emit("order", this.order.value) },
      orders.map((name) => worded("option", words.order(name), { value: name })),
    );
    this.sorting = h("label.lp-inline", worded("span", words.sorted), this.order);
    // The colours of numbers follow their own range, or keep the one that they had when this was checked.
    this.keeps = h("input", { type: "checkbox", onchange: () => this.emit("range", this.#rangeToKeep()) });
    this.keeping = h("label.lp-check", this.keeps, worded("span", "ui.keep_range"));
    this.title = h("span.lp-formula");
    this.swatches = {
      masked: swatch("masked", "legend.masked"),
      broken: swatch("broken", "legend.broken"),
    };
    this.note = h("p.lp-note", { hidden: true });
    this.spoken = h("div.lp-spoken", { "aria-live": "polite" });
    this.whole = worded("button.lp-button", "ui.whole_matrix", { hidden: true, onclick: () => this.zoom(null) });
    this.table = h("div.lp-scroll.lp-cells", { hidden: true, tabIndex: 0 });
    this.asTable = asTable("button.lp-button", this.table, () => this.data && this.#fillTable(this.data));
    this.head = h("div.lp-title", this.title, h("span.lp-fill"), this.whole, tools);
    this.scale = new ScaleCaption();
    this.frame = this.#frame();
    const { element, tabList, canvas } = this.frame;
    if (hasBar) root.append(h("div.lp-bar", tabList, this.sorting));
    root.append(this.head, element, this.note, this.table, this.spoken);
    canvas.addEventListener("keydown", (event) => this.#key(event));
    this.room = roomOf(element, () => this.draw());
  }

  // ---- Furniture ---------------------------------------------------------------------------

  // A click pins; a drag chooses the part to look at; the wheel goes nearer or back.
  #frame() {
    const { layers, words } = this.options;
    return new CellFrame({
      layers,
      called: words.layer,
      choose: (layer) => this.emit("layer", layer),
      stage: { role: "img", pins: true },
      scale: (bar) =>
        h(
          "div.lp-legend-side",
          this.scale.element,
          bar,
          Object.values(this.swatches),
          this.keeping,
          this.asTable.button,
        ),
      hand: {
        view: () => (this.data ? this.seen : null),
        hover: (cell) => this.emit("point", cell),
        pick: (cell) => this.emit("pick", cell),
        choose: (part) => this.zoom(part),
        pinched: (edges) => this.#pinch(edges),
        turned: (at, nearer) => this.#turn(at, nearer),
      },
    });
  }

  // ---- What is shown -----------------------------------------------------------------------

  /** @param {{ data?: MatrixData | null, state?: MatrixState }} next */
  update(next) {
    const { range } = this.state;
    if (next.state) this.state = { ...this.state, ...next.state };
    if (next.data !== undefined) this.#take(next.data);
    else if (this.state.range !== range) this.draw();
    else if (this.data) this.#mark();
    this.order.value = this.state.order ?? "";
  }

  /** @param {MatrixData | null} data */
  #take(data) {
    this.data = data;
    const { frame, seen } = this;
    for (const part of [this.head, frame.element, this.sorting, frame.tabList]) part.hidden = !data;
    frame.canvas.dataset.drawn = String(this.state.drawn ?? 0);
    if (!data) {
      this.note.hidden = true;
      this.asTable.close();
      return;
    }
    const shape = `${data.rows}×${data.columns}`;
    if (shape !== seen.shape) this.seen = { shape, top: 0, left: 0, rows: data.rows, columns: data.columns };
    this.draw();
    this.#describe(data);
  }

  /** @param {MatrixData} data */
  #layerName({ layers }) {
    const { layer } = this.state;
    return layer && layers[layer] ? layer : this.options.layers[0];
  }
  /** @param {MatrixData} data */
  #layer(data) {
    return /** @type {import("./heatmap_frame.js").Layer} */ (data.layers[this.#layerName(data)]);
  }

  // ---- Drawing -----------------------------------------------------------------------------

  draw() {
    const { data, seen, room, frame } = this;
    if (!data || !room.width) return;
    const isNarrow = room.width < 480;
    this.root.classList.toggle("lp-narrow", isNarrow);
    const mayHaveTexts =
      seen.rows > 1 && seen.rows <= MAX_ROWS_WITH_TEXTS && room.width >= MIN_WIDTH_WITH_TEXTS && hasTexts(data.rowAxis);
    const size = this.#size(mayHaveTexts ? MIN_TEXT_WIDTH + 120 : isNarrow ? 72 : 160);
    const layer = this.#layer(data);
    const name = this.#layerName(data);
    const present = layer.kind === "mask" ? null : data.present;
    this.#leadOver(data, present !== null);
    const range = layer.kind === "number" ? (this.state.range ?? null) : null;
    this.keeps.checked = range !== null;
    const { rows, columns } = data;
    const write = data.isMixed ? () => null : scaleOf(layer);
    const found = frame.draw({ rows, columns, layer, present, view: seen, size, range, write });
    this.swatches.masked.hidden = !found.masked;
    this.swatches.broken.hidden = !found.broken;
    this.scale.explain(this.options.words.scale(layer.of ?? name));
    frame.choosable(name, (one) => Boolean(data.layers[one]));
    frame.canvas.dataset.drawn = String(this.state.drawn ?? 0);
    this.whole.hidden = seen.rows === rows && seen.columns === columns;
    this.keeping.hidden = layer.kind !== "number";
    const hasRoom = mayHaveTexts && size.height / seen.rows >= MIN_TEXT_ROW_HEIGHT;
    this.#ticks("row", data.rowAxis, { from: seen.top, count: seen.rows, length: size.height, worded: hasRoom });
    this.#ticks("column", data.columnAxis, { from: seen.left, count: seen.columns, length: size.width, worded: false });
    if (!data.isMixed) this.asTable.refill();
    this.#mark();
  }

  #mark() {
    this.frame.mark({ ...this.state, pinned: this.state.pinned ?? this.state.resting });
  }

  /**
   * A vector is a strip; a matrix is square in the cell, as far as the room goes. What stands below it stays on the
   * screen, also on a projector's.
   * @param {number} beside pixels that stand beside the cells
   */
  #size(beside) {
    const { rows, columns } = this.seen;
    const { width: across, magnified } = this.room;
    const { around = heightAround } = this.options;
    const wide = Math.max(160, Math.min(MAX_SIDE, across - beside));
    const tallest = Math.max(MIN_HEIGHT, Math.min(MAX_SIDE, window.innerHeight / magnified - around(magnified > 1)));
    const cell = Math.min(wide / columns, tallest / rows, rows === 1 ? 40 : 64);
    const tall = rows === 1 ? 40 : Math.max(48, Math.min(tallest, cell * rows));
    const broad = rows === 1 ? wide : Math.max(48, Math.min(wide, cell * columns));
    return {
      width: Math.round(broad),
      height: Math.round(tall),
      ratio: (window.devicePixelRatio || 1) * magnified,
    };
  }

  /**
   * Another step or layer of the same shape comes by a short transition; a mask falls over what it masks.
   * @type {(data: MatrixData, masked: boolean) => void}
   */
  #leadOver(data, masked) {
    const step = `${data.name}|${this.#layerName(data)}`;
    const shape = `${data.key}|${Object.values(this.seen).join()}`;
    const before = this.drawnAs;
    if (before.step !== step && before.shape === shape) this.frame.cells.tween(masked && !before.masked);
    this.drawnAs = { step, shape, masked };
  }

  // The range of the values in sight where it is to be kept, else null.
  #rangeToKeep() {
    const { data } = this;
    return this.keeps.checked && data ? rangeOf(this.#layer(data).values, data.columns, this.seen) : null;
  }

  /**
   * Numbers beside the cells, all or every so many and those that are marked; with texts, label and score where they are `worded`.
   * @param {"row" | "column"} side
   * @param {Side} axis
   * @param {{ from: number, count: number, length: number, worded: boolean }} options `length` in pixels
   */
  #ticks(side, axis, { from, count, length, worded }) {
    const box = this.frame.marks[side];
    const names = axis.names.slice(from, from + count);
    const key = `${this.data?.key}|${axis.title}|${from}|${length}|${worded}|${names.join()}`;
    if (box.dataset.key === key) return;
    box.dataset.key = key;
    box.classList.toggle("lp-worded", worded);
    const cell = length / count;
    const every = worded ? 1 : Math.ceil((side === "row" ? 13 : 22) / cell);
    box.style.setProperty("--lp-row-height", `${cell}px`);
    box.style.fontSize = worded ? `${Math.min(12, 0.8 * cell)}px` : "";
    const marks = [];
    const marked = upTo(count).filter((i) => axis.isMarked(from + i));
    for (let i = 0; axis.title && i < count; i += 1) {
      const isMarked = marked.includes(i);
      if (!isMarked && (i % every || marked.some((other) => Math.abs(other - i) < every))) continue;
      const texts = axis.textsAt(from + i);
      const facts = (axis.factsAt(from + i) ?? []).map((value) => show(Math.round(100 * value) / 100, 3));
      const words = texts.map((text) => h("q", batchText(h, { text, of: this.data })));
      const beside = worded ? [...words, ...facts.map((fact) => h("i", fact))] : [];
      marks.push({
        at: (i + 0.5) * cell,
        content: [h(isMarked ? "b.lp-marked" : "b", names[i]), ...beside],
        title: texts.join(" | "),
      });
    }
    if (worded && axis.factsAt(from)) {
      const heads = [h("b"), h("q"), h("q"), h("i", "y"), h("i", "s")];
      marks.unshift({ at: -9, content: heads, title: say("ui.label_and_score") });
    }
    this.frame.ticks(side, length, marks);
  }

  /** @param {MatrixData} data */
  #describe(data) {
    const { title, note, frame } = this;
    if (title.dataset.formula !== data.title + language()) {
      title.dataset.formula = data.title + language();
      tex(title, data.title);
    }
    setText(frame.names.row, data.rowAxis.title);
    setText(frame.names.column, data.columnAxis.title);
    const [rows, columns] = data.all;
    note.hidden = data.rows === rows && data.columns === columns;
    const cut = { rows: data.rows, columns: data.columns, all: `${rows} × ${columns}` };
    setText(note, note.hidden ? "" : say("ui.cut", cut));
    const facet = say(this.options.words.layer(this.#layerName(data)));
    frame.canvas.setAttribute("aria-label", say("ui.matrix_label", { name: data.name, rows, columns, facet }));
  }

  // ---- Pointing ----------------------------------------------------------------------------

  /**
   * Look at this part, at least 3 cells either way; null for all of it.
   * @param {import("./cell_canvas.js").View | null} part
   */
  zoom(part) {
    const { data } = this;
    if (!data) return;
    const { top, left, rows, columns } = part ?? { top: 0, left: 0, rows: data.rows, columns: data.columns };
    const tall = Math.max(Math.min(3, data.rows), Math.min(rows, data.rows));
    const wide = Math.max(Math.min(3, data.columns), Math.min(columns, data.columns));
    this.seen = {
      shape: this.seen.shape,
      rows: tall,
      columns: wide,
      top: Math.max(0, Math.min(top, data.rows - tall)),
      left: Math.max(0, Math.min(left, data.columns - wide)),
    };
    this.draw();
  }

  /** @param {{ left: number, right: number, top: number, bottom: number }} edges in shares of the view */
  #pinch({ left, right, top, bottom }) {
    const { seen } = this;
    this.frame.grid.pinch.settle();
    this.zoom({
      top: Math.round(seen.top + top * seen.rows),
      rows: Math.round((bottom - top) * seen.rows),
      left: Math.round(seen.left + left * seen.columns),
      columns: Math.round((right - left) * seen.columns),
    });
  }

  /** @type {(at: Cell, nearer: boolean) => void} */
  #turn(at, nearer) {
    const { seen } = this;
    const factor = nearer ? 0.8 : 1.25;
    const [rows, columns] = [Math.round(seen.rows * factor), Math.round(seen.columns * factor)];
    const share = [(at[0] - seen.top) / seen.rows, (at[1] - seen.left) / seen.columns];
    const [top, left] = [Math.round(at[0] - share[0] * rows), Math.round(at[1] - share[1] * columns)];
    this.zoom({ top, left, rows, columns });
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const { data, state } = this;
    if (!data) return;
    const next = this.frame.grid.step(event, state.cell ?? [0, -1], data.rows, data.columns);
    if (next) {
      event.preventDefault();
      this.#walk(next);
    } else if (event.key === "Enter" && state.cell) this.emit("pick", state.cell);
    // Esc goes back one thing at a time; what is left of it leaves the presentation.
    else if (event.key === "Escape" && (!this.whole.hidden || state.pinned)) {
      event.preventDefault();
      this.emit("pick", null);
      this.zoom(null);
    }
  }

  /** @param {Cell} to */
  #walk([row, column]) {
    // A walk past the edge of what is in view takes the view along.
    const { seen } = this;
    const top = Math.max(Math.min(seen.top, row), row - seen.rows + 1);
    const left = Math.max(Math.min(seen.left, column), column - seen.columns + 1);
    if (top !== seen.top || left !== seen.left) this.zoom({ ...seen, top, left });
    this.emit("point", [row, column]);
    this.spoken.textContent = this.options.speak([row, column]);
  }

  // ---- The same as a table -----------------------------------------------------------------

  /** @type {(data: MatrixData) => void} For whoever reads rather than looks; at most 40 by 40. */
  #fillTable(data) {
    const { seen } = this;
    const { values } = this.#layer(data);
    const [rows, columns] = [seen.rows, seen.columns].map((count) => upTo(Math.min(count, MAX_TABLE_SIDE)));
    /** @type {(axis: Side, i: number) => number | string} */
    const named = (axis, i) => axis.names[i] ?? i + 1;
    const heads = columns.map((c) => h("th", { scope: "col" }, named(data.columnAxis, seen.left + c)));
    const body = rows.map((r) =>
      h(
        "tr",
        h("th", { scope: "row" }, named(data.rowAxis, seen.top + r)),
        columns.map((c) => {
          const value = values[(seen.top + r) * data.columns + seen.left + c];
          return h("td", value === -Infinity ? "·" : show(value, 3));
        }),
      ),
    );
    const caption = h("caption", this.frame.canvas.getAttribute("aria-label") ?? "");
    const head = h("thead", h("tr", h("td"), heads));
    this.table.replaceChildren(h("table", caption, head, h("tbody", body)));
  }
}

/** @type {(kind: string, key: string) => HTMLElement} */
const swatch = (kind, key) => h("div.lp-swatch", { hidden: true }, h(`i.lp-swatch-${kind}`), worded("span", key));

/** @param {Side} axis */
const hasTexts = ({ textsAt }) => textsAt(0).length > 0;

/** @param {number} count */
const upTo = (count) => Array.from({ length: count }, (_, i) => i);

/**
 * The numbers beside the scale: largest, middle, least.
 * @type {(layer: import("./heatmap_frame.js").Layer) => import("./heatmap_frame.js").Drawing["write"]}
 */
function scaleOf({ kind }) {
  if (kind === "mask") return () => [say("ui.yes"), "", say("ui.no")];
  /** @param {number} value */
  const unit = (value) => (kind === "weight" ? percent(value) : show(value, 3));
  return (least, largest, middle) => [unit(largest), unit(middle), unit(least)];
}

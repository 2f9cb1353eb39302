// A matrix, cell by cell: layers to choose from, what its rows and columns are called, a scale, a part
// to look at closely, and the same as a table. It gets plain arrays and tells what was pointed at or
// chosen; it knows neither a loss nor a server, and several may stand beside each other.
import { asTable, clip, h, roomOf, setText, worded } from "./dom.js";
import { tex } from "./formula.js";
import { cellFrame } from "./frame.js";
import { percent, show } from "./numbers.js";
import { language, say } from "./words.js";

/** @typedef {import("./frame.js").Cell} Cell */
/** @typedef {{ title: string, names: (number | string)[], sentences: string[] }} Side */

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
 * @typedef {import("./frame.js").Marked & { layer?: string, order?: string, drawn?: number }} MatrixState
 */

/** @typedef {["layer", string] | ["order", string] | ["point", Cell | null] | ["pick", Cell | null]} Told */

const MOST_IN_TABLE = 40;
const WIDEST = 560;

/**
 * @param {HTMLElement} root
 * @param {object} options
 * @param {string[]} options.layers
 * @param {string[]} options.orders
 * @param {{ layer: (name: string) => string, scale: (name: string) => string,
 *   order: (name: string) => string, sorted: string }} options.words the keys of what they are called
 * @param {string | null} [options.orderId]
 * @param {(...told: Told) => void} emit
 */
export function matrix(root, { layers, orders, words, orderId = null }, emit) {
  // ---- Furniture ---------------------------------------------------------------------------

  const order = h(
    "select",
    { id: orderId, onchange: () => emit("order", order.value) },
    orders.map((name) => worded("option", words.order(name), { value: name })),
  );
  const sorting = h("label.lp-inline", {}, worded("span", words.sorted), order);
  const title = h("span.lp-formula");
  const measured = h("div.lp-measured");
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
  const head = h("div.lp-title", {}, title, h("span.lp-fill"), whole, unfolded.button);

  // A click pins; a drag chooses the part to look at; the wheel goes nearer or back.
  const frame = cellFrame({
    layers,
    called: words.layer,
    choose: (layer) => emit("layer", layer),
    stage: { role: "img", pins: true },
    scale: (bar) => h("div.lp-legend-side", {}, measured, bar, Object.values(swatches)),
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
    else if (data) frame.mark(state);
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
   * @param {boolean} fragments
   * @param {boolean} narrow
   */
  function sizeFor(fragments, narrow) {
    const { rows, columns } = seen;
    const { width: across, magnified } = room;
    const wide = Math.max(160, Math.min(WIDEST, across - (fragments ? 246 : narrow ? 72 : 160)));
    const around = magnified > 1 ? 325 : 260; // on a projector the bar stands above
    const tallest = Math.max(280, Math.min(WIDEST, window.innerHeight / magnified - around));
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
    const fragments = seen.rows > 1 && seen.rows <= 32 && room.width >= 640;
    const size = sizeFor(fragments, narrow);
    const layer = shownOf(data);
    const present = layer.kind === "mask" ? null : data.present;
    const found = frame.draw({ rows, columns, layer, present, view: seen, size, write: scaleOf(layer) });
    swatches.masked.hidden = !found.masked;
    swatches.broken.hidden = !found.broken;
    setText(measured, say(words.scale(layer.of ?? layerNow(data))));
    frame.choosable(layerNow(data), (name) => Boolean(known[name]));
    canvas.dataset.drawn = String(state.drawn ?? 0);
    whole.hidden = seen.rows === rows && seen.columns === columns;
    ticks("row", data.rowAxis, seen.top, seen.rows, size.height, fragments);
    ticks("column", data.columnAxis, seen.left, seen.columns, size.width, false);
    unfolded.refill();
    frame.mark(state);
  }

  /**
   * The numbers beside the scale: largest, middle, least.
   * @param {import("./frame.js").Layer} layer
   * @returns {import("./frame.js").Drawing["write"]}
   */
  function scaleOf({ kind }) {
    if (kind === "mask") return () => [say("ui.yes"), "", say("ui.no")];
    /** @param {number} value */
    const unit = (value) => (kind === "share" ? percent(value) : show(value, 3));
    return (least, largest, centred) => [unit(largest), centred ? "0" : unit((least + largest) / 2), unit(least)];
  }

  /**
   * Numbers beside the cells, all or every so many; where there is room, the sentence begins.
   * @param {"row" | "column"} side
   * @param {Side} axis
   * @param {number} from
   * @param {number} count
   * @param {number} length
   * @param {boolean} fragments
   */
  function ticks(side, axis, from, count, length, fragments) {
    const box = frame.marks[side];
    const names = axis.names.slice(from, from + count);
    const key = `${data?.key}|${axis.title}|${from}|${length}|${fragments}|${names.join()}`;
    if (box.dataset.key === key) return;
    box.dataset.key = key;
    box.classList.toggle("lp-worded", fragments);
    const cell = length / count;
    const every = Math.ceil((side === "row" ? 13 : 22) / cell);
    const marks = [];
    for (let i = 0; axis.title && i < count; i += every) {
      const sentence = axis.sentences[from + i];
      const begun = fragments && sentence ? [h("i", {}, clip(sentence, 24)), " "] : "";
      marks.push({ at: (i + 0.5) * cell, said: [begun, h("b", {}, names[i])], title: sentence });
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
      walk(data, next);
    } else if (event.key === "Enter" && state.cell) emit("pick", state.cell);
    // Esc goes back one thing at a time; what is left of it leaves the presentation.
    else if (event.key === "Escape" && (!whole.hidden || state.pinned)) {
      event.preventDefault();
      emit("pick", null);
      zoom(null);
    }
  });

  /**
   * @param {MatrixData} of
   * @param {Cell} to
   */
  function walk(of, [row, column]) {
    // A walk past the edge of what is in view takes the view along.
    const top = Math.max(Math.min(seen.top, row), row - seen.rows + 1);
    const left = Math.max(Math.min(seen.left, column), column - seen.columns + 1);
    if (top !== seen.top || left !== seen.left) zoom({ ...seen, top, left });
    emit("point", [row, column]);
    const value = shownOf(of).values[row * of.columns + column];
    const said = value === -Infinity ? say("ui.takes_no_part") : show(value);
    spoken.textContent = say("ui.cell_says", { row: row + 1, column: column + 1, value: said });
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

// A matrix, cell by cell: layers to choose from, what its rows and columns are called, a scale, a part
// to look at closely, and the same as a table. It gets plain arrays and tells what was pointed at or
// chosen; it knows neither a loss nor a server, and several may stand beside each other.
//
// data: { key, rows, columns, all: [rows, columns], title (LaTeX), name, note,
//   layers: { name: { values, kind: "number" | "share" | "mask", centred } or null },
//   present (0 where a cell takes no part, or null),
//   rowAxis, columnAxis: { title, names, sentences } }, or null where there are no cells.
// state: { layer, order, drawn, cell, pinned, row, column, strong }: places in the matrix as it lies;
// `strong` is the part of the cell that is meant: "row", "column", "cell" or nothing of it.
// words: { layer(name), scale(name), order(name), sorted }: the keys of what they are called.
// emit: ("layer", name), ("order", name), ("point", [row, column] or null), ("pick", the same).
import { cellStage, legendBar, rangeOf } from "./cells.js";
import { clip, h, roomOf, worded } from "./dom.js";
import { tex } from "./formula.js";
import { cellGrid } from "./grid.js";
import { percent, show } from "./numbers.js";
import { language, say } from "./words.js";

const MOST_IN_TABLE = 40;
const WIDEST = 560;

export function matrix(root, { layers, orders, words, orderId = null }, emit) {
  // ---- Furniture ---------------------------------------------------------------------------

  const tabs = Object.fromEntries(
    layers.map((name) => [
      name,
      worded("button.lp-tab", words.layer(name), {
        type: "button",
        role: "tab",
        onclick: () => emit("layer", name),
      }),
    ]),
  );
  const order = h(
    "select",
    { id: orderId, onchange: () => emit("order", order.value) },
    orders.map((name) => worded("option", words.order(name), { value: name })),
  );
  const tabList = h("div.lp-tabs", { role: "tablist" }, Object.values(tabs));
  const sorting = h("label.lp-inline", {}, worded("span", words.sorted), order);
  const title = h("span.lp-formula");
  const cells = cellStage({ role: "img", pins: true });
  const { canvas } = cells;
  const legend = legendBar();
  const measured = h("div.lp-measured");
  const swatch = (kind, key) => h("div.lp-swatch", { hidden: true }, h(`i.lp-swatch-${kind}`), worded("span", key));
  const swatches = {
    masked: swatch("masked", "figure_text.masked"),
    broken: swatch("broken", "legend.broken"),
  };
  const rowName = h("div.lp-axis.lp-row-axis");
  const columnName = h("div.lp-axis.lp-column-axis");
  const rowTicks = h("div.lp-ticks.lp-row-ticks", { "aria-hidden": "true" });
  const columnTicks = h("div.lp-ticks.lp-column-ticks", { "aria-hidden": "true" });
  const note = h("p.lp-note", { hidden: true });
  const spoken = h("div.lp-spoken", { "aria-live": "polite" });
  const whole = worded("button.lp-button", "ui.whole_matrix", {
    type: "button",
    hidden: true,
    onclick: () => zoom(null),
  });
  const tableButton = worded("button.lp-button", "ui.as_table", {
    type: "button",
    "aria-pressed": "false",
    onclick: toggleTable,
  });
  const table = h("div.lp-scroll.lp-cells", { hidden: true, tabIndex: 0 });
  const head = h("div.lp-title", {}, title, h("span.lp-fill"), whole, tableButton);
  const scaleSide = h("div.lp-legend-side", {}, measured, legend.element, Object.values(swatches));
  const frame = h(
    "div.lp-frame",
    {},
    rowName,
    rowTicks,
    h("div", {}, cells.element, columnTicks, columnName),
    scaleSide,
  );
  root.append(h("div.lp-bar", {}, tabList, sorting), head, frame, note, table, spoken);
  const room = roomOf(frame, draw);

  // ---- What is shown -----------------------------------------------------------------------

  let data = null;
  let state = {};
  // The part of the matrix in view, in cells.
  let seen = { shape: "", top: 0, left: 0, rows: 1, columns: 1 };

  const layerNow = () => (data.layers[state.layer] ? state.layer : layers[0]);

  function update(next) {
    if ("state" in next) state = { ...state, ...next.state };
    if ("data" in next) take(next.data);
    else if (data) mark();
    order.value = state.order;
  }

  function take(next) {
    data = next;
    for (const part of [head, frame, sorting, tabList]) part.hidden = !data;
    canvas.dataset.drawn = String(state.drawn ?? 0);
    if (!data) {
      table.hidden = note.hidden = true;
      tableButton.setAttribute("aria-pressed", "false");
      return;
    }
    const shape = `${data.rows}×${data.columns}`;
    if (shape !== seen.shape) seen = { shape, top: 0, left: 0, rows: data.rows, columns: data.columns };
    draw();
    describe();
  }

  // ---- Drawing -----------------------------------------------------------------------------

  // A vector is a strip; a matrix is square in the cell, as far as the room goes. What stands below it
  // stays on the screen, also on a projector's.
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
    const narrow = room.width < 480;
    root.classList.toggle("lp-narrow", narrow);
    const fragments = seen.rows > 1 && seen.rows <= 32 && room.width >= 640;
    const size = sizeFor(fragments, narrow);
    const { values, kind, centred } = data.layers[layerNow()];
    const yes = kind === "mask";
    const [least, largest] = yes
      ? [0, 1]
      : rangeOf(values, data.columns, seen, { centred, fromZero: kind === "share" });
    const ramp = yes ? "mask" : centred ? "diverging" : "sequential";
    const { rows, columns } = data;
    const present = yes ? null : data.present;
    const found = cells.draw({ rows, columns, values, least, largest, ramp, present }, seen, size);
    for (const [name, swatch] of Object.entries(swatches)) swatch.hidden = !found[name];
    drawLegend(least, largest, ramp);
    for (const [name, button] of Object.entries(tabs)) {
      button.disabled = !data.layers[name];
      button.setAttribute("aria-selected", String(name === layerNow()));
    }
    canvas.dataset.drawn = String(state.drawn ?? 0);
    whole.hidden = seen.rows === rows && seen.columns === columns;
    ticks(rowTicks, data.rowAxis, seen.top, seen.rows, size.height, fragments);
    ticks(columnTicks, data.columnAxis, seen.left, seen.columns, size.width, false);
    if (!table.hidden) fillTable();
    mark();
  }

  // Numbers beside the cells, all or every so many; where there is room, the sentence begins.
  function ticks(box, axis, from, count, length, fragments) {
    const names = axis.names.slice(from, from + count);
    const key = `${data.key}|${axis.title}|${from}|${length}|${fragments}|${names.join()}`;
    if (box.dataset.key === key) return;
    box.dataset.key = key;
    const upright = box === rowTicks;
    box.style[upright ? "height" : "width"] = `${length}px`;
    box.classList.toggle("lp-worded", fragments);
    if (!axis.title) {
      box.replaceChildren();
      return;
    }
    const cell = length / count;
    const every = Math.ceil((upright ? 13 : 22) / cell);
    const marks = [];
    for (let i = 0; i < count; i += every) {
      const sentence = axis.sentences[from + i];
      const begun = fragments && sentence ? [h("i", {}, clip(sentence, 24)), " "] : "";
      const tick = h("span", { title: sentence }, begun, h("b", {}, names[i]));
      tick.style[upright ? "top" : "left"] = `${(i + 0.5) * cell}px`;
      marks.push(tick);
    }
    box.replaceChildren(...marks);
  }

  function drawLegend(least, largest, ramp) {
    const { kind, centred, of = layerNow() } = data.layers[layerNow()];
    measured.textContent = say(words.scale(of));
    if (ramp === "mask") {
      legend.draw(ramp, [say("ui.yes"), "", say("ui.no")], true);
      return;
    }
    const unit = kind === "share" ? percent : (v) => show(v, 3);
    legend.draw(ramp, [unit(largest), centred ? "0" : unit((least + largest) / 2), unit(least)]);
  }

  function describe() {
    if (title.dataset.formula !== data.title + language()) {
      title.dataset.formula = data.title + language();
      tex(title, data.title);
    }
    rowName.textContent = data.rowAxis.title;
    columnName.textContent = data.columnAxis.title;
    const [allRows, allColumns] = data.all;
    note.hidden = data.rows === allRows && data.columns === allColumns;
    note.textContent = note.hidden
      ? ""
      : say("ui.cut", { rows: data.rows, columns: data.columns, all: `${allRows} × ${allColumns}` });
    const called = { name: data.name, rows: allRows, columns: allColumns };
    canvas.setAttribute("aria-label", say("ui.matrix_label", { ...called, facet: say(words.layer(layerNow())) }));
  }

  // A cell gets a frame, with its row and its column; rows and columns alone get their bands.
  function mark() {
    const { cell, pinned, row, column, strong } = state;
    const bands = { row: cell?.[0] ?? row, column: cell?.[1] ?? column };
    cells.strengthen(strong);
    cells.mark({
      cell: cell && (!strong || strong === "cell") ? cell : null,
      pin: pinned,
      row: bands.row >= 0 && (!cell || !strong || strong === "row") ? [bands.row, 0, 1, data.columns] : null,
      column: bands.column >= 0 && (!cell || !strong || strong === "column") ? [0, bands.column, data.rows, 1] : null,
    });
  }

  // ---- Pointing ----------------------------------------------------------------------------

  // A click pins; a drag chooses the part to look at; the wheel goes nearer or back.
  const grid = cellGrid({
    canvas,
    lasso: cells.lasso,
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
  });

  canvas.addEventListener(
    "wheel",
    (event) => {
      const at = grid.meant(event) && grid.under(event);
      if (!at) return;
      event.preventDefault();
      const factor = event.deltaY > 0 ? 1.25 : 0.8;
      const [rows, columns] = [Math.round(seen.rows * factor), Math.round(seen.columns * factor)];
      const share = [(at[0] - seen.top) / seen.rows, (at[1] - seen.left) / seen.columns];
      const [top, left] = [Math.round(at[0] - share[0] * rows), Math.round(at[1] - share[1] * columns)];
      zoom({ top, left, rows, columns });
    },
    { passive: false },
  );

  // Look at this part, at least 3 cells either way; null for all of it.
  function zoom(part) {
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
    if (grid.isArrow(event)) walk(event);
    else if (event.key === "Enter" && state.cell) emit("pick", state.cell);
    // Esc goes back one thing at a time; what is left of it leaves the presentation.
    else if (event.key === "Escape" && (!whole.hidden || state.pinned)) {
      event.preventDefault();
      emit("pick", null);
      zoom(null);
    }
  });

  function walk(event) {
    event.preventDefault();
    const [row, column] = grid.step(event, state.cell ?? [0, -1], data.rows, data.columns);
    // A walk past the edge of what is in view takes the view along.
    const top = Math.max(Math.min(seen.top, row), row - seen.rows + 1);
    const left = Math.max(Math.min(seen.left, column), column - seen.columns + 1);
    if (top !== seen.top || left !== seen.left) zoom({ ...seen, top, left });
    emit("point", [row, column]);
    const value = data.layers[layerNow()].values[row * data.columns + column];
    const said = value === -Infinity ? say("ui.takes_no_part") : show(value);
    spoken.textContent = say("ui.cell_says", { row: row + 1, column: column + 1, value: said });
  }

  // ---- The same as a table -----------------------------------------------------------------

  // For whoever reads rather than looks; at most 40 by 40.
  function toggleTable() {
    table.hidden = !table.hidden;
    tableButton.setAttribute("aria-pressed", String(!table.hidden));
    if (!table.hidden && data) fillTable();
  }

  function fillTable() {
    const { values } = data.layers[layerNow()];
    const [rows, columns] = [seen.rows, seen.columns].map((count) => Math.min(count, MOST_IN_TABLE));
    const upTo = (count) => Array.from({ length: count }, (_, i) => i);
    const named = (axis, i) => axis.names[i] ?? i + 1;
    const line = upTo(columns).map((c) => h("th", { scope: "col" }, named(data.columnAxis, seen.left + c)));
    const body = upTo(rows).map((r) =>
      h(
        "tr",
        {},
        h("th", { scope: "row" }, named(data.rowAxis, seen.top + r)),
        upTo(columns).map((c) => {
          const v = values[(seen.top + r) * data.columns + seen.left + c];
          return h("td", {}, v === -Infinity ? "·" : show(v, 3));
        }),
      ),
    );
    const caption = h("caption", {}, canvas.getAttribute("aria-label") ?? "");
    table.replaceChildren(h("table", {}, caption, h("thead", {}, h("tr", {}, h("td"), line)), h("tbody", {}, body)));
  }

  return { update, draw };
}

// The matrix instrument: one step as value, mask, weight or gradient, cell by cell.
(window.LossPrismInstruments ??= {}).matrix = (root, channel) => {
  "use strict";
  const { h, say, hint, worded, show, read, percent, tex, texNumber, floats, bytes, clip } = LossPrism;
  const FACETS = ["value", "mask", "weight", "gradient"];
  const ORDERS = ["label", "score", "entry"];

  // ---- Furniture ---------------------------------------------------------------------------

  const title = h("span.lp-formula");
  const facetButtons = Object.fromEntries(FACETS.map((facet) => [facet, worded(
    "button.lp-tab", `facet.${facet}`,
    { type: "button", role: "tab", onclick: () => channel.set({ view: { facet } }) },
  )]));
  const orders = h("select", {
    id: "lp-order", onchange: () => channel.set({ view: { order: orders.value } }),
  }, ORDERS.map((order) => worded("option", `order.${order}`, { value: order })));
  const canvas = h("canvas", { tabIndex: 0, role: "img" });
  const rowBand = h("div.lp-band.lp-of-row");
  const columnBand = h("div.lp-band.lp-of-column");
  const cellMark = h("div.lp-cell");
  const pinMark = h("div.lp-cell.lp-pin");
  const stage = h("div.lp-stage", {}, canvas, rowBand, columnBand, pinMark, cellMark);
  const legend = h("canvas.lp-legend", { width: 12 });
  const [high, middle, low] = [h("span"), h("span"), h("span")];
  const scale = h("div.lp-scale", {}, high, middle, low);
  const measured = h("div.lp-measured");
  const swatch = (kind, key) => h("div.lp-swatch", { hidden: true }, h(`i.lp-swatch-${kind}`), worded("span", key));
  const swatches = { masked: swatch("masked", "figure_text.masked"), broken: swatch("broken", "legend.broken") };
  const rowName = h("div.lp-axis.lp-row-axis");
  const columnName = h("div.lp-axis.lp-column-axis");
  const note = h("p.lp-note");
  const card = h("div.lp-card");
  const spoken = h("div.lp-spoken", { "aria-live": "polite" });
  const rowTicks = h("div.lp-ticks.lp-row-ticks", { "aria-hidden": "true" });
  const columnTicks = h("div.lp-ticks.lp-column-ticks", { "aria-hidden": "true" });
  const lasso = h("div.lp-lasso", { hidden: true });
  const whole = worded("button.lp-button", "ui.whole_matrix", { type: "button", hidden: true, onclick: () => zoom(null) });
  const tableButton = worded("button.lp-button", "ui.as_table", { type: "button", "aria-pressed": "false", onclick: toggleTable });
  const table = h("div.lp-scroll.lp-cells", { hidden: true, tabIndex: 0 });
  root.append(
    h("div.lp-bar", {},
      h("div.lp-tabs", { role: "tablist" }, Object.values(facetButtons)),
      h("label.lp-inline", {}, worded("span", "ui.sorted_by"), orders)),
    h("div.lp-title", {}, title, h("span.lp-fill"), whole, tableButton),
    h("div.lp-frame", {}, rowName, rowTicks, h("div", {}, stage, columnTicks, columnName), h("div.lp-legend-side", {}, measured, h("div.lp-legend-box", {}, legend, scale), Object.values(swatches))),
    note, table, card, spoken,
  );
  stage.append(lasso);
  const lone = h("div.lp-lone", { hidden: true });
  const [bar, head, frame] = root.children;
  frame.after(lone);
  const room = LossPrism.room(frame, draw);

  // ---- What is shown -----------------------------------------------------------------------

  let shown = null;
  let facet = "value";
  let arrays = {};
  let size = { width: 0, height: 0 };
  // The part of the matrix in view, in cells.
  let seen = { shape: "", top: 0, left: 0, rows: 1, columns: 1 };
  let numbers = null;
  const offscreen = document.createElement("canvas");
  const hatching = document.createElement("canvas");

  function take() {
    shown = channel.picture.shown;
    arrays = {
      value: floats(shown.value),
      gradient: floats(shown.gradient),
      weight: floats(shown.weight),
      mask: shown.mask ? bytes(shown.mask) : null,
    };
    numbers = LossPrism.live(shown);
    facet = available(channel.scenario.view.facet) ? channel.scenario.view.facet : "value";
    const shape = `${shown.rows}×${shown.columns}`;
    if (shape !== seen.shape) seen = { shape, top: 0, left: 0, rows: shown.rows, columns: shown.columns };
    const single = isNumber() || isEmpty();
    head.hidden = single;
    for (const part of [frame, orders.closest("label"), bar.firstChild, tableButton, card]) part.hidden = single;
    lone.hidden = !single;
    if (single) {
      table.hidden = note.hidden = whole.hidden = true;
      tableButton.setAttribute("aria-pressed", "false");
      showNumber();
      canvas.dataset.drawn = String(channel.drawn ?? 0);
      return;
    }
    draw();
    describe();
  }

  const stepShown = () => channel.picture.steps[channel.picture.chosen];
  const isNumber = () => "value" in stepShown();
  const isEmpty = () => !isNumber() && shown.rows * shown.columns === 0;

  // A step that is one number: large, with its formula; the loss with its landmarks. Or a step
  // that is none: a batch without triplets, say.
  function showNumber() {
    const step = stepShown();
    const { figures, steps, chosen } = channel.picture;
    const formula = h("div.lp-live");
    if (step.latex) tex(formula, step.latex, true);
    else formula.append(h("code", {}, step.source || step.name));
    if (isEmpty()) {
      const cells = { rows: shown.all_rows, columns: shown.all_columns };
      lone.replaceChildren(formula, h("p.lp-note", {}, say("ui.empty_step", cells)));
      return;
    }
    const told = [formula, h("strong", {}, show(step.value, 6))];
    if (shown.live) {
      const put = h("div.lp-live.lp-put");
      tex(put, `${substituted(0, 0)} = ${texNumber(step.value).replace(/^\((.*)\)$/, "$1")}`, true);
      wire(put);
      told.splice(1, 0, put);
    }
    if (chosen === steps.length - 1) {
      told.push(h("div.lp-marks", {}, LossPrism.scale(figures)));
      for (const landmark of ["collapse", "floor"]) {
        const value = read(figures[landmark]);
        if (!Number.isFinite(value)) continue;
        const line = h("span");
        tex(line, `${channel.form[landmark]} = ${texNumber(value).replace(/^\((.*)\)$/, "$1")}`);
        told.push(h(`p.lp-landmark.lp-${landmark}`, {}, say(`ui.${landmark}_is`), " ", line));
      }
    } else if (arrays.gradient) {
      told.push(h("p.lp-note", {}, say("ui.gradient_at_step", { step: step.name, value: show(arrays.gradient[0]) })));
    }
    lone.replaceChildren(...told);
  }

  const available = (name) => name === "value" || Boolean(arrays[name]);

  // ---- Drawing -----------------------------------------------------------------------------

  // Whether 0 is the middle of the scale: as the quantity means it, whatever values are in view.
  const signed = () => (facet === "gradient" || (facet === "value" && shown.signed));

  // Least and largest finite number in view, or as far to both sides of 0.
  function range(values) {
    let least = Infinity;
    let largest = -Infinity;
    for (let row = seen.top; row < seen.top + seen.rows; row += 1) {
      const from = row * shown.columns + seen.left;
      for (let i = from; i < from + seen.columns; i += 1) {
        const v = values[i];
        if (v < least && v > -Infinity) least = v;
        if (v > largest && v < Infinity) largest = v;
      }
    }
    if (least > largest) [least, largest] = [0, 0];
    if (signed()) {
      const reach = Math.max(-least, largest) || 1;
      return [-reach, reach];
    }
    return facet === "weight" ? [0, largest] : [least, largest];
  }

  function paint(values, least, largest, ramp) {
    const { rows, columns } = shown;
    offscreen.width = columns;
    offscreen.height = rows;
    const image = new ImageData(columns, rows);
    const pixels = new Uint32Array(image.data.buffer);
    const table = LossPrism.colours(ramp);
    const broken = LossPrism.word(LossPrism.palette().broken);
    const factor = largest > least ? 255 / (largest - least) : 0;
    for (let i = 0; i < pixels.length; i += 1) {
      const v = values[i];
      if (v === -Infinity) pixels[i] = 0;
      else if (isBroken(v)) pixels[i] = broken;
      else pixels[i] = table[Math.max(0, Math.min(255, ((v - least) * factor + 0.5) | 0))];
    }
    offscreen.getContext("2d").putImageData(image, 0, 0);
  }

  // Cells that take no part are hatched, so that they never depend on a colour.
  function hatch(context, width, height, ratio) {
    const { rows, columns } = shown;
    const mask = arrays.mask;
    if (facet === "mask" || !mask || shown.boolean || !shown.hatched) return false;
    const image = new ImageData(columns, rows);
    const pixels = new Uint32Array(image.data.buffer);
    let any = false;
    for (let i = 0; i < pixels.length; i += 1) {
      if (!mask[i]) {
        pixels[i] = 0xff000000;
        any = true;
      }
    }
    if (!any) return false;
    hatching.width = width;
    hatching.height = height;
    const over = hatching.getContext("2d");
    over.imageSmoothingEnabled = false;
    offscreen.getContext("2d").putImageData(image, 0, 0);
    over.drawImage(offscreen, seen.left, seen.top, seen.columns, seen.rows, 0, 0, width, height);
    over.globalCompositeOperation = "source-in";
    over.fillStyle = LossPrism.hatch(over, ratio);
    over.fillRect(0, 0, width, height);
    over.globalCompositeOperation = "source-over";
    context.drawImage(hatching, 0, 0);
    return true;
  }

  const isBroken = (value) => Number.isNaN(value) || value === Infinity;

  // What is no number is crossed out as well, where a cell has room for it.
  function cross(context, values, width, height, ratio) {
    const [wide, tall] = [width / seen.columns, height / seen.rows];
    let any = false;
    context.strokeStyle = LossPrism.palette().ground;
    context.lineWidth = 1.5 * ratio;
    context.beginPath();
    for (let row = 0; row < seen.rows; row += 1) {
      for (let column = 0; column < seen.columns; column += 1) {
        if (!isBroken(values[(seen.top + row) * shown.columns + seen.left + column])) continue;
        any = true;
        if (Math.min(wide, tall) < 7 * ratio) continue;
        const [x, y, arm] = [(column + 0.5) * wide, (row + 0.5) * tall, 0.25 * Math.min(wide, tall)];
        for (const lean of [-1, 1]) {
          context.moveTo(x - arm, y - lean * arm);
          context.lineTo(x + arm, y + lean * arm);
        }
      }
    }
    context.stroke();
    return any;
  }

  function draw() {
    if (!shown || isNumber() || isEmpty() || !room.width) return;
    const { rows, columns } = seen;
    const { width: across, magnified } = room;
    const ratio = (window.devicePixelRatio || 1) * magnified;
    const narrow = across < 480;
    root.classList.toggle("lp-narrow", narrow);
    const fragments = rows > 1 && rows <= 32 && across >= 640;
    const wide = Math.max(160, Math.min(560, across - (fragments ? 246 : narrow ? 72 : 160)));
    // A vector is a strip; a matrix is square in the cell, as far as the room goes.
    // The card with the formula below it stays on the screen, also on a projector's.
    const around = magnified > 1 ? 325 : 260; // on a projector the bar stands above
    const tallest = Math.max(280, Math.min(560, window.innerHeight / magnified - around));
    const cell = Math.min(wide / columns, tallest / rows, rows === 1 ? 40 : 64);
    const tall = rows === 1 ? 40 : Math.max(48, Math.min(tallest, cell * rows));
    const broad = rows === 1 ? wide : Math.max(48, Math.min(wide, cell * columns));
    size = { width: Math.round(broad), height: Math.round(tall) };
    const [width, height] = [Math.round(size.width * ratio), Math.round(size.height * ratio)];
    if (canvas.width !== width || canvas.height !== height) {
      canvas.width = width;
      canvas.height = height;
      canvas.style.width = `${size.width}px`;
      canvas.style.height = `${size.height}px`;
      stage.style.width = canvas.style.width;
      stage.style.height = canvas.style.height;
    }
    const boolean = facet === "mask" || shown.boolean;
    const values = facet === "mask" ? arrays.mask : arrays[facet];
    const [least, largest] = boolean ? [0, 1] : range(values);
    const ramp = boolean ? "mask" : signed() ? "diverging" : "sequential";
    paint(values, least, largest, ramp);
    const context = canvas.getContext("2d");
    context.imageSmoothingEnabled = false;
    context.clearRect(0, 0, width, height);
    context.drawImage(offscreen, seen.left, seen.top, columns, rows, 0, 0, width, height);
    swatches.masked.hidden = !hatch(context, width, height, ratio);
    swatches.broken.hidden = boolean || !cross(context, values, width, height, ratio);
    drawLegend(least, largest, ramp, boolean);
    for (const [name, button] of Object.entries(facetButtons)) {
      button.disabled = !available(name);
      button.setAttribute("aria-selected", String(name === facet));
    }
    canvas.dataset.drawn = String(channel.drawn ?? 0);
    whole.hidden = rows === shown.rows && columns === shown.columns;
    ticks(rowTicks, shown.row_axis, seen.top, rows, size.height, fragments);
    ticks(columnTicks, shown.column_axis, seen.left, columns, size.width, false);
    if (!table.hidden) fillTable();
    markPin();
    mark();
  }

  // Numbers beside the cells, all or every so many; where there is room, the sentence begins.
  function ticks(box, axis, from, count, length, fragments) {
    const key = `${axis.name}|${from}|${count}|${length}|${fragments}|${axis.items.slice(from, from + count).join()}|${channel.batch?.key}`;
    if (box.dataset.key === key) return;
    box.dataset.key = key;
    const upright = box === rowTicks;
    box.style[upright ? "height" : "width"] = `${length}px`;
    box.classList.toggle("lp-worded", fragments);
    if (!axis.name || (upright && shown.rows === 1)) { box.replaceChildren(); return; }
    const cell = length / count;
    const every = Math.ceil((upright ? 13 : 22) / cell);
    const marks = [];
    for (let i = 0; i < count; i += every) {
      const [item, pair] = [axis.items[from + i], axis.pairs[from + i] ?? -1];
      const number = channel.nameOf(axis.name, item, pair);
      const sentence = axis.sentences[from + i] >= 0
        ? channel.batch.sentences[axis.sentences[from + i]] : channel.batch?.first[pair] ?? "";
      const words = fragments && sentence ? [h("i", {}, clip(sentence, 24)), " "] : "";
      const mark = h("span", { title: sentence }, words, h("b", {}, number));
      mark.style[upright ? "top" : "left"] = `${(i + 0.5) * cell}px`;
      marks.push(mark);
    }
    box.replaceChildren(...marks);
  }

  function drawLegend(least, largest, ramp, boolean) {
    const table = LossPrism.colours(ramp);
    measured.textContent = say(`legend.${shown.boolean ? "mask" : facet}`);
    legend.height = 128;
    const context = legend.getContext("2d");
    for (let y = 0; y < 128; y += 1) {
      context.fillStyle = LossPrism.css(table, boolean ? 255 * (y < 64) : 255 - y * 2);
      context.fillRect(0, y, 12, 1);
    }
    if (boolean) {
      [high.textContent, middle.textContent, low.textContent] = [say("ui.yes"), "", say("ui.no")];
      return;
    }
    const unit = facet === "weight" ? percent : (v) => show(v, 3);
    high.textContent = unit(largest);
    middle.textContent = signed() ? "0" : unit((least + largest) / 2);
    low.textContent = unit(least);
  }

  function describe() {
    const step = channel.picture.steps[channel.picture.chosen];
    const formula = step.latex || `\\texttt{${step.name.replace(/_/g, "\\_")}}`;
    if (title.dataset.formula !== formula + LossPrism.language()) {
      title.dataset.formula = formula + LossPrism.language();
      tex(title, formula);
    }
    orders.value = channel.scenario.view.order;
    const axis = (a, count) => (a.name
      ? say("ui.axis", { what: say(`axis.${a.name}`), count }) : "");
    rowName.textContent = shown.rows > 1 ? axis(shown.row_axis, shown.all_rows) : "";
    columnName.textContent = axis(shown.column_axis, shown.all_columns);
    const cut = shown.rows < shown.all_rows || shown.columns < shown.all_columns;
    note.hidden = !cut;
    if (cut) {
      note.textContent = say("ui.cut", {
        rows: shown.rows, columns: shown.columns, all: `${shown.all_rows} × ${shown.all_columns}`,
      });
    }
    canvas.setAttribute("aria-label", say("ui.matrix_label", {
      name: step.name, rows: shown.all_rows, columns: shown.all_columns, facet: say(`facet.${facet}`),
    }));
    showCard();
  }

  // ---- Pointing ----------------------------------------------------------------------------

  // A cell as the items it stands for, which outlive sorting; and back to its place.
  const itemsAt = (row, column) => [shown.row_axis.items[row], shown.column_axis.items[column]];
  function placeOf([rowItem, columnItem]) {
    const row = shown.row_axis.items.indexOf(rowItem);
    const column = shown.column_axis.items.indexOf(columnItem);
    return row < 0 || column < 0 ? null : [row, column];
  }

  function pairsOf(row, column) {
    const found = [shown.row_axis.pairs[row], shown.column_axis.pairs[column]];
    return [...new Set(found.filter((pair) => pair >= 0))];
  }

  // A click pins; a drag chooses the part to look at; the wheel goes nearer or back.
  const grid = LossPrism.grid({
    canvas, lasso,
    view: () => (shown ? seen : null),
    hover: (cell) => (cell ? channel.point(pairsOf(...cell), itemsAt(...cell)) : channel.point()),
    pick: (cell) => pin(itemsAt(...cell)),
    choose: zoom,
    pinched: ({ left, right, top, bottom }) => {
      grid.settle();
      zoom({
        top: Math.round(seen.top + top * seen.rows), rows: Math.round((bottom - top) * seen.rows),
        left: Math.round(seen.left + left * seen.columns), columns: Math.round((right - left) * seen.columns),
      });
    },
  });

  canvas.addEventListener("wheel", (event) => {
    const at = grid.meant(event) && grid.under(event);
    if (!at) return;
    event.preventDefault();
    const factor = event.deltaY > 0 ? 1.25 : 0.8;
    const [rows, columns] = [Math.round(seen.rows * factor), Math.round(seen.columns * factor)];
    const share = [(at[0] - seen.top) / seen.rows, (at[1] - seen.left) / seen.columns];
    zoom({ top: Math.round(at[0] - share[0] * rows), left: Math.round(at[1] - share[1] * columns), rows, columns });
  }, { passive: false });

  // Look at this part, at least 3 cells either way; null for all of it.
  function zoom(part) {
    const all = { top: 0, left: 0, rows: shown.rows, columns: shown.columns };
    const { top, left, rows, columns } = part ?? all;
    const tall = Math.max(Math.min(3, shown.rows), Math.min(rows, shown.rows));
    const wide = Math.max(Math.min(3, shown.columns), Math.min(columns, shown.columns));
    seen = {
      shape: seen.shape, rows: tall, columns: wide,
      top: Math.max(0, Math.min(top, shown.rows - tall)),
      left: Math.max(0, Math.min(left, shown.columns - wide)),
    };
    draw();
  }

  // The same numbers as a table, for whoever reads rather than looks; at most 40 by 40.
  function toggleTable() {
    table.hidden = !table.hidden;
    tableButton.setAttribute("aria-pressed", String(!table.hidden));
    if (!table.hidden && shown) fillTable();
  }

  function fillTable() {
    const values = facet === "mask" ? arrays.mask : arrays[facet];
    const [rows, columns] = [Math.min(seen.rows, 40), Math.min(seen.columns, 40)];
    const name = (axis, i) => channel.nameOf(axis.name, axis.items[i] ?? i, axis.pairs[i] ?? -1);
    const range = (count) => Array.from({ length: count }, (_, i) => i);
    const head = h("tr", {}, h("td"), range(columns).map((c) => h("th", { scope: "col" }, name(shown.column_axis, seen.left + c))));
    const body = range(rows).map((r) => h("tr", {},
      h("th", { scope: "row" }, name(shown.row_axis, seen.top + r)),
      range(columns).map((c) => {
        const v = values[(seen.top + r) * shown.columns + seen.left + c];
        return h("td", {}, v === -Infinity ? "·" : show(v, 3));
      })));
    table.replaceChildren(h("table", {}, h("caption", {}, canvas.getAttribute("aria-label") ?? ""), h("thead", {}, head), h("tbody", {}, body)));
  }
  canvas.addEventListener("keydown", (event) => {
    if (!shown || !grid.isArrow(event)) {
      if (event.key === "Enter" && channel.pointed.cell) pin(channel.pointed.cell);
      // Esc goes back one thing at a time; what is left of it leaves the presentation.
      const closer = seen.rows < shown?.rows || seen.columns < shown?.columns;
      if (event.key === "Escape" && shown && (closer || channel.scenario.view.pinned)) {
        event.preventDefault();
        pin(null);
        zoom(null);
      }
      return;
    }
    event.preventDefault();
    const from = (channel.pointed.cell && placeOf(channel.pointed.cell)) || [0, -1];
    const [row, column] = grid.step(event, from, shown.rows, shown.columns);
    follow(row, column);
    channel.point(pairsOf(row, column), itemsAt(row, column));
    announce(row, column);
  });

  // A walk past the edge of what is in view takes the view along.
  function follow(row, column) {
    const top = Math.max(Math.min(seen.top, row), row - seen.rows + 1);
    const left = Math.max(Math.min(seen.left, column), column - seen.columns + 1);
    if (top !== seen.top || left !== seen.left) zoom({ ...seen, top, left });
  }

  function announce(row, column) {
    const values = facet === "mask" ? arrays.mask : arrays[facet];
    const value = values[row * shown.columns + column];
    const said = value === -Infinity ? say("ui.takes_no_part") : show(value);
    spoken.textContent = say("ui.cell_says", { row: row + 1, column: column + 1, value: said });
  }

  function pin(cell) {
    const same = String(channel.scenario.view.pinned) === String(cell);
    channel.scenario.view = { ...channel.scenario.view, pinned: same ? null : cell };
    markPin();
    showCard();
    channel.remember();
  }

  function place(element, row, column, rows = 1, columns = 1) {
    const [tall, wide] = [size.height / seen.rows, size.width / seen.columns];
    const [top, left] = [Math.max(row, seen.top), Math.max(column, seen.left)];
    const bottom = Math.min(row + rows, seen.top + seen.rows);
    const right = Math.min(column + columns, seen.left + seen.columns);
    element.hidden = bottom <= top || right <= left;
    element.style.transform = `translate(${(left - seen.left) * wide}px, ${(top - seen.top) * tall}px)`;
    element.style.width = `${Math.max((right - left) * wide, 2)}px`;
    element.style.height = `${Math.max((bottom - top) * tall, 2)}px`;
  }

  function markPin() {
    const pinned = channel.scenario.view.pinned;
    const at = pinned && placeOf(pinned);
    if (at) place(pinMark, ...at);
    else pinMark.hidden = true;
  }

  // A cell pointed at here gets a frame; pairs pointed at elsewhere get their row and column.
  function mark() {
    const { cell, pairs, part } = channel.pointed;
    const at = cell && placeOf(cell);
    cellMark.hidden = !at || (part && part.at !== "cell");
    rowBand.hidden = columnBand.hidden = true;
    for (const [band, name] of [[rowBand, "row"], [columnBand, "column"]]) band.classList.toggle("lp-strong", part?.at === name);
    if (!shown) return;
    if (at) {
      if (!cellMark.hidden) place(cellMark, ...at);
      if (!part || part.at === "row") place(rowBand, at[0], 0, 1, shown.columns);
      if (!part || part.at === "column") place(columnBand, 0, at[1], shown.rows, 1);
    } else if (pairs.length) {
      const row = shown.row_axis.pairs.indexOf(pairs[0]);
      const column = shown.column_axis.pairs.indexOf(pairs.at(-1));
      if (row >= 0) place(rowBand, row, 0, 1, shown.columns);
      if (column >= 0) place(columnBand, 0, column, shown.rows, 1);
    }
  }

  // ---- The card: both sides in words, the formula with its numbers -------------------------

  const LETTERS = { pair: ["j", "i"], query: ["i", "i"], key: ["j", "j"] };

  function side(axis, index, rowSide) {
    const item = axis.items[index];
    if (item === undefined || !axis.name) return null;
    const [pair, sentence] = [axis.pairs[index] ?? -1, axis.sentences[index] ?? -1];
    const letter = (LETTERS[axis.name] ?? ["", ""])[rowSide ? 0 : 1];
    const number = channel.nameOf(axis.name, item, pair);
    const head = `${say(`axis.one.${axis.name}`)} ${number}${letter ? ` (${letter})` : ""}`;
    const lines = [];
    if (axis.name === "pair" || axis.name === "level_pair") {
      lines.push(channel.batch.first[pair], channel.batch.second[pair]);
    } else if (sentence >= 0) {
      lines.push(channel.batch.sentences[sentence]);
    }
    const facts = pair >= 0 && (axis.name === "pair" || axis.name === "level_pair")
      ? say("ui.pair_facts", {
        label: show(channel.batch.labels[pair]), score: show(pairScores()[pair]),
      }) : "";
    return h(`div.lp-side.lp-of-${rowSide ? "row" : "column"}`, {}, h("b", {}, head),
      lines.map((line) => h("p", { title: line }, clip(line, 110))),
      facts ? h("small", {}, facts) : null);
  }

  let scoresOf = null;
  let scores = null;
  function pairScores() {
    if (scoresOf !== channel.picture) {
      scoresOf = channel.picture;
      scores = floats(channel.picture.pairs.score);
    }
    return scores;
  }

  // A number in the formula lights up what it came from, and leads there.
  function wire(formula, row, column) {
    const cell = row === undefined ? null : itemsAt(row, column);
    for (const part of formula.querySelectorAll("[data-at]")) {
      const { of = "", at, pair: own = "-1", more } = part.dataset;
      const axis = { row: shown.row_axis, column: shown.column_axis }[at];
      const place = at === "row" ? row : column;
      const pair = Number(own) >= 0 ? Number(own) : axis?.pairs[place] ?? -1;
      const pairs = at === "cell" ? pairsOf(row, column) : pair >= 0 ? [pair] : [];
      const name = axis?.name ? `${say(`axis.one.${axis.name}`)} ${channel.nameOf(axis.name, axis.items[place], axis.pairs[place] ?? -1)}` : "";
      const whose = Number(own) >= 0 ? `${say("axis.one.pair")} ${channel.numberOf(pair)}` : name;
      part.title = more ? say("ui.live_rest", { count: more }) : [of, whose].filter(Boolean).join(" · ");
      part.setAttribute("role", "button");
      part.setAttribute("aria-label", `${part.title}: ${part.textContent}`);
      part.tabIndex = 0;
      const reach = () => channel.point(pairs, cell, { of, at });
      const leave = () => channel.point();
      const lead = () => {
        const step = channel.stepNamed(of, channel.picture.chosen);
        if (step >= 0) channel.goTo(step);
        else document.querySelector(`input[data-parameter="${of}"]`)?.focus();
      };
      for (const [event, act] of Object.entries({ mouseenter: reach, focus: reach, mouseleave: leave, blur: leave, click: lead })) part.addEventListener(event, act);
      part.addEventListener("keydown", (event) => { if (event.key === "Enter") lead(); });
    }
    // Its parts can have the focus, so it is this form of the formula that is read aloud.
    formula.querySelector(".katex-html")?.removeAttribute("aria-hidden");
    formula.querySelector(".katex-mathml")?.setAttribute("aria-hidden", "true");
  }

  // The names of the row and the column, for formulas that compare them.
  const nameAt = (axis, place) => channel.nameOf(axis.name, axis.items[place], axis.pairs[place] ?? -1);
  const substituted = (row, column) => numbers(row, column, {
    r: () => nameAt(shown.row_axis, row), c: () => nameAt(shown.column_axis, column),
  });

  // The card stays with the cell last pointed at, so that its formula can be reached.
  let lastCell = null;
  let told = "";
  let cardOf = null;
  function showCard() {
    if (channel.pointed.cell) lastCell = channel.pointed.cell;
    const { pinned } = channel.scenario.view;
    const cell = channel.pointed.cell ?? pinned ?? lastCell;
    const at = shown && cell && placeOf(cell);
    const key = JSON.stringify([at && cell, pinned, LossPrism.language()]);
    if (key === told && cardOf === channel.picture) return;
    told = key;
    cardOf = channel.picture;
    if (!at || !channel.batch) {
      card.replaceChildren(h("p.lp-hint", {}, hint("ui.hover_hint", "ui.tap_hint")));
      return;
    }
    const [row, column] = at;
    const index = row * shown.columns + column;
    const value = arrays.value[index];
    const absent = arrays.mask && !arrays.mask[index];
    const formula = h("div.lp-live");
    const live = shown.live && substituted(row, column);
    if (shown.boolean) {
      if (live) tex(formula, `${live}\\,?`);
    } else {
      // What takes no part has a number in the formula, and no part of it in the cell.
      const becomes = absent ? "\\;\\to\\;" : " = ";
      tex(formula, (live ? live + becomes : "") + texNumber(value).replace(/^\((.*)\)$/, "$1"));
    }
    wire(formula, row, column);
    const facts = [];
    if (shown.boolean) facts.push(h(value ? "span" : "span.lp-absent", {}, say(value ? "ui.takes_part" : "ui.takes_no_part")));
    else if (absent) facts.push(h("span.lp-absent", {}, say("ui.takes_no_part")));
    if (arrays.weight && !absent) facts.push(h("span", {}, say("ui.weight_is", { share: percent(arrays.weight[index]) })));
    if (arrays.gradient) facts.push(h("span", {}, say("ui.gradient_is", { step: shown.name, value: show(arrays.gradient[index]) })));
    if (arrays.gradient && shown.beside && !absent) facts.push(h("span", {}, say("ui.gradient_beside")));
    card.replaceChildren(
      h("div.lp-sides", {}, side(shown.row_axis, row, true), side(shown.column_axis, column, false)),
      formula,
      h("div.lp-facts", {}, facts, String(cell) === String(pinned) ? h("span.lp-pinned", {}, say("ui.pinned")) : null),
    );
  }

  channel.on("picture", take);
  channel.on("pointed", () => { mark(); showCard(); });
  channel.on("theme", draw);
  channel.on("language", () => { if (shown) take(); });
};

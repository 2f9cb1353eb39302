// The matrix instrument: one step as value, mask, weight or gradient, cell by cell.
(window.LossPrismInstruments ??= {}).matrix = (root, channel) => {
  "use strict";
  const { h, say, worded, show, percent, tex, texNumber, floats, bytes, clip } = LossPrism;
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
  const rowBand = h("div.lp-band");
  const columnBand = h("div.lp-band");
  const cellMark = h("div.lp-cell");
  const pinMark = h("div.lp-cell.lp-pin");
  const stage = h("div.lp-stage", {}, canvas, rowBand, columnBand, pinMark, cellMark);
  const legend = h("canvas.lp-legend", { width: 12 });
  const [high, middle, low] = [h("span"), h("span"), h("span")];
  const scale = h("div.lp-scale", {}, high, middle, low);
  const rowName = h("div.lp-axis.lp-row-axis");
  const columnName = h("div.lp-axis");
  const note = h("p.lp-note");
  const card = h("div.lp-card", { "aria-live": "polite" });
  root.append(
    h("div.lp-bar", {},
      h("div.lp-tabs", { role: "tablist" }, Object.values(facetButtons)),
      h("label.lp-inline", {}, worded("span", "ui.sorted_by"), orders)),
    h("div.lp-title", {}, title),
    h("div.lp-frame", {}, rowName, stage, h("div.lp-legend-box", {}, legend, scale)),
    columnName, note, card,
  );

  // ---- What is shown -----------------------------------------------------------------------

  let shown = null;
  let facet = "value";
  let arrays = {};
  let size = { width: 0, height: 0 };
  let vectors = {};
  const offscreen = document.createElement("canvas");
  const hatching = document.createElement("canvas");
  const hatchTile = document.createElement("canvas");

  function take() {
    shown = channel.picture.shown;
    arrays = {
      value: floats(shown.value),
      gradient: floats(shown.gradient),
      weight: floats(shown.weight),
      mask: shown.mask ? bytes(shown.mask) : null,
      others: Object.fromEntries(Object.entries(shown.others).map(([k, v]) => [k, floats(v)])),
    };
    vectors = {};
    facet = available(channel.scenario.view.facet) ? channel.scenario.view.facet : "value";
    draw();
    describe();
  }

  const available = (name) => name === "value" || Boolean(arrays[name]);

  function vector(name) {
    if (!(name in vectors)) vectors[name] = floats(channel.picture.vectors[name]);
    return vectors[name];
  }

  // ---- Drawing -----------------------------------------------------------------------------

  // Least and largest finite number; symmetric about 0 where both signs occur.
  function range(values) {
    let least = Infinity;
    let largest = -Infinity;
    for (let i = 0; i < values.length; i += 1) {
      const v = values[i];
      if (v < least && v > -Infinity) least = v;
      if (v > largest && v < Infinity) largest = v;
    }
    if (least > largest) return [0, 0];
    if (least < 0 && largest > 0) {
      const reach = Math.max(-least, largest);
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
      else if (v !== v || v === Infinity) pixels[i] = broken;
      else pixels[i] = table[Math.max(0, Math.min(255, ((v - least) * factor + 0.5) | 0))];
    }
    offscreen.getContext("2d").putImageData(image, 0, 0);
  }

  // Cells that take no part are hatched, so that they never depend on a colour.
  function hatch(context, width, height, ratio) {
    const { rows, columns } = shown;
    const mask = arrays.mask;
    if (facet === "mask" || !mask || shown.boolean || !shown.hatched) return;
    const image = new ImageData(columns, rows);
    const pixels = new Uint32Array(image.data.buffer);
    let any = false;
    for (let i = 0; i < pixels.length; i += 1) {
      if (!mask[i]) {
        pixels[i] = 0xff000000;
        any = true;
      }
    }
    if (!any) return;
    hatching.width = width;
    hatching.height = height;
    const over = hatching.getContext("2d");
    over.imageSmoothingEnabled = false;
    offscreen.getContext("2d").putImageData(image, 0, 0);
    over.drawImage(offscreen, 0, 0, columns, rows, 0, 0, width, height);
    over.globalCompositeOperation = "source-in";
    const side = Math.round(6 * ratio);
    hatchTile.width = hatchTile.height = side;
    const line = hatchTile.getContext("2d");
    line.strokeStyle = LossPrism.palette().hatch;
    line.lineWidth = ratio;
    line.beginPath();
    for (const shift of [-side, 0, side]) {
      line.moveTo(shift, side);
      line.lineTo(shift + side, 0);
    }
    line.stroke();
    over.fillStyle = over.createPattern(hatchTile, "repeat");
    over.fillRect(0, 0, width, height);
    over.globalCompositeOperation = "source-over";
    context.drawImage(hatching, 0, 0);
  }

  function draw() {
    if (!shown) return;
    const { rows, columns } = shown;
    const ratio = window.devicePixelRatio || 1;
    const room = Math.max(160, root.querySelector(".lp-frame").clientWidth - 118);
    const wide = Math.min(room, 560);
    // A vector is a strip; a matrix is square in the cell, as far as the room goes.
    const cell = Math.min(wide / columns, 560 / rows, rows === 1 ? 40 : 64);
    const tall = rows === 1 ? 40 : Math.max(48, Math.min(560, cell * rows));
    const across = rows === 1 ? wide : Math.max(48, Math.min(wide, cell * columns));
    size = { width: Math.round(across), height: Math.round(tall) };
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
    const ramp = boolean ? "mask" : least < 0 && largest > 0 ? "diverging" : "sequential";
    paint(values, least, largest, ramp);
    const context = canvas.getContext("2d");
    context.imageSmoothingEnabled = false;
    context.clearRect(0, 0, width, height);
    context.drawImage(offscreen, 0, 0, columns, rows, 0, 0, width, height);
    hatch(context, width, height, ratio);
    drawLegend(least, largest, ramp, boolean);
    for (const [name, button] of Object.entries(facetButtons)) {
      button.disabled = !available(name);
      button.setAttribute("aria-selected", String(name === facet));
    }
    canvas.dataset.drawn = String(channel.drawn ?? 0);
    markPin();
    mark();
  }

  function drawLegend(least, largest, ramp, boolean) {
    const table = LossPrism.colours(ramp);
    legend.height = 128;
    const context = legend.getContext("2d");
    for (let y = 0; y < 128; y += 1) {
      context.fillStyle = LossPrism.css(table, 255 - y * 2);
      context.fillRect(0, y, 12, 1);
    }
    if (boolean) {
      [high.textContent, middle.textContent, low.textContent] = [say("ui.yes"), "", say("ui.no")];
      return;
    }
    const unit = facet === "weight" ? percent : (v) => show(v, 3);
    high.textContent = unit(largest);
    middle.textContent = least < 0 && largest > 0 ? "0" : unit((least + largest) / 2);
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

  function cellUnder(event) {
    const box = canvas.getBoundingClientRect();
    const row = Math.floor(((event.clientY - box.top) / box.height) * shown.rows);
    const column = Math.floor(((event.clientX - box.left) / box.width) * shown.columns);
    const inside = row >= 0 && column >= 0 && row < shown.rows && column < shown.columns;
    return inside ? [row, column] : null;
  }

  function pairsOf(row, column) {
    const found = [shown.row_axis.pairs[row], shown.column_axis.pairs[column]];
    return [...new Set(found.filter((pair) => pair >= 0))];
  }

  canvas.addEventListener("mousemove", (event) => {
    const cell = shown && cellUnder(event);
    if (cell) channel.point(pairsOf(...cell), itemsAt(...cell));
    else channel.point();
  });
  canvas.addEventListener("mouseleave", () => channel.point());
  canvas.addEventListener("click", (event) => {
    const cell = shown && cellUnder(event);
    if (cell) pin(itemsAt(...cell));
  });
  canvas.addEventListener("keydown", (event) => {
    const moves = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
    if (!shown || !(event.key in moves)) {
      if (event.key === "Enter" && channel.pointed.cell) pin(channel.pointed.cell);
      if (event.key === "Escape") pin(null);
      return;
    }
    event.preventDefault();
    const from = (channel.pointed.cell && placeOf(channel.pointed.cell)) || [0, -1];
    const [down, right] = moves[event.key];
    const row = Math.max(0, Math.min(shown.rows - 1, from[0] + down));
    const column = Math.max(0, Math.min(shown.columns - 1, from[1] + right));
    channel.point(pairsOf(row, column), itemsAt(row, column));
  });

  function pin(cell) {
    const same = String(channel.scenario.view.pinned) === String(cell);
    channel.scenario.view = { ...channel.scenario.view, pinned: same ? null : cell };
    markPin();
    showCard();
    channel.remember();
  }

  function place(element, row, column, rows = 1, columns = 1) {
    const [tall, wide] = [size.height / shown.rows, size.width / shown.columns];
    element.style.transform = `translate(${column * wide}px, ${row * tall}px)`;
    element.style.width = `${Math.max(columns * wide, 2)}px`;
    element.style.height = `${Math.max(rows * tall, 2)}px`;
    element.hidden = false;
  }

  function markPin() {
    const pinned = channel.scenario.view.pinned;
    const at = pinned && placeOf(pinned);
    if (at) place(pinMark, ...at);
    else pinMark.hidden = true;
  }

  // A cell pointed at here gets a frame; pairs pointed at elsewhere get their row and column.
  function mark() {
    const { cell, pairs } = channel.pointed;
    const at = cell && placeOf(cell);
    cellMark.hidden = !at;
    rowBand.hidden = columnBand.hidden = true;
    if (!shown) return;
    if (at) {
      place(cellMark, ...at);
      place(rowBand, at[0], 0, 1, shown.columns);
      place(columnBand, 0, at[1], shown.rows, 1);
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
    const number = ["pair", "level"].includes(axis.name) ? channel.numberOf(pair) : item + 1;
    const head = `${say(`axis.one.${axis.name}`)} ${number}${letter ? ` (${letter})` : ""}`;
    const lines = [];
    if (axis.name === "pair" || axis.name === "level") {
      lines.push(channel.batch.first[pair], channel.batch.second[pair]);
    } else if (sentence >= 0) {
      lines.push(channel.batch.sentences[sentence]);
    }
    const facts = pair >= 0 && (axis.name === "pair" || axis.name === "level")
      ? say("ui.pair_facts", {
        label: show(channel.batch.labels[pair]), score: show(pairScores()[pair]),
      }) : "";
    return h("div.lp-side", {}, h("b", {}, head),
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

  // «name[r]» and «name[r,c]» replaced by the numbers of this cell, parameters by theirs.
  function substituted(live, row, column, index) {
    const [rowItem, columnItem] = itemsAt(row, column);
    const strip = shown.rows === 1;
    return live.replace(/«([^»]+)»/g, (all, reference) => {
      const [name, where] = reference.replace("]", "").split("[");
      if (where === undefined) return texNumber(channel.picture.parameters[name]);
      if (where === "r,c") return texNumber(arrays.others[name]?.[index]);
      const item = where === "c" || strip ? columnItem : rowItem;
      return texNumber(vector(name)?.[item]);
    });
  }

  function showCard() {
    const cell = channel.pointed.cell ?? channel.scenario.view.pinned;
    const at = shown && cell && placeOf(cell);
    if (!at || !channel.batch) {
      card.replaceChildren(h("p.lp-hint", {}, say("ui.hover_hint")));
      return;
    }
    const [row, column] = at;
    const index = row * shown.columns + column;
    const value = arrays.value[index];
    const absent = arrays.mask && !arrays.mask[index];
    const formula = h("div.lp-live");
    if (shown.boolean) {
      formula.textContent = say(value ? "ui.takes_part" : "ui.takes_no_part");
    } else {
      const live = shown.live ? `${substituted(shown.live, row, column, index)} = ` : "";
      tex(formula, value === -Infinity ? "-\\infty" : `${live}${texNumber(value)}`);
    }
    const facts = [];
    if (absent && !shown.boolean) facts.push(h("span.lp-absent", {}, say("ui.takes_no_part")));
    if (arrays.weight && !absent) facts.push(h("span", {}, say("ui.weight_is", { share: percent(arrays.weight[index]) })));
    if (arrays.gradient) facts.push(h("span", {}, say("ui.gradient_is", { value: show(arrays.gradient[index]) })));
    const pinned = !channel.pointed.cell;
    card.replaceChildren(
      h("div.lp-sides", {}, side(shown.row_axis, row, true), side(shown.column_axis, column, false)),
      formula,
      h("div.lp-facts", {}, facts, pinned ? h("span.lp-pinned", {}, say("ui.pinned")) : null),
    );
  }

  channel.on("picture", take);
  channel.on("pointed", () => { mark(); showCard(); });
  channel.on("theme", draw);
  channel.on("language", () => { if (shown) { describe(); draw(); } });
  new ResizeObserver(() => draw()).observe(root);
};

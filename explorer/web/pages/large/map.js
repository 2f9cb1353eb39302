// The map of a matrix that nobody could store: blocks that can be entered, down to single cells.
import { floats } from "../../kit/arrays.js";
import { cellStage, legendBar, rangeOf } from "../../kit/cells.js";
import { cssOf, rampTable } from "../../kit/colours.js";
import { clip, h, magnified, worded } from "../../kit/dom.js";
import { cellGrid } from "../../kit/grid.js";
import { apart, grouped, percent, show } from "../../kit/numbers.js";
import { sortableTable } from "../../kit/table.js";
import { hint, say } from "../../kit/words.js";

/**
 * @param {HTMLElement} root
 * @param {import("./state.js").LargePage} channel
 */
export default function map(root, channel) {
  const FACETS = ["total", "share", "largest", "masked"];
  const LONGEST = 560; // of a side, in pixels

  // ---- Furniture ---------------------------------------------------------------------------

  let facet = "total";
  const tabs = Object.fromEntries(
    FACETS.map((name) => [
      name,
      worded("button.lp-tab", `large.facet.${name}`, {
        type: "button",
        role: "tab",
        onclick: () => {
          facet = name;
          draw();
          explain();
        },
      }),
    ]),
  );
  const back = h(
    "button.lp-square",
    { type: "button", id: "lp-large-back", "data-title": "large.back", onclick: () => channel.back() },
    "←",
  );
  const forward = h(
    "button.lp-square",
    { type: "button", "data-title": "large.forward", onclick: () => channel.forward() },
    "→",
  );
  const crumbs = h("nav.lp-crumbs", { "data-title": "large.way" });
  const tableButton = worded("button.lp-button", "ui.as_table", {
    type: "button",
    "aria-pressed": "false",
    onclick: toggleTable,
  });
  const cells = cellStage({ role: "application", thin: 3 });
  const { canvas } = cells;
  const legend = legendBar();
  const rowName = h("div.lp-axis.lp-row-axis");
  const columnName = h("div.lp-axis.lp-column-axis");
  const rowTicks = h("div.lp-ticks.lp-row-ticks.lp-label-ticks", { "aria-hidden": "true" });
  const columnTicks = h("div.lp-ticks.lp-column-ticks", { "aria-hidden": "true" });
  const rowStrip = h("canvas.lp-label-strip", { "aria-hidden": "true" });
  const columnStrip = h("canvas.lp-label-strip", { "aria-hidden": "true" });
  const [about, note] = [h("p.lp-note"), h("p.lp-note")];
  const card = h("div.lp-card");
  const spoken = h("div.lp-spoken", { "aria-live": "polite" });
  const table = sortableTable({
    key: "large.blocks",
    sorted: null,
    most: 20,
    columns: [
      { key: "large.rows", cell: (b) => span("rows", b.row), by: (b) => b.row },
      { key: "large.columns", cell: (b) => span("columns", b.column), by: (b) => b.column },
      { key: "large.facet.total", cell: (b) => show(b.total), by: (b) => b.total },
      { key: "large.facet.share", cell: (b) => percent(b.share), by: (b) => b.share },
      { key: "large.facet.largest", cell: (b) => show(b.largest), by: (b) => b.largest },
      { key: "large.facet.masked", cell: (b) => percent(b.masked), by: (b) => b.masked },
    ],
    reach: (b) => point([b.row, b.column]),
    leave: () => point(null),
  });
  table.element.hidden = true;
  const enter = (event) => {
    const { row } = event.target.closest("tbody tr") ?? {};
    if (row) open([row.row, row.column]);
  };
  table.element.addEventListener("click", enter);
  table.element.addEventListener("keydown", (event) => {
    if (event.key === "Enter") enter(event);
  });
  const frame = h(
    "div.lp-frame",
    {},
    rowName,
    rowTicks,
    rowStrip,
    h("div", {}, cells.element, columnStrip, columnTicks, columnName),
    legend.element,
  );
  root.append(
    worded("h2", "large.map"),
    about,
    h("div.lp-bar", {}, h("div.lp-tabs", { role: "tablist" }, Object.values(tabs)), tableButton),
    h("div.lp-way", {}, back, forward, crumbs),
    frame,
    note,
    table.element,
    card,
    spoken,
  );

  // ---- What is shown -----------------------------------------------------------------------

  let shown = null; // the answer with its arrays unpacked
  let pointed = null; // [row, column] of a block
  let announce = false; // whether the next picture is one to be spoken of
  let pinned = null;

  function take() {
    const { answer } = channel;
    shown = {
      ...answer,
      height: answer.rows.edges.length - 1,
      width: answer.columns.edges.length - 1,
      ...Object.fromEntries(FACETS.map((name) => [name, floats(answer[name])])),
    };
    shown.single = shown.rows.items.length > 0 && shown.columns.items.length > 0;
    pointed = null;
    grid.settle();
    pin();
    draw();
    describe();
    if (!table.element.hidden) fillTable();
    if (announce) {
      announce = false;
      spoken.textContent = whereabouts();
    }
  }

  // The marked cell's place in the view, if it is there by itself.
  function pin() {
    const place = channel.cell && [channel.cell[0] - shown.window[0], channel.cell[1] - shown.window[2]];
    const inView = shown.single && place?.every((v, axis) => v >= 0 && v < [shown.height, shown.width][axis]);
    pinned = inView ? place : null;
  }

  const at = (row, column) => row * shown.width + column;
  const isEmpty = (row, column) => shown.masked[at(row, column)] === 1;

  // ---- Drawing -----------------------------------------------------------------------------

  // Shares count from 0. Terms have a meaning on either side of 0, sums of many have none.
  function scaleOf(values, view) {
    if (facet === "masked") return [0, 1];
    const [least, largest] = rangeOf(values, shown.width, view, { fromZero: facet === "share" });
    const terms = facet === "largest" || (shown.single && facet !== "share");
    if (!terms || least >= 0 || largest <= 0) return [least, largest];
    const reach = Math.max(-least, largest);
    return [-reach, reach];
  }

  // What is drawn of each block: what is masked is left free. The mask's ramp is dark where cells
  // take part.
  function valuesOf() {
    const values = shown[facet];
    return Float32Array.from(values, (v, i) => (shown.masked[i] === 1 ? -Infinity : facet === "masked" ? 1 - v : v));
  }

  // What the names, labels and legend beside the map leave free, as the page was last laid out.
  function sideOf() {
    const beside = [rowName, rowTicks, rowStrip, legend.element].map((box) => box.offsetWidth);
    const gap = parseFloat(getComputedStyle(frame).columnGap);
    const free = frame.clientWidth - beside.reduce((sum, width) => sum + width + (width && gap), 0) - 4;
    // The card below it stays on the screen, also on a projector's.
    const tallest = Math.max(280, Math.min(LONGEST, window.innerHeight / magnified(root) - 260));
    return Math.max(180, Math.min(tallest, free));
  }

  function draw() {
    if (!shown) return;
    const { width: columns, height: rows } = shown;
    const side = sideOf();
    // Few bands make a lower map, never one that cannot be hit.
    const upright = Math.min(1, Math.max(0.25, rows / 12, rows / columns));
    const size = { width: side, height: Math.round(side * upright) };
    const view = { top: 0, left: 0, rows, columns };
    const values = valuesOf();
    const [least, largest] = scaleOf(values, view);
    const centred = least < 0 && largest > 0 && least === -largest;
    const ramp = facet === "masked" ? "mask" : centred ? "diverging" : "sequential";
    const present = Uint8Array.from(shown.masked, (share) => (share === 1 ? 0 : 1));
    const ratio = (window.devicePixelRatio || 1) * magnified(root);
    cells.draw({ rows, columns, values, least, largest, ramp, present }, view, { ...size, ratio });
    drawLegend(least, largest, ramp);
    for (const [name, button] of Object.entries(tabs)) button.setAttribute("aria-selected", String(name === facet));
    labels(rowTicks, rowStrip, shown.rows, size.height, true);
    labels(columnTicks, columnStrip, shown.columns, size.width, false);
    canvas.dataset.drawn = String(channel.drawn ?? 0);
    mark();
  }

  function drawLegend(least, largest, ramp) {
    const values = largest > least ? [largest, (least + largest) / 2, least] : [largest];
    legend.draw(ramp, facet === "masked" ? ["0%", "50%", "100%"] : apart(values, facet === "share"));
  }

  // The labels along a side: a strip that darkens with the label, and their names.
  function labels(box, strip, axis, length, upright) {
    const bands = axis.edges.length - 1;
    const [from, to] = [axis.edges[0], axis.edges.at(-1)];
    Object.assign(strip, upright ? { width: 6, height: bands } : { width: bands, height: 6 });
    strip.style[upright ? "height" : "width"] = `${length}px`;
    const [least, largest] = [Math.min(...axis.labels[0]), Math.max(...axis.labels[1])];
    const colours = rampTable("sequential");
    const context = strip.getContext("2d");
    for (let i = 0; i < bands; i += 1) {
      const middleLabel = (axis.labels[0][i] + axis.labels[1][i]) / 2;
      const share = largest > least ? (middleLabel - least) / (largest - least) : 0.5;
      context.fillStyle = cssOf(colours, 30 + 210 * share);
      if (upright) context.fillRect(0, i, 6, 1);
      else context.fillRect(i, 0, 1, 6);
    }
    box.style[upright ? "height" : "width"] = `${length}px`;
    const place = (position) => ((position - from) / (to - from)) * length;
    const marks = axis.levels.length
      ? axis.levels.map(({ label, start, stop }) => ({ text: show(label), where: (place(start) + place(stop)) / 2 }))
      : Array.from({ length: 6 }, (_, i) => {
          const band = Math.min(bands - 1, Math.round(((i + 0.5) * bands) / 6));
          return { text: show(axis.labels[0][band], 2), where: ((band + 0.5) / bands) * length };
        });
    let last = -Infinity;
    const room = upright ? 14 : 30;
    box.replaceChildren(
      ...marks
        .filter(({ where }) => {
          if (where - last < room) return false;
          last = where;
          return true;
        })
        .map(({ text, where }) => {
          const line = h("span", {}, text);
          line.style[upright ? "top" : "left"] = `${where}px`;
          return line;
        }),
    );
  }

  // ---- Words -------------------------------------------------------------------------------

  // A band as a reader counts it: 1 to 3,907.
  function span(side, index) {
    const { edges } = shown[side];
    const [from, to] = [edges[index] + 1, edges[index + 1]];
    return from === to ? grouped(from) : `${grouped(from)}–${grouped(to)}`;
  }
  const interval = ([lows, highs], index) =>
    lows[index] === highs[index]
      ? show(lows[index], 3)
      : say("large.from_to", { low: show(lows[index], 3), high: show(highs[index], 3) });
  const named = (window) =>
    window
      ? say("large.part", {
          rows: `${grouped(window[0] + 1)}–${grouped(window[1])}`,
          columns: `${grouped(window[2] + 1)}–${grouped(window[3])}`,
        })
      : say("large.all");
  const whereabouts = () =>
    say("large.now", { where: named(channel.window), rows: shown.height, columns: shown.width });

  function describe() {
    const axis = (side, count) => say("ui.axis", { what: say(`axis.${shown[side].name}`), count: grouped(count) });
    const role = (side) =>
      shown[side].name === "pair" ? ` · ${say(side === "rows" ? "large.lower" : "large.higher")}` : "";
    rowName.textContent = axis("rows", shown.rows.edges.at(-1) - shown.rows.edges[0]) + role("rows");
    columnName.textContent = axis("columns", shown.columns.edges.at(-1) - shown.columns.edges[0]) + role("columns");
    explain();
    canvas.setAttribute("aria-label", `${whereabouts()} ${say("large.keys")}`);
    back.disabled = channel.past.length === 0;
    forward.disabled = channel.future.length === 0;
    const way = channel.past.map((window, place) => ({ window, place })).slice(-3);
    // Who came by a link was never at the whole.
    const whole = channel.window && !channel.past.includes(null);
    crumbs.replaceChildren(
      ...(whole
        ? [
            h("button.lp-crumb", { type: "button", onclick: () => channel.zoom(null) }, named(null)),
            h("span", { "aria-hidden": "true" }, "›"),
          ]
        : []),
      ...way.flatMap(({ window, place }) => [
        h("button.lp-crumb", { type: "button", onclick: () => channel.backTo(place) }, named(window)),
        h("span", { "aria-hidden": "true" }, "›"),
      ]),
      h("b", { "aria-current": "true" }, named(channel.window)),
    );
    showCard();
  }

  // What a cell compares and where the weight is; what a block is, and what its colour says.
  function explain() {
    if (!shown) return;
    const each = (side) => shown[side].edges[1] - shown[side].edges[0];
    const where = channel.window ? "large.concentrated" : "large.concentrated_all";
    const { share, part } = shown.concentrated ?? {};
    // A sum over queries and keys judges each by itself, the query's own key too.
    const compares = shown.of_weights && shown.rows.name === "query" ? "match" : shown.rows.name;
    about.replaceChildren(
      say(`large.map_note.${compares}`),
      " ",
      h("b", {}, shown.single || !share ? "" : say(where, { share: percent(share), part: percent(part) })),
    );
    note.textContent = [
      shown.single
        ? say("large.cells_note")
        : `${say(shown.exact ? "large.blocks_note" : "large.blocks_note_near", { rows: grouped(each("rows")), columns: grouped(each("columns")), cells: grouped(each("rows") * each("columns")) })} ${hint("large.enter", "large.enter_touch")}`,
      say(shown.single && facet !== "share" && facet !== "masked" ? "large.colour.term" : `large.colour.${facet}`),
      shown.of_weights ? say("large.of_weights") : "",
      channel.asked.parameters.symmetric ? say("large.both_directions") : "",
      say("large.places_note"),
    ]
      .filter(Boolean)
      .join(" ");
  }

  function facts(row, column) {
    const i = at(row, column);
    if (isEmpty(row, column)) return [say(shown.single ? "ui.takes_no_part" : "large.all_masked")];
    const told = [];
    if (shown.single) told.push(say("large.term_is", { value: show(shown.total[i]) }));
    else told.push(say("large.total_is", { value: show(shown.total[i]) }));
    told.push(say("large.share_is", { share: percent(shown.share[i]) }));
    if (!shown.single) {
      told.push(say(shown.bounded ? "large.none_above" : "large.largest_is", { value: show(shown.largest[i]) }));
      told.push(
        shown.masked[i] > 0 ? say("large.masked_is", { share: percent(shown.masked[i]) }) : say("large.none_masked"),
      );
    }
    return told;
  }

  function side(which, index) {
    const { name, items } = shown[which];
    const one = say(which === "rows" ? "ui.row" : "ui.column");
    if (items.length) {
      const item = items[index];
      const lines = item.side ? [item[item.side]] : [item.first, item.second];
      return h(
        "div.lp-side",
        {},
        h(
          "b",
          {},
          `${one} ${grouped(shown[which].edges[index] + 1)}: ${say(`axis.one.${name}`)} #${grouped(item.entry + 1)}`,
        ),
        lines.filter(Boolean).map((line) => h("p", { title: line }, clip(line, 160))),
        h("small", {}, say("ui.pair_facts", { label: show(item.label), score: show(item.score) })),
      );
    }
    const { edges, labels: known, scores } = shown[which];
    return h(
      "div.lp-side",
      {},
      h("b", {}, `${say(which === "rows" ? "large.rows" : "large.columns")} ${span(which, index)}`),
      h(
        "p",
        {},
        say("large.band_labels", { range: interval(known, index), count: grouped(edges[index + 1] - edges[index]) }),
      ),
      h("small", {}, say("large.band_scores", { range: interval(scores, index) })),
    );
  }

  function showCard() {
    const here = pointed ?? pinned;
    if (!shown || !here) {
      card.replaceChildren(h("p.lp-hint", {}, hint("large.hint", "large.tap_hint")));
      return;
    }
    card.replaceChildren(
      h("div.lp-sides", {}, side("rows", here[0]), side("columns", here[1])),
      h(
        "div.lp-facts",
        {},
        facts(...here).map((fact) => h("span", {}, fact)),
      ),
    );
  }

  // ---- Pointing and moving -----------------------------------------------------------------

  function point(next) {
    pointed = next;
    mark();
    showCard();
  }

  function mark() {
    const here = shown && (pointed ?? pinned);
    if (!here) cells.mark({});
    else cells.mark({ cell: here, row: [here[0], 0, 1, shown.width], column: [0, here[1], shown.height, 1] });
  }

  const windowOf = (top, left, bottom, right) => [
    shown.rows.edges[top],
    shown.rows.edges[bottom + 1],
    shown.columns.edges[left],
    shown.columns.edges[right + 1],
  ];

  // A block is entered; a single cell stays where it is, marked.
  function open([row, column]) {
    if (shown.single) {
      channel.mark([shown.window[0] + row, shown.window[2] + column]);
      return;
    }
    if (isEmpty(row, column)) {
      spoken.textContent = say("large.all_masked");
      return;
    }
    channel.zoom(windowOf(row, column, row, column));
  }

  const grid = cellGrid({
    canvas,
    lasso: cells.lasso,
    view: () => shown && { top: 0, left: 0, rows: shown.height, columns: shown.width },
    hover: point,
    pick: open,
    choose: ({ top, left, rows, columns }) => channel.zoom(windowOf(top, left, top + rows - 1, left + columns - 1)),
    pinched: ({ left, right, top, bottom }) => {
      const before = String(channel.window);
      goTo(
        [
          [top, bottom],
          [left, right],
        ].map((shares, axis) =>
          shares.map((share) => {
            const [from, to] = shown.window.slice(2 * axis);
            return from + share * (to - from);
          }),
        ),
      );
      if (String(channel.window) === before) grid.settle(); // nothing new will be drawn
    },
  });

  // The rows and columns from and to these places, as far as there are any.
  function goTo(ends, passing) {
    const wanted = ends.flatMap(([from, to], axis) => {
      const length = Math.max(1, Math.min(shown.shape[axis], Math.round(to - from)));
      const start = Math.max(0, Math.min(shown.shape[axis] - length, Math.round(from)));
      return [start, start + length];
    });
    const isAll = String(wanted) === String([0, shown.shape[0], 0, shown.shape[1]]);
    channel.zoom(isAll ? null : wanted, passing);
  }

  // The wheel goes nearer or back, once the map has the focus or with Ctrl.
  canvas.addEventListener(
    "wheel",
    (event) => {
      const under = grid.meant(event) && grid.under(event);
      if (!under) return;
      event.preventDefault();
      const factor = event.deltaY > 0 ? 2 : 0.5;
      goTo(
        ["rows", "columns"].map((side, axis) => {
          const { edges } = shown[side];
          const stays = (edges[under[axis]] + edges[under[axis] + 1]) / 2;
          return [edges[0], edges.at(-1)].map((end) => stays + factor * (end - stays));
        }),
        true,
      );
    },
    { passive: false },
  );

  canvas.addEventListener("keydown", (event) => {
    if (!shown) return;
    const here = pointed ?? pinned;
    if (grid.isArrow(event)) {
      const next = here ? grid.step(event, here, shown.height, shown.width, event.shiftKey ? 16 : 1) : heaviestBlock();
      point(next);
      spoken.textContent = `${say("ui.row")} ${span("rows", next[0])}, ${say("ui.column")} ${span("columns", next[1])}: ${facts(...next).join(", ")}`;
    } else if (event.key === "Enter" && here) {
      announce = true;
      open(here);
    } else if (event.key === "Backspace" || event.key === "Escape") {
      announce = true;
      channel.back();
    } else return;
    event.preventDefault();
  });

  // A walk begins where there is most to see.
  function heaviestBlock() {
    const most = shown.share.reduce((best, v, i) => (v > shown.share[best] ? i : best), 0);
    return [Math.floor(most / shown.width), most % shown.width];
  }

  // ---- The same as a table -----------------------------------------------------------------

  function toggleTable() {
    table.element.hidden = !table.element.hidden;
    tableButton.setAttribute("aria-pressed", String(!table.element.hidden));
    if (!table.element.hidden && shown) fillTable();
  }

  // The heaviest blocks of the window, at most 200: the rest weighs less than any of them.
  function fillTable() {
    const order = Array.from(shown.share.keys())
      .filter((i) => shown.masked[i] < 1)
      .sort((a, b) => shown.share[b] - shown.share[a])
      .slice(0, 200);
    table.fill(
      order.map((i) => ({
        row: Math.floor(i / shown.width),
        column: i % shown.width,
        ...Object.fromEntries(FACETS.map((name) => [name, shown[name][i]])),
      })),
    );
  }

  channel.on("answer", take);
  channel.on("cell", () => {
    if (!shown) return;
    pin();
    point(null);
  });
  channel.on("problem", () => grid.settle());
  channel.on("theme", draw);
  channel.on("language", () => {
    if (!shown) return;
    draw();
    describe();
    if (!table.element.hidden) fillTable();
  });
  new ResizeObserver(() => draw()).observe(root);
}

// The map of a matrix that nobody could store: blocks that can be entered, down to single cells.
import { floats } from "../../kit/arrays.js";
import { asTable, h, magnified, worded } from "../../kit/dom.js";
import { cellFrame } from "../../kit/frame.js";
import { apart, percent, show } from "../../kit/numbers.js";
import { sortableTable } from "../../kit/table.js";
import { say } from "../../kit/words.js";
import { bandOf, factsOf, fillCard, isEmpty } from "./block.js";
import { drawStrip, labelMarks } from "./sides.js";
import { comparison, concentration, explanation, partName, sideName } from "./wording.js";

/** @typedef {import("../../kit/frame.js").Cell} Cell */
/** @typedef {import("./block.js").Facet} Facet */
/** @typedef {import("./block.js").Shown} Shown */
/** @typedef {{ row: number, column: number } & Record<Facet, number>} Block */
/** @typedef {import("./wording.js").Part} Part */

/** @type {Facet[]} */
const FACETS = ["total", "share", "largest", "masked"];
const LONGEST = 560; // of a side, in pixels
const MOST_IN_TABLE = 200; // the heaviest: the rest weighs less than any of them

/** @param {import("../../wire").DrawnBlocks} answer */
function unpacked(answer) {
  const arrays = { total: floats(answer.total), share: floats(answer.share), largest: floats(answer.largest) };
  return {
    ...answer,
    ...arrays,
    masked: floats(answer.masked),
    height: answer.rows.edges.length - 1,
    width: answer.columns.edges.length - 1,
    single: answer.rows.items.length > 0 && answer.columns.items.length > 0,
  };
}

/**
 * @param {HTMLElement} root
 * @param {import("./state.js").LargePage} channel
 */
export default function map(root, channel) {
  // ---- Furniture ---------------------------------------------------------------------------

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
  const strips = {
    row: h("canvas.lp-label-strip", { "aria-hidden": "true" }),
    column: h("canvas.lp-label-strip", { "aria-hidden": "true" }),
  };
  /** @type {Facet} */
  let facet = "total";
  const frame = cellFrame({
    layers: FACETS,
    called: (name) => `large.facet.${name}`,
    choose: (name) => {
      facet = /** @type {Facet} */ (name);
      channel.facet = facet;
      draw();
      explain();
    },
    stage: { role: "application", thin: 3 },
    beside: [strips.row],
    below: [strips.column],
    hand: {
      view: () => shown && { top: 0, left: 0, rows: shown.height, columns: shown.width },
      hover: point,
      pick: open,
      choose: ({ top, left, rows, columns }) => enter([top, left], [top + rows - 1, left + columns - 1]),
      pinched,
      turned,
    },
  });
  const { canvas, grid } = frame;
  for (const box of Object.values(frame.marks)) box.classList.add("lp-label-ticks");
  const [about, note] = [h("p.lp-note"), h("p.lp-note")];
  const card = h("div.lp-card");
  const spoken = h("div.lp-spoken", { "aria-live": "polite" });
  /** @type {(side: import("./block.js").Side, index: number) => string} */
  const span = (side, index) => (shown ? bandOf(shown, side, index) : "");
  const list = h("div", { hidden: true });
  const table = sortableTable(
    list,
    {
      key: "large.blocks",
      sorted: null,
      most: 20,
      columns: [
        { key: "large.rows", cell: (b) => span("rows", b.row), by: (b) => b.row },
        { key: "large.columns", cell: (b) => span("columns", b.column), by: (b) => b.column },
        { key: "large.facet.total", cell: (b) => show(b.total), by: (b) => b.total },
        { key: "large.facet.share", cell: (b) => percent(b.share), by: (b) => b.share },
        { key: "large.facet.largest", cell: (b) => show(b.largest), by: (b) => b.largest },
        { key: "large.facet.masked", cell: (b) => percent(b.masked), by: (/** @type {Block} */ b) => b.masked },
      ],
      picks: true,
    },
    (...told) => {
      /** @type {Cell | null} */
      const cell = told[0] === "leave" ? null : [told[1].row, told[1].column];
      if (told[0] !== "pick") point(cell);
      else if (cell) open(cell);
    },
  );
  const unfolded = asTable("button.lp-button", list, fillTable);
  root.append(
    worded("h2", "large.map"),
    about,
    h("div.lp-bar", {}, frame.tabList, unfolded.button),
    h("div.lp-way", {}, back, forward, crumbs),
    frame.element,
    note,
    list,
    card,
    spoken,
  );

  // ---- What is shown -----------------------------------------------------------------------

  /** @type {Shown | null} */
  let shown = null;
  /** @type {Cell | null} */
  let pointed = null;
  /** @type {Cell | null} */
  let pinned = null;
  let announce = false; // whether the next picture is one to be spoken of

  function take() {
    const { answer } = channel;
    if (!answer) return;
    shown = unpacked(answer);
    pointed = null;
    grid.settle();
    pin(shown);
    draw();
    describe();
    unfolded.refill();
    if (announce) {
      announce = false;
      spoken.textContent = whereabouts(shown);
    }
  }

  /**
   * The marked cell's place in the view, if it is there by itself.
   * @param {Shown} of
   */
  function pin({ single, window: [top, , left], height, width }) {
    pinned = null;
    if (!channel.cell || !single) return;
    const [row, column] = [channel.cell[0] - top, channel.cell[1] - left];
    if (row >= 0 && row < height && column >= 0 && column < width) pinned = [row, column];
  }

  // ---- Drawing -----------------------------------------------------------------------------

  /**
   * What is masked is left free; the mask's ramp is dark where cells take part. Terms have a meaning
   * on either side of 0, sums of many have none.
   * @param {Shown} of
   * @returns {import("../../kit/frame.js").Layer}
   */
  function layerOf({ masked, single, ...of }) {
    const said = facet === "masked" ? masked.map((part) => 1 - part) : of[facet];
    const values = said.map((v, i) => (masked[i] === 1 ? -Infinity : v));
    if (facet === "masked") return { values, kind: "part" };
    if (facet === "share") return { values, kind: "share" };
    return { values, kind: "number", centred: facet === "largest" || single ? "astride" : false };
  }

  // What the names, labels and legend beside the map leave free, as the page was last laid out.
  function lengthOf() {
    const { element, names, marks, legendSide } = frame;
    const beside = [names.row, marks.row, strips.row, legendSide].map((box) => box.offsetWidth);
    const gap = parseFloat(getComputedStyle(element).columnGap);
    const free = element.clientWidth - beside.reduce((sum, width) => sum + width + (width && gap), 0) - 4;
    // The card below it stays on the screen, also on a projector's.
    const tallest = Math.max(280, Math.min(LONGEST, window.innerHeight / magnified(root) - 260));
    return Math.max(180, Math.min(tallest, free));
  }

  function draw() {
    if (!shown) return;
    const { width: columns, height: rows } = shown;
    const width = lengthOf();
    // Few bands make a lower map, never one that cannot be hit.
    const height = Math.round(width * Math.min(1, Math.max(0.25, rows / 12, rows / columns)));
    frame.draw({
      rows,
      columns,
      layer: layerOf(shown),
      present: shown.masked.map((share) => Number(share !== 1)),
      view: { top: 0, left: 0, rows, columns },
      size: { width, height, ratio: (window.devicePixelRatio || 1) * magnified(root) },
      write: (least, largest) => {
        if (facet === "masked") return ["0%", "50%", "100%"];
        const values = largest > least ? [largest, (least + largest) / 2, least] : [largest];
        return apart(values, facet === "share");
      },
    });
    frame.choosable(facet);
    drawStrip(strips.row, "row", shown.rows, height);
    drawStrip(strips.column, "column", shown.columns, width);
    frame.ticks("row", height, labelMarks("row", shown.rows, height));
    frame.ticks("column", width, labelMarks("column", shown.columns, width));
    canvas.dataset.drawn = String(channel.drawn);
    mark();
  }

  // ---- Words -------------------------------------------------------------------------------

  /** @param {Shown} of */
  const whereabouts = ({ height, width }) =>
    say("large.now", { where: partName(channel.window), rows: height, columns: width });

  function describe() {
    if (!shown) return;
    frame.names.row.textContent = sideName(shown, "rows");
    frame.names.column.textContent = sideName(shown, "columns");
    explain();
    canvas.setAttribute("aria-label", `${whereabouts(shown)} ${say("large.keys")}`);
    back.disabled = channel.past.length === 0;
    forward.disabled = channel.future.length === 0;
    // Who came by a link was never at the whole.
    const far = channel.window && !channel.past.includes(null);
    const way = [
      ...(far ? [{ part: null, go: () => channel.zoom(null) }] : []),
      ...channel.past.map((part, place) => ({ part, go: () => channel.backTo(place) })).slice(-3),
    ];
    crumbs.replaceChildren(
      ...way.flatMap(({ part, go }) => [
        h("button.lp-crumb", { type: "button", onclick: go }, partName(part)),
        h("span", { "aria-hidden": "true" }, "›"),
      ]),
      h("b", { "aria-current": "true" }, partName(channel.window)),
    );
    fillCard(card, shown, pointed ?? pinned);
  }

  function explain() {
    if (!shown) return;
    about.replaceChildren(comparison(shown), " ", h("b", {}, concentration(shown, Boolean(channel.window))));
    note.textContent = explanation(shown, facet, Boolean(channel.asked.parameters.symmetric));
  }

  // ---- Pointing and moving -----------------------------------------------------------------

  /** @param {Cell | null} next */
  function point(next) {
    pointed = next;
    mark();
    fillCard(card, shown, pointed ?? pinned);
  }

  function mark() {
    frame.mark({ cell: shown && (pointed ?? pinned) });
  }

  /**
   * The blocks from one to another.
   * @param {Cell} first
   * @param {Cell} last
   */
  function enter(first, last) {
    if (!shown) return;
    const { rows, columns } = shown;
    channel.zoom([rows.edges[first[0]], rows.edges[last[0] + 1], columns.edges[first[1]], columns.edges[last[1] + 1]]);
  }

  /**
   * A block is entered; a single cell stays where it is, marked.
   * @param {Cell} cell
   */
  function open(cell) {
    if (!shown) return;
    if (shown.single) channel.mark([shown.window[0] + cell[0], shown.window[2] + cell[1]]);
    else if (isEmpty(shown, cell)) spoken.textContent = say("large.all_masked");
    else enter(cell, cell);
  }

  /** @type {import("../../kit/grid.js").Hand["pinched"]} */
  function pinched({ left, right, top, bottom }) {
    if (!shown) return;
    const before = String(channel.window);
    const [first, last, from, to] = shown.window;
    /** @type {(start: number, end: number, shares: number[]) => number[]} */
    const within = (start, end, shares) => shares.map((share) => start + share * (end - start));
    goTo(shown, [within(first, last, [top, bottom]), within(from, to, [left, right])]);
    if (String(channel.window) === before) grid.settle(); // nothing new will be drawn
  }

  /**
   * The wheel goes nearer or back, about what is under it.
   * @param {Cell} cell
   * @param {boolean} nearer
   */
  function turned(cell, nearer) {
    if (!shown) return;
    const factor = nearer ? 0.5 : 2;
    const ends = [shown.rows, shown.columns].map(({ edges }, axis) => {
      const stays = (edges[cell[axis]] + edges[cell[axis] + 1]) / 2;
      return [edges[0], edges[edges.length - 1]].map((end) => stays + factor * (end - stays));
    });
    goTo(shown, ends, true);
  }

  /**
   * The rows and columns from and to these places, as far as there are any.
   * @param {Shown} of
   * @param {number[][]} ends
   * @param {boolean} [passing]
   */
  function goTo({ shape }, ends, passing) {
    const [rows, columns] = ends.map(([from, to], axis) => {
      const length = Math.max(1, Math.min(shape[axis], Math.round(to - from)));
      const start = Math.max(0, Math.min(shape[axis] - length, Math.round(from)));
      return [start, start + length];
    });
    /** @type {Part} */
    const wanted = [rows[0], rows[1], columns[0], columns[1]];
    const isAll = String(wanted) === String([0, shape[0], 0, shape[1]]);
    channel.zoom(isAll ? null : wanted, passing);
  }

  canvas.addEventListener("keydown", (event) => {
    if (!shown) return;
    const here = pointed ?? pinned;
    const next = grid.step(event, here ?? [0, 0], shown.height, shown.width, event.shiftKey ? 16 : 1);
    if (next) walk(shown, here ? next : heaviestOf(shown));
    else if (event.key === "Enter" && here) {
      announce = true;
      open(here);
    } else if (event.key === "Backspace" || event.key === "Escape") {
      announce = true;
      channel.back();
    } else return;
    event.preventDefault();
  });

  /**
   * @param {Shown} of
   * @param {Cell} to
   */
  function walk(of, to) {
    point(to);
    const [row, column] = [span("rows", to[0]), span("columns", to[1])];
    spoken.textContent = `${say("ui.row")} ${row}, ${say("ui.column")} ${column}: ${factsOf(of, to).join(", ")}`;
  }

  /**
   * A walk begins where there is most to see.
   * @param {Shown} of
   * @returns {Cell}
   */
  function heaviestOf({ share, width }) {
    const most = share.reduce((best, v, i) => (v > share[best] ? i : best), 0);
    return [Math.floor(most / width), most % width];
  }

  // ---- The same as a table -----------------------------------------------------------------

  function fillTable() {
    if (!shown) return;
    const { total, share, largest, masked, width } = shown;
    const order = Array.from(share.keys())
      .filter((i) => masked[i] < 1)
      .sort((a, b) => share[b] - share[a])
      .slice(0, MOST_IN_TABLE);
    table.update({
      data: order.map((i) => ({
        row: Math.floor(i / width),
        column: i % width,
        ...{ total: total[i], share: share[i], largest: largest[i], masked: masked[i] },
      })),
    });
  }

  channel.on("answer", take);
  channel.on("cell", () => {
    if (!shown) return;
    pin(shown);
    point(null);
  });
  channel.on("problem", () => grid.settle());
  channel.on("theme", draw);
  channel.on("language", () => {
    if (!shown) return;
    draw();
    describe();
    unfolded.refill();
  });
  new ResizeObserver(() => draw()).observe(root);
}

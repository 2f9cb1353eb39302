// The map of a matrix that nobody could store: blocks that can be entered, down to single cells.
import { floats } from "../../kit/base64_arrays.js";
import { asTable, h, magnification, worded } from "../../kit/dom.js";
import { CellFrame } from "../../kit/heatmap_frame.js";
import { distinctNumbers, percent, show } from "../../kit/number_format.js";
import { sortableTable } from "../../kit/sortable_table.js";
import { say } from "../../kit/translated_sentences.js";
import { bandOf, factsOf, fillCard, isEmpty } from "./block_card.js";
import { comparison, concentration, explanation, partName, sideName } from "./block_map_captions.js";
import { drawStrip, labelMarks } from "./label_strips.js";
import { lever } from "./main_parameter_slider.js";

/** @typedef {import("../../kit/heatmap_frame.js").Cell} Cell */
/** @typedef {import("./block_card.js").Facet} Facet */
/** @typedef {import("./block_card.js").UnpackedBlocks} UnpackedBlocks */
/** @typedef {{ row: number, column: number } & Record<Facet, number>} Block */
/** @typedef {import("./block_map_captions.js").Part} Part */
/** @typedef {import("./state.js").LargePage} LargePage */

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

class BlockMap {
  /**
   * @param {HTMLElement} root
   * @param {LargePage} page
   */
  constructor(root, page) {
    this.root = root;
    this.page = page;
    /** @type {UnpackedBlocks | null} */
    this.blocks = null;
    /** @type {Cell | null} */
    this.pointed = null;
    /** @type {Cell | null} */
    this.pinned = null;
    this.announces = false; // whether the next picture is one to be spoken of
    this.back = arrow("large.back", "←", () => page.back(), "lp-large-back");
    this.forward = arrow("large.forward", "→", () => page.forward());
    this.crumbs = h("nav.lp-crumbs", { "data-title": "large.way" });
    this.strips = {
      row: h("canvas.lp-label-strip", { "aria-hidden": "true" }),
      column: h("canvas.lp-label-strip", { "aria-hidden": "true" }),
    };
    this.about = h("p.lp-note");
    this.note = h("p.lp-note");
    this.card = h("div.lp-card");
    this.spoken = h("div.lp-spoken", { "aria-live": "polite" });
    this.frame = this.#frame();
    this.list = h("div", { hidden: true });
    this.table = this.#table();
    this.asTable = asTable("button.lp-button", this.list, () => this.#fillTable());
    for (const box of Object.values(this.frame.marks)) box.classList.add("lp-label-ticks");
    this.frame.canvas.addEventListener("keydown", (event) => this.#key(event));
    root.append(
      worded("h2", "large.map"),
      h("div.lp-bar", this.frame.tabList, this.asTable.button),
      h("div.lp-way", this.back, this.forward, this.crumbs),
      this.frame.element,
      lever(this.page),
      this.about,
      h("details.lp-notes", h("summary", "ⓘ ", worded("span", "ui.details")), this.note),
      this.list,
      this.card,
      this.spoken,
    );
  }

  #frame() {
    return new CellFrame({
      layers: FACETS,
      called: (name) => `large.facet.${name}`,
      choose: (name) => this.#choose(/** @type {Facet} */ (name)),
      stage: { role: "application", thin: 3 },
      beside: [this.strips.row],
      below: [this.strips.column],
      hand: {
        view: () => this.blocks && { top: 0, left: 0, rows: this.blocks.height, columns: this.blocks.width },
        hover: (cell) => this.point(cell),
        pick: (cell) => this.open(cell),
        choose: ({ top, left, rows, columns }) => this.enter([top, left], [top + rows - 1, left + columns - 1]),
        pinched: (edges) => this.#pinch(edges),
        turned: (cell, nearer) => this.#turn(cell, nearer),
      },
    });
  }

  #table() {
    /** @type {(side: import("./block_card.js").Side, index: number) => string} */
    const span = (side, index) => (this.blocks ? bandOf(this.blocks, side, index) : "");
    return sortableTable(
      this.list,
      {
        key: "large.blocks",
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
      (...event) => {
        /** @type {Cell | null} */
        const cell = event[0] === "leave" ? null : [event[1].row, event[1].column];
        if (event[0] !== "pick") this.point(cell);
        else if (cell) this.open(cell);
      },
    );
  }

  // ---- What is shown -----------------------------------------------------------------------

  take() {
    const { answer } = this.page;
    if (!answer) return;
    const blocks = unpacked(answer);
    this.blocks = blocks;
    this.pointed = null;
    this.frame.grid.pinch.settle();
    this.pin();
    this.draw();
    this.describe();
    if (this.announces) this.spoken.textContent = whereabouts(this.page, blocks);
    this.announces = false;
  }

  /** Find the marked cell's place in the view, if it is there by itself. */
  pin() {
    this.pinned = null;
    const { cell } = this.page;
    if (!cell || !this.blocks?.single) return;
    const { window, height, width } = this.blocks;
    const [row, column] = [cell[0] - window[0], cell[1] - window[2]];
    if (row >= 0 && row < height && column >= 0 && column < width) this.pinned = [row, column];
  }

  /** @param {Facet} facet */
  #choose(facet) {
    this.page.facet = facet;
    this.draw();
    this.#explain();
  }

  // ---- Drawing -----------------------------------------------------------------------------

  /** What the names, labels and legend beside the map leave free, as the page was last laid out: pixels. */
  #length() {
    const { element, names, marks, legendSide } = this.frame;
    const beside = [names.row, marks.row, this.strips.row, legendSide].map((box) => box.offsetWidth);
    const gap = parseFloat(getComputedStyle(element).columnGap);
    const free = element.clientWidth - beside.reduce((sum, width) => sum + width + (width && gap), 0) - 4;
    // The card below it stays on the screen, also on a projector's.
    const tallest = Math.max(180, Math.min(LONGEST, window.innerHeight / magnification(this.root) - 260));
    return Math.max(180, Math.min(tallest, free));
  }

  draw() {
    const { blocks, frame } = this;
    if (!blocks) return;
    const { facet } = this.page;
    const { width: columns, height: rows } = blocks;
    const width = this.#length();
    // Few bands make a lower map, never one that cannot be hit.
    const height = Math.round(width * Math.min(1, Math.max(0.25, rows / 12, rows / columns)));
    frame.draw({
      rows,
      columns,
      layer: layerOf(blocks, facet),
      present: blocks.masked.map((share) => Number(share !== 1)),
      view: { top: 0, left: 0, rows, columns },
      size: { width, height, ratio: (window.devicePixelRatio || 1) * magnification(this.root) },
      write: (least, largest) => {
        if (facet === "masked") return ["0%", "50%", "100%"];
        const values = largest > least ? [largest, (least + largest) / 2, least] : [largest];
        return distinctNumbers(values, facet === "share");
      },
    });
    frame.choosable(facet);
    drawStrip(this.strips.row, "row", blocks.rows, height);
    drawStrip(this.strips.column, "column", blocks.columns, width);
    frame.ticks("row", height, labelMarks("row", blocks.rows, height));
    frame.ticks("column", width, labelMarks("column", blocks.columns, width));
    frame.canvas.dataset.drawn = String(this.page.drawn);
    this.#mark();
  }

  #mark() {
    this.frame.mark({ cell: this.blocks && (this.pointed ?? this.pinned) });
  }

  // ---- Words -------------------------------------------------------------------------------

  describe() {
    const { blocks, frame, page } = this;
    if (!blocks) return;
    frame.names.row.textContent = sideName(blocks, "rows");
    frame.names.column.textContent = sideName(blocks, "columns");
    this.#explain();
    frame.canvas.setAttribute("aria-label", `${whereabouts(page, blocks)} ${say("large.keys")}`);
    this.back.disabled = page.past.length === 0;
    this.forward.disabled = page.future.length === 0;
    this.crumbs.replaceChildren(...crumbsOf(page));
    fillCard(this.card, page, blocks, this.pointed ?? this.pinned);
    this.asTable.refill();
  }

  #explain() {
    const { blocks, page } = this;
    if (!blocks) return;
    this.about.replaceChildren(comparison(blocks), " ", h("b", concentration(blocks, Boolean(page.window))));
    this.note.textContent = explanation(blocks, page.facet, Boolean(page.request.parameters.symmetric));
  }

  // ---- Pointing and moving -----------------------------------------------------------------

  /** @param {Cell | null} cell */
  point(cell) {
    this.pointed = cell;
    this.#mark();
    fillCard(this.card, this.page, this.blocks, cell ?? this.pinned);
  }

  /** @type {(first: Cell, last: Cell) => void} Look at the blocks from one to another. */
  enter(first, last) {
    if (!this.blocks) return;
    const { rows, columns } = this.blocks;
    const [[top, left], [bottom, right]] = [first, last];
    this.page.zoom([rows.edges[top], rows.edges[bottom + 1], columns.edges[left], columns.edges[right + 1]]);
  }

  /** @type {(cell: Cell) => void} A block is entered; a single cell stays where it is, marked. */
  open(cell) {
    const { blocks } = this;
    if (!blocks) return;
    if (blocks.single) this.page.mark([blocks.window[0] + cell[0], blocks.window[2] + cell[1]]);
    else if (isEmpty(blocks, cell)) this.spoken.textContent = say("large.all_masked");
    else this.enter(cell, cell);
  }

  /** @type {import("../../kit/cell_gestures.js").Hand["pinched"]} */
  #pinch({ left, right, top, bottom }) {
    if (!this.blocks) return;
    const before = String(this.page.window);
    const [first, last, from, to] = this.blocks.window;
    /** @type {(start: number, end: number, shares: number[]) => number[]} */
    const within = (start, end, shares) => shares.map((share) => start + share * (end - start));
    this.#goTo(this.blocks, [within(first, last, [top, bottom]), within(from, to, [left, right])]);
    if (String(this.page.window) === before) this.frame.grid.pinch.settle(); // nothing new will be drawn
  }

  /** @type {(cell: Cell, nearer: boolean) => void} The wheel goes nearer or back, about what is under it. */
  #turn(cell, nearer) {
    const { blocks } = this;
    if (!blocks) return;
    const factor = nearer ? 0.5 : 2;
    const ends = [blocks.rows, blocks.columns].map(({ edges }, axis) => {
      const stays = (edges[cell[axis]] + edges[cell[axis] + 1]) / 2;
      return [edges[0], edges[edges.length - 1]].map((end) => stays + factor * (end - stays));
    });
    this.#goTo(blocks, ends, true);
  }

  /**
   * Look at the rows and columns from and to these places, as far as there are any.
   * @type {(blocks: UnpackedBlocks, ends: number[][], passing?: boolean) => void}
   */
  #goTo({ shape }, ends, passing) {
    const [rows, columns] = ends.map(([from, to], axis) => {
      const length = Math.max(1, Math.min(shape[axis], Math.round(to - from)));
      const start = Math.max(0, Math.min(shape[axis] - length, Math.round(from)));
      return [start, start + length];
    });
    /** @type {Part} */
    const wanted = [rows[0], rows[1], columns[0], columns[1]];
    const isAll = String(wanted) === String([0, shape[0], 0, shape[1]]);
    this.page.zoom(isAll ? null : wanted, passing);
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const { blocks } = this;
    if (!blocks) return;
    const here = this.pointed ?? this.pinned;
    const far = event.shiftKey ? 16 : 1;
    const next = this.frame.grid.step(event, here ?? [0, 0], blocks.height, blocks.width, far);
    if (next) this.#walk(blocks, here ? next : heaviestOf(blocks));
    else if (event.key === "Enter" && here) {
      this.announces = true;
      this.open(here);
    } else if (event.key === "Backspace" || event.key === "Escape") {
      this.announces = true;
      this.page.back();
    } else return;
    event.preventDefault();
  }

  /** @type {(blocks: UnpackedBlocks, to: Cell) => void} */
  #walk(blocks, to) {
    this.point(to);
    const [row, column] = [bandOf(blocks, "rows", to[0]), bandOf(blocks, "columns", to[1])];
    const facts = factsOf(blocks, to).join(", ");
    this.spoken.textContent = `${say("ui.row")} ${row}, ${say("ui.column")} ${column}: ${facts}`;
  }

  #fillTable() {
    if (!this.blocks) return;
    const { total, share, largest, masked, width } = this.blocks;
    const order = Array.from(share.keys())
      .filter((i) => masked[i] < 1)
      .sort((a, b) => share[b] - share[a])
      .slice(0, MOST_IN_TABLE);
    this.table.update({
      data: order.map((i) => ({
        row: Math.floor(i / width),
        column: i % width,
        ...{ total: total[i], share: share[i], largest: largest[i], masked: masked[i] },
      })),
    });
  }
}

/** @type {(key: string, sign: string, act: () => void, id?: string | null) => HTMLButtonElement} */
const arrow = (key, sign, act, id = null) => h("button.lp-square", { id, "data-title": key, onclick: act }, sign);

/** @type {(page: LargePage, blocks: UnpackedBlocks) => string} */
const whereabouts = ({ window }, { height, width }) =>
  say("large.now", { where: partName(window), rows: height, columns: width });

/**
 * The way to what is in view. Who came by a link was never at the whole.
 * @param {LargePage} page
 */
function crumbsOf(page) {
  const isFar = page.window && !page.past.includes(null);
  const way = [
    ...(isFar ? [{ part: null, go: () => page.zoom(null) }] : []),
    ...page.past.map((part, place) => ({ part, go: () => page.backTo(place) })).slice(-3),
  ];
  return [
    ...way.flatMap(({ part, go }) => [
      h("button.lp-crumb", { onclick: go }, partName(part)),
      h("span", { "aria-hidden": "true" }, "›"),
    ]),
    h("b", { "aria-current": "true" }, partName(page.window)),
  ];
}

/**
 * What is masked is left free; the mask's ramp is dark where cells take part. Terms have a meaning
 * on either side of 0, sums of many have none.
 * @type {(blocks: UnpackedBlocks, facet: Facet) => import("../../kit/heatmap_frame.js").Layer}
 */
function layerOf({ masked, single, ...arrays }, facet) {
  const shares = facet === "masked" ? masked.map((part) => 1 - part) : arrays[facet];
  const values = shares.map((value, i) => (masked[i] === 1 ? -Infinity : value));
  if (facet === "masked") return { values, kind: "part" };
  if (facet === "share") return { values, kind: "share" };
  return { values, kind: "number", centred: facet === "largest" || single ? "astride" : false };
}

/** @type {(blocks: UnpackedBlocks) => Cell} A walk begins where there is most to see. */
function heaviestOf({ share, width }) {
  const most = share.reduce((best, value, i) => (value > share[best] ? i : best), 0);
  return [Math.floor(most / width), most % width];
}

/** @type {(root: HTMLElement, page: LargePage) => void} */
export default function map(root, page) {
  const map = new BlockMap(root, page);
  page.on("answer", () => map.take());
  page.on("cell", () => {
    if (!map.blocks) return;
    map.pin();
    map.point(null);
  });
  page.on("problem", () => map.frame.grid.pinch.settle());
  page.on("theme", () => map.draw());
  page.on("language", () => {
    map.draw();
    map.describe();
  });
  new ResizeObserver(() => map.draw()).observe(root);
}

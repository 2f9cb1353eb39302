// What a matrix and a map of blocks have in common: tabs for their layers, the cells with names and
// marks along both sides, a scale, and a hand on them. Which cells these are, and what a hand does
// to them, says whoever asks for the frame.
import { CellStage, rangeOf } from "./cell_canvas.js";
import { CellGrid } from "./cell_gestures.js";
import { legendBar } from "./colour_legend.js";
import { h, worded } from "./dom.js";

/**
 * Numbers of the cells, row by row. Where they are `centred` the colours reach as far to both sides
 * of 0: always, or where the cells in sight lie `astride` it. A "share" counts from 0, a "weight" from 0 to 1 on
 * every batch and at every parameter, a "mask" is yes or no, a "part" lies between them. `of`: what the scale says is
 * measured.
 * @typedef {{ values: ArrayLike<number>, kind: "number" | "share" | "weight" | "mask" | "part",
 *   centred?: boolean | "astride", of?: string }} Layer
 */

/** @typedef {[number, number]} Cell row and column */

/**
 * What is marked: a cell with its row and column, or these alone, and a pinned one. `strong` is the
 * part of the cell that is meant: "row", "column", "cell" or nothing of it.
 * @typedef {{ cell?: Cell | null, pinned?: Cell | null, row?: number, column?: number,
 *   strong?: string | null }} Marked
 */

/**
 * @typedef {object} Drawing
 * @property {number} rows of all cells
 * @property {number} columns
 * @property {Layer} layer
 * @property {ArrayLike<number> | null} present 0 where a cell takes no part
 * @property {import("./cell_canvas.js").View} view
 * @property {{ width: number, height: number, ratio: number }} size
 * @property {[number, number] | null} [range] of the colours, in place of that of the cells in sight
 * @property {(least: number, largest: number, middle: number) => string[] | null} write the numbers beside the
 *   scale: largest, middle, least; null leaves those that stand there
 */

/**
 * `called` is the key of a layer's name, and `choose` hears which one is wanted. `beside` and `below`
 * stand between the cells and their marks; `scale` may put more around the bar of colours. The hand:
 * see `CellGrid`; `turned` hears of the wheel at a cell, and whether it goes nearer.
 * @typedef {object} Options
 * @property {string[]} layers
 * @property {(layer: string) => string} called
 * @property {(layer: string) => void} choose
 * @property {{ role: string, pins?: boolean, thin?: number }} stage
 * @property {HTMLElement[]} [beside]
 * @property {HTMLElement[]} [below]
 * @property {(bar: HTMLElement) => HTMLElement} [scale]
 * @property {import("./cell_gestures.js").Hand & { turned: (cell: Cell, nearer: boolean) => void }} hand
 */

export class CellFrame {
  /** @param {Options} options */
  constructor({ layers, called, choose, stage, beside = [], below = [], scale = (bar) => bar, hand }) {
    /** @type {Record<string, HTMLButtonElement>} */
    this.tabs = Object.fromEntries(
      layers.map((name) => [name, worded("button.lp-tab", called(name), { role: "tab", onclick: () => choose(name) })]),
    );
    this.tabList = h("div.lp-tabs", { role: "tablist" }, Object.values(this.tabs));
    this.cells = new CellStage(stage);
    this.canvas = this.cells.canvas;
    this.legend = legendBar();
    this.legendSide = scale(this.legend.element);
    this.names = { row: h("div.lp-axis.lp-row-axis"), column: h("div.lp-axis.lp-column-axis") };
    this.marks = {
      row: h("div.lp-ticks.lp-row-ticks", { "aria-hidden": "true", "data-batch-text": "" }),
      column: h("div.lp-ticks.lp-column-ticks", { "aria-hidden": "true", "data-batch-text": "" }),
    };
    this.element = h(
      "div.lp-frame",
      this.names.row,
      this.marks.row,
      beside,
      h("div", this.cells.element, below, this.marks.column, this.names.column),
      this.legendSide,
    );
    this.all = { rows: 1, columns: 1 };
    this.grid = new CellGrid({ canvas: this.canvas, lasso: this.cells.lasso, ...hand });
    this.canvas.addEventListener("wheel", (event) => this.#turn(event, hand), { passive: false });
  }

  /** @type {(event: WheelEvent, hand: Options["hand"]) => void} */
  #turn(event, hand) {
    const cell = this.grid.isForCanvas(event) && this.grid.cellUnder(event);
    if (!cell) return;
    event.preventDefault();
    hand.turned(cell, event.deltaY <= 0);
  }

  /** @param {Drawing} drawing */
  draw({ rows, columns, layer, present, view, size, range = null, write }) {
    this.all = { rows, columns };
    const { values, kind } = layer;
    const yes = kind === "mask";
    const [lowest, highest] = range ?? rangeOf(values, columns, view, { fromZero: kind === "share" });
    const centred = layer.centred === true || (layer.centred === "astride" && lowest < 0 && highest > 0);
    const reach = centred ? Math.max(-lowest, highest) || 1 : 0;
    const unit = yes || kind === "part" || kind === "weight";
    const [least, largest] = unit ? [0, 1] : centred ? [-reach, reach] : [lowest, highest];
    const ramp = yes || kind === "part" ? "mask" : centred ? "diverging" : "sequential";
    const root = kind === "weight" ? 3 : 1;
    this.legend.draw(ramp, write(least, largest, least + (largest - least) * 0.5 ** root), yes);
    return this.cells.draw({ rows, columns, values, least, largest, ramp, root, present }, view, size);
  }

  /** @type {(shown: string, known?: (name: string) => boolean) => void} Which layer is shown, and which there are. */
  choosable(shown, known = () => true) {
    for (const [name, tab] of Object.entries(this.tabs)) {
      tab.disabled = !known(name);
      tab.tabIndex = name === shown ? 0 : -1; // one stop of the tab key; arrow keys walk to the others
      tab.setAttribute("aria-selected", String(name === shown));
    }
  }

  /**
   * The marks along one side of `length` pixels, each so many pixels from its beginning.
   * @param {"row" | "column"} side
   * @param {number} length
   * @param {{ at: number, content: import("./types").Child[], title?: string }[]} along
   */
  ticks(side, length, along) {
    const [extent, from] = side === "row" ? ["height", "top"] : ["width", "left"];
    this.marks[side].style.setProperty(extent, `${length}px`);
    this.marks[side].replaceChildren(
      ...along.map(({ at, content, title }) => {
        const tick = h("span", { title }, ...content);
        tick.style.setProperty(from, `${at}px`);
        return tick;
      }),
    );
  }

  /** @param {Marked} marked */
  mark({ cell = null, pinned = null, row = -1, column = -1, strong = null }) {
    const [down, across] = cell ?? [row, column];
    /** @param {string} part */
    const isMeant = (part) => !cell || !strong || strong === part;
    this.cells.strengthen(strong);
    this.cells.mark({
      cell: cell && isMeant("cell") ? cell : null,
      pin: pinned,
      row: down >= 0 && isMeant("row") ? [down, 0, 1, this.all.columns] : null,
      column: across >= 0 && isMeant("column") ? [0, across, this.all.rows, 1] : null,
    });
  }
}

// A canvas of cells under a hand: hovering, picking one, dragging a rectangle, pinching, walking
// with the arrow keys.
import { magnification } from "./dom.js";
import { PanAndZoom } from "./pan_and_zoom.js";

/** @typedef {import("./cell_canvas.js").View} View */
/** @typedef {[number, number]} Cell row and column */

/**
 * `view()` says which cells are in sight, or null; `pinched` hears where two fingers moved the edges
 * of the view.
 * @typedef {{ view: () => View | null, hover: (cell: Cell | null) => void, pick: (cell: Cell) => void,
 *   choose: (part: View) => void,
 *   pinched: (edges: import("./pan_and_zoom.js").Edges) => void }} Hand
 */

/** @type {Record<string, Cell>} */
const MOVES = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

/** @type {(value: number, least: number, count: number) => number} */
const within = (value, least, count) => Math.max(least, Math.min(least + count - 1, value));

const DRAG_PIXELS = 6; // pixels that a press moves before it is a drag

export class CellGrid {
  /** @param {{ canvas: HTMLCanvasElement, lasso: HTMLElement } & Hand} options */
  constructor({ canvas, lasso, ...hand }) {
    this.canvas = canvas;
    this.lasso = lasso;
    this.hand = hand;
    this.pinch = new PanAndZoom(canvas, {
      begin: () => {
        if (!hand.view()) return false;
        hand.hover(null);
        return true;
      },
      rest: (edges) => hand.pinched(edges),
    });
    /** @type {{ x: number, y: number, from: Cell } | null} */
    this.drag = null;
    canvas.addEventListener("pointerdown", (event) => this.#press(event));
    canvas.addEventListener("pointermove", (event) => {
      if (!this.pinch.isHeld && (!this.drag || !this.#stretch(event, this.drag))) hand.hover(this.cellUnder(event));
    });
    canvas.addEventListener("pointerup", (event) => this.#lift(event));
    canvas.addEventListener("pointercancel", () => this.#release());
    canvas.addEventListener("pointerleave", () => {
      if (!this.drag) hand.hover(null);
    });
    canvas.addEventListener("click", (event) => this.#tap(event));
  }

  /** @type {(event: MouseEvent, seen: View) => Cell} */
  #nearest(event, { top, left, rows, columns }) {
    const box = this.canvas.getBoundingClientRect();
    return [
      top + Math.floor(((event.clientY - box.top) / box.height) * rows),
      left + Math.floor(((event.clientX - box.left) / box.width) * columns),
    ];
  }

  /** @type {(event: MouseEvent) => Cell | null} The cell under the pointer, or null beside the canvas. */
  cellUnder(event) {
    const seen = this.hand.view();
    if (!seen) return null;
    const cell = this.#nearest(event, seen);
    const [row, column] = cell;
    const isInside = row === within(row, seen.top, seen.rows) && column === within(column, seen.left, seen.columns);
    return isInside ? cell : null;
  }

  /** @param {PointerEvent} event */
  #press(event) {
    const from = event.button === 0 && event.pointerType !== "touch" && this.cellUnder(event);
    if (!from) return;
    this.drag = { x: event.clientX, y: event.clientY, from };
    this.canvas.setPointerCapture(event.pointerId);
  }

  /** @param {PointerEvent} event */
  #lift(event) {
    if (!this.drag) return;
    const { from } = this.drag;
    const isFar = !this.lasso.hidden;
    this.#release();
    const seen = this.hand.view();
    const cell = this.cellUnder(event);
    if (!isFar && cell) this.hand.pick(cell);
    if (!isFar || !seen) return;
    // A drag may end beside the canvas: it then reaches to the edge.
    const to = this.#nearest(event, seen);
    const [row, column] = [within(to[0], seen.top, seen.rows), within(to[1], seen.left, seen.columns)];
    this.hand.choose({
      top: Math.min(from[0], row),
      left: Math.min(from[1], column),
      rows: Math.abs(from[0] - row) + 1,
      columns: Math.abs(from[1] - column) + 1,
    });
  }

  /** @type {(event: MouseEvent) => void} A touch has no drag, so that the page still scrolls. */
  #tap(event) {
    const isTouch = event instanceof PointerEvent && event.pointerType === "touch";
    const cell = isTouch && this.cellUnder(event);
    if (!cell) return;
    this.hand.hover(cell);
    this.hand.pick(cell);
  }

  #release() {
    this.drag = null;
    this.lasso.hidden = true;
  }

  /** @type {(event: MouseEvent, from: { x: number, y: number }) => boolean} */
  #stretch(event, from) {
    const { lasso } = this;
    const [dx, dy] = [event.clientX - from.x, event.clientY - from.y];
    if (lasso.hidden && Math.hypot(dx, dy) < DRAG_PIXELS) return false;
    const box = this.canvas.getBoundingClientRect();
    const size = magnification(this.canvas);
    lasso.hidden = false;
    lasso.style.left = `${(Math.min(event.clientX, from.x) - box.left) / size}px`;
    lasso.style.top = `${(Math.min(event.clientY, from.y) - box.top) / size}px`;
    lasso.style.width = `${Math.abs(dx) / size}px`;
    lasso.style.height = `${Math.abs(dy) / size}px`;
    return true;
  }

  /**
   * Where an arrow key leads from a cell, within `rows` × `columns`; null for any other key.
   * @param {KeyboardEvent} event
   * @param {Cell} from
   * @param {number} rows
   * @param {number} columns
   * @returns {Cell | null}
   */
  step(event, [row, column], rows, columns, far = 1) {
    if (!(event.key in MOVES)) return null;
    const [down, right] = MOVES[event.key];
    return [within(row + far * down, 0, rows), within(column + far * right, 0, columns)];
  }

  /**
   * Whether the wheel is for the canvas: it is for the page, unless the canvas has the focus or Ctrl is held.
   * @param {WheelEvent} event
   */
  isForCanvas(event) {
    return event.ctrlKey || event.metaKey || document.activeElement === this.canvas;
  }
}

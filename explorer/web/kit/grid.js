// A canvas of cells under a hand: hovering, picking one, dragging a rectangle, pinching, walking
// with the arrow keys.
import { magnified } from "./dom.js";

/** @typedef {import("./cells.js").View} View */
/** @typedef {[number, number]} Cell row and column */

/**
 * `view()` says which cells are in sight, or null; `pinched` is told where two fingers moved the edges
 * of the view, in shares of it.
 * @typedef {{ view: () => View | null, hover: (cell: Cell | null) => void, pick: (cell: Cell) => void,
 *   choose: (part: View) => void,
 *   pinched: (edges: { left: number, right: number, top: number, bottom: number }) => void }} Hand
 */

/** @type {Record<string, Cell>} */
const MOVES = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

/** @type {(value: number, least: number, count: number) => number} */
const within = (value, least, count) => Math.max(least, Math.min(least + count - 1, value));

/** @param {{ canvas: HTMLCanvasElement, lasso: HTMLElement } & Hand} options */
export function cellGrid({ canvas, lasso, view, hover, pick, choose, pinched }) {
  const stage = /** @type {HTMLElement} */ (canvas.parentElement);
  /** @type {{ x: number, y: number, from: Cell } | null} */
  let drag = null;

  /**
   * @param {MouseEvent} event
   * @param {View} seen
   * @returns {Cell}
   */
  function nearest(event, { top, left, rows, columns }) {
    const box = canvas.getBoundingClientRect();
    return [
      top + Math.floor(((event.clientY - box.top) / box.height) * rows),
      left + Math.floor(((event.clientX - box.left) / box.width) * columns),
    ];
  }

  /**
   * The cell under the pointer, or null beside the canvas.
   * @param {MouseEvent} event
   */
  function under(event) {
    const seen = view();
    if (!seen) return null;
    const cell = nearest(event, seen);
    const [row, column] = cell;
    const inside = row === within(row, seen.top, seen.rows) && column === within(column, seen.left, seen.columns);
    return inside ? cell : null;
  }

  canvas.addEventListener("pointerdown", (event) => {
    const from = event.button === 0 && event.pointerType !== "touch" && under(event);
    if (!from) return;
    drag = { x: event.clientX, y: event.clientY, from };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!pinch && (!drag || !stretch(event, drag))) hover(under(event));
  });
  canvas.addEventListener("pointerup", (event) => {
    if (!drag) return;
    const { from } = drag;
    const far = !lasso.hidden;
    release();
    const seen = view();
    if (!seen) return;
    if (!far) {
      const cell = under(event);
      if (cell) pick(cell);
      return;
    }
    // A drag may end beside the canvas: it then reaches to the edge.
    const { top, left, rows, columns } = seen;
    const to = nearest(event, seen);
    const [row, column] = [within(to[0], top, rows), within(to[1], left, columns)];
    choose({
      top: Math.min(from[0], row),
      left: Math.min(from[1], column),
      rows: Math.abs(from[0] - row) + 1,
      columns: Math.abs(from[1] - column) + 1,
    });
  });
  canvas.addEventListener("pointercancel", release);
  canvas.addEventListener("pointerleave", () => {
    if (!drag) hover(null);
  });
  canvas.addEventListener("click", (event) => {
    // a touch has no drag, so that the page still scrolls
    const cell = event.pointerType === "touch" && under(event);
    if (cell) {
      hover(cell);
      pick(cell);
    }
  });

  // Two fingers hold on to what is under them; one of them leaves the page to scroll. What they
  // moved stays so until it is drawn anew, and `settle` is called.
  const still = { scale: 1, x: 0, y: 0 };
  let moved = { ...still };
  /** @type {{ apart: number, at: { x: number, y: number }, moved: typeof still } | null} */
  let pinch = null;
  /** @param {TouchList} fingers */
  const apart = ([a, b]) => Math.max(1, Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY));
  /** @param {TouchList} fingers */
  const between = ([a, b]) => {
    const box = stage.getBoundingClientRect();
    const size = magnified(canvas);
    return { x: ((a.clientX + b.clientX) / 2 - box.left) / size, y: ((a.clientY + b.clientY) / 2 - box.top) / size };
  };
  /** @param {typeof still} next */
  function move(next) {
    moved = next;
    const { scale, x, y } = moved;
    canvas.style.transform = scale === 1 && !x && !y ? "" : `translate(${x}px, ${y}px) scale(${scale})`;
    stage.classList.toggle("lp-pinched", Boolean(canvas.style.transform));
  }
  function settle() {
    pinch = null;
    move({ ...still });
  }
  canvas.addEventListener(
    "touchstart",
    (event) => {
      if (event.touches.length !== 2 || !event.cancelable || !view()) {
        pinch = null;
        return;
      }
      event.preventDefault();
      hover(null);
      pinch = { apart: apart(event.touches), at: between(event.touches), moved };
    },
    { passive: false },
  );
  canvas.addEventListener(
    "touchmove",
    (event) => {
      if (!pinch || event.touches.length !== 2) return;
      event.preventDefault();
      const [{ moved: from, at }, to] = [pinch, between(event.touches)];
      const factor = apart(event.touches) / pinch.apart;
      move({ scale: from.scale * factor, x: to.x - (at.x - from.x) * factor, y: to.y - (at.y - from.y) * factor });
    },
    { passive: false },
  );
  canvas.addEventListener("touchend", () => {
    if (!pinch) return;
    pinch = null;
    const { scale, x, y } = moved;
    const [width, height] = [canvas.offsetWidth * scale, canvas.offsetHeight * scale];
    pinched({
      left: -x / width,
      right: (canvas.offsetWidth - x) / width,
      top: -y / height,
      bottom: (canvas.offsetHeight - y) / height,
    });
  });
  canvas.addEventListener("touchcancel", settle);

  function release() {
    drag = null;
    lasso.hidden = true;
  }

  /**
   * @param {MouseEvent} event
   * @param {{ x: number, y: number }} from
   */
  function stretch(event, from) {
    const [dx, dy] = [event.clientX - from.x, event.clientY - from.y];
    if (lasso.hidden && Math.hypot(dx, dy) < 6) return false;
    const box = canvas.getBoundingClientRect();
    const size = magnified(canvas);
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
  function step(event, [row, column], rows, columns, far = 1) {
    if (!(event.key in MOVES)) return null;
    const [down, right] = MOVES[event.key];
    return [within(row + far * down, 0, rows), within(column + far * right, 0, columns)];
  }

  /**
   * The wheel is for the page, unless the canvas has the focus or Ctrl is held.
   * @param {WheelEvent} event
   */
  const meant = (event) => event.ctrlKey || event.metaKey || document.activeElement === canvas;

  return { under, step, meant, settle };
}

// A canvas of cells under a hand: hovering, picking one, dragging a rectangle, pinching, walking
// with the arrow keys. `view()` says which cells are in sight ({ top, left, rows, columns }), or
// null; `pinched` is told where two fingers moved the edges of the view, in shares of it.
import { magnified } from "./dom.js";

export function cellGrid(options) {
  const { canvas, lasso, view, hover, pick, choose, pinched } = options;
  const MOVES = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
  const within = (value, least, count) => Math.max(least, Math.min(least + count - 1, value));
  let drag = null;

  function nearest(event) {
    const box = canvas.getBoundingClientRect();
    const { top, left, rows, columns } = view();
    return [
      top + Math.floor(((event.clientY - box.top) / box.height) * rows),
      left + Math.floor(((event.clientX - box.left) / box.width) * columns),
    ];
  }

  /** @param {number[]} cell */
  function inside([row, column]) {
    const { top, left, rows, columns } = view();
    return row === within(row, top, rows) && column === within(column, left, columns);
  }

  // The cell under the pointer, or null beside the canvas.
  function under(event) {
    const cell = view() && nearest(event);
    return cell && inside(cell) ? cell : null;
  }

  canvas.addEventListener("pointerdown", (event) => {
    const from = event.button === 0 && event.pointerType !== "touch" && under(event);
    if (!from) return;
    drag = { x: event.clientX, y: event.clientY, from };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!pinch && (!drag || !stretch(event))) hover(under(event));
  });
  canvas.addEventListener("pointerup", (event) => {
    if (!drag) return;
    const { from } = drag;
    const far = !lasso.hidden;
    release();
    if (!view()) return;
    if (!far) {
      if (under(event)) pick(under(event));
      return;
    }
    // A drag may end beside the canvas: it then reaches to the edge.
    const { top, left, rows, columns } = view();
    const to = nearest(event);
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
  let pinch = null;
  const apart = ([a, b]) => Math.max(1, Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY));
  const between = ([a, b]) => {
    const box = canvas.parentElement.getBoundingClientRect();
    const size = magnified(canvas);
    return { x: ((a.clientX + b.clientX) / 2 - box.left) / size, y: ((a.clientY + b.clientY) / 2 - box.top) / size };
  };
  function move(next) {
    moved = next;
    const { scale, x, y } = moved;
    canvas.style.transform = scale === 1 && !x && !y ? "" : `translate(${x}px, ${y}px) scale(${scale})`;
    canvas.parentElement.classList.toggle("lp-pinched", Boolean(canvas.style.transform));
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

  function stretch(event) {
    const [dx, dy] = [event.clientX - drag.x, event.clientY - drag.y];
    if (lasso.hidden && Math.hypot(dx, dy) < 6) return false;
    const box = canvas.getBoundingClientRect();
    const size = magnified(canvas);
    lasso.hidden = false;
    lasso.style.left = `${(Math.min(event.clientX, drag.x) - box.left) / size}px`;
    lasso.style.top = `${(Math.min(event.clientY, drag.y) - box.top) / size}px`;
    lasso.style.width = `${Math.abs(dx) / size}px`;
    lasso.style.height = `${Math.abs(dy) / size}px`;
    return true;
  }

  /**
   * Where an arrow key leads from a cell, within `rows` × `columns`; null for any other key.
   * @param {KeyboardEvent} event
   * @param {number[]} from
   */
  function step(event, [row, column], rows, columns, far = 1) {
    if (!(event.key in MOVES)) return null;
    const [down, right] = MOVES[event.key];
    return [within(row + far * down, 0, rows), within(column + far * right, 0, columns)];
  }

  // The wheel is for the page, unless the canvas has the focus or Ctrl is held.
  const meant = (event) => event.ctrlKey || event.metaKey || document.activeElement === canvas;

  return { under, step, meant, settle, isArrow: (event) => event.key in MOVES };
}

// A canvas of cells under a hand: hovering, picking one, dragging a rectangle, walking with the
// arrow keys. `view()` says which cells are in sight ({ top, left, rows, columns }), or null.
(window.LossPrismParts ??= {}).grid = (options) => {
  "use strict";
  const { canvas, lasso, view, hover, pick, choose } = options;
  const MOVES = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
  const within = (value, least, count) => Math.max(least, Math.min(least + count - 1, value));
  let drag = null;

  function nearest(event) {
    const box = canvas.getBoundingClientRect();
    const { top, left, rows, columns } = view();
    return [
      top + Math.floor(((event.clientY - box.top) / box.height) * rows),
      left + Math.floor(((event.clientX - box.left) / box.width) * columns)];
  }

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
    if (!drag || !stretch(event)) hover(under(event));
  });
  canvas.addEventListener("pointerup", (event) => {
    if (!drag) return;
    const { from } = drag;
    const far = !lasso.hidden;
    release();
    if (!view()) return;
    if (!far) { if (under(event)) pick(under(event)); return; }
    // A drag may end beside the canvas: it then reaches to the edge.
    const { top, left, rows, columns } = view();
    const to = nearest(event);
    const [row, column] = [within(to[0], top, rows), within(to[1], left, columns)];
    choose({
      top: Math.min(from[0], row), left: Math.min(from[1], column),
      rows: Math.abs(from[0] - row) + 1, columns: Math.abs(from[1] - column) + 1,
    });
  });
  canvas.addEventListener("pointercancel", release);
  canvas.addEventListener("pointerleave", () => { if (!drag) hover(null); });
  canvas.addEventListener("click", (event) => { // a touch has no drag, so that the page still scrolls
    const cell = event.pointerType === "touch" && under(event);
    if (cell) { hover(cell); pick(cell); }
  });

  function release() {
    drag = null;
    lasso.hidden = true;
  }

  function stretch(event) {
    const [dx, dy] = [event.clientX - drag.x, event.clientY - drag.y];
    if (lasso.hidden && Math.hypot(dx, dy) < 6) return false;
    const box = canvas.getBoundingClientRect();
    const size = LossPrism.magnified(canvas);
    lasso.hidden = false;
    lasso.style.left = `${(Math.min(event.clientX, drag.x) - box.left) / size}px`;
    lasso.style.top = `${(Math.min(event.clientY, drag.y) - box.top) / size}px`;
    lasso.style.width = `${Math.abs(dx) / size}px`;
    lasso.style.height = `${Math.abs(dy) / size}px`;
    return true;
  }

  // Where an arrow key leads from a cell, within `rows` × `columns`; null for any other key.
  function step(event, [row, column], rows, columns, far = 1) {
    if (!(event.key in MOVES)) return null;
    const [down, right] = MOVES[event.key];
    return [within(row + far * down, 0, rows), within(column + far * right, 0, columns)];
  }

  // The wheel is for the page, unless the canvas has the focus or Ctrl is held.
  const meant = (event) => event.ctrlKey || event.metaKey || document.activeElement === canvas;

  return { under, step, meant, isArrow: (event) => event.key in MOVES };
};

// What moves the map: a drag, two fingers, the wheel, keys and buttons. Its picture is moved as it is, which takes no
// time however many points it has, and drawn anew where it comes to rest. A drag with Shift, or while the button of
// the box is pressed, draws a box.
import { h } from "../../kit/dom.js";
import { PanAndZoom } from "../../kit/pan_and_zoom.js";

/** @typedef {import("../../kit/pan_and_zoom.js").Edges} Edges */

const REST_MS = 150; // after the last turn of the wheel
const MIN_DRAG_PX = 6; // pixels that a press moves before it is a drag
const ZOOM_FACTOR = 1.5; // of a key or a button
const ARROW_SHARE = 0.15; // of the picture, by an arrow key
const WHEEL_ZOOM_PER_PIXEL = 0.002; // of the wheel
const PIXELS_OF_LINE = 20; // where the wheel counts lines

/** @type {Record<string, [number, number]>} */
const ARROW_KEYS = { ArrowLeft: [1, 0], ArrowRight: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
/** @type {Record<string, number>} */
const ZOOM_KEYS = { "+": ZOOM_FACTOR, "=": ZOOM_FACTOR, "-": 1 / ZOOM_FACTOR };

/**
 * The wheel is for the page, unless the map has the focus or Ctrl is held; so is one finger.
 * @param {HTMLElement} box of the chart
 * @param {{ rest: (edges: Edges | null) => unknown, box: (edges: Edges) => void }} options `rest` draws the map between
 *   these edges, null for all of it, and may take its time; `box` hears of a box that was drawn
 */
export function mapGestures(box, { rest, box: boxed }) {
  const picture = new PanAndZoom(box, {
    begin: () => true,
    rest: async (edges) => {
      await rest(edges);
      picture.settle();
    },
  });
  let resting = 0;
  const restSoon = () => {
    clearTimeout(resting);
    resting = window.setTimeout(() => picture.rest(), REST_MS);
  };
  const middle = () => {
    const { left, top, width, height } = box.getBoundingClientRect();
    return { clientX: left + width / 2, clientY: top + height / 2 };
  };
  /** @param {number} factor */
  const zoom = (factor) => {
    picture.zoom(factor, middle());
    restSoon();
  };

  const lasso = h("div.lp-lasso", { hidden: true });
  box.append(lasso);
  let isBoxing = false; // whether every drag draws a box
  /** @param {{ shiftKey: boolean }} event */
  const adds = ({ shiftKey }) => isBoxing || shiftKey;
  /** @type {(from: PointerEvent, to: PointerEvent) => Edges} The box between two places, in shares of the picture. */
  const edgesBetween = (from, to) => {
    const { left, top, width, height } = box.getBoundingClientRect();
    const [across, down] = [from, to].map(({ clientX, clientY }) => [
      (clientX - left) / width,
      (clientY - top) / height,
    ]);
    const [x, y] = [0, 1].map((axis) => [across[axis], down[axis]].sort((one, other) => one - other));
    return { left: x[0], right: x[1], top: y[0], bottom: y[1] };
  };
  /** @param {Edges} edges */
  const drawBox = ({ left, right, top, bottom }) => {
    const sizes = { left, top, width: right - left, height: bottom - top };
    for (const [name, share] of Object.entries(sizes)) lasso.style.setProperty(name, `${100 * share}%`);
    lasso.hidden = false;
  };

  let isDragged = false; // since the button was pressed
  box.addEventListener("pointerdown", (event) => {
    box.focus({ preventScroll: true });
    isDragged = false;
    const draws = adds(event);
    if (event.button !== 0 || (event.pointerType === "touch" && !draws)) return;
    clearTimeout(resting);
    let at = event;
    const ended = new AbortController();
    // Plotly covers the page while a button is pressed.
    const { signal } = ended;
    document.addEventListener(
      "pointermove",
      (to) => {
        const [x, y] = [to.clientX - at.clientX, to.clientY - at.clientY];
        if (!isDragged && Math.hypot(x, y) < MIN_DRAG_PX) return;
        isDragged = true;
        if (draws) {
          drawBox(edgesBetween(event, to));
          return;
        }
        at = to;
        picture.drag(x, y);
      },
      { signal },
    );
    for (const end of ["pointerup", "pointercancel"]) {
      document.addEventListener(
        end,
        (to) => {
          ended.abort();
          lasso.hidden = true;
          if (!isDragged) return;
          if (!draws) picture.rest();
          else if (end === "pointerup") boxed(edgesBetween(event, /** @type {PointerEvent} */ (to)));
        },
        { signal },
      );
    }
  });
  box.addEventListener(
    "wheel",
    (event) => {
      if (!event.ctrlKey && !event.metaKey && document.activeElement !== box) return;
      event.preventDefault();
      const pixels = event.deltaMode ? event.deltaY * PIXELS_OF_LINE : event.deltaY;
      picture.zoom(Math.exp(-WHEEL_ZOOM_PER_PIXEL * pixels), event);
      restSoon();
    },
    { passive: false },
  );
  box.addEventListener("keydown", (event) => {
    if (event.target !== box || event.ctrlKey || event.metaKey || event.altKey) return;
    const arrow = ARROW_KEYS[event.key];
    if (arrow) {
      const { width, height } = box.getBoundingClientRect();
      picture.drag(arrow[0] * ARROW_SHARE * width, arrow[1] * ARROW_SHARE * height);
      restSoon();
    } else if (event.key in ZOOM_KEYS) zoom(ZOOM_KEYS[event.key]);
    else return;
    event.preventDefault();
  });
  /** @type {(key: string, sign: string, act: () => unknown) => HTMLElement} */
  const button = (key, sign, act) => h("button.lp-square", { "data-title": key, onclick: () => act() }, sign);
  const boxing = button("sentence_map.box", "▭", () => {
    isBoxing = !isBoxing;
    boxing.setAttribute("aria-pressed", String(isBoxing));
    box.classList.toggle("lp-boxing", isBoxing);
  });
  boxing.setAttribute("aria-pressed", "false");
  const buttons = h(
    "div.lp-map-zoom",
    button("sentence_map.nearer", "+", () => zoom(ZOOM_FACTOR)),
    button("sentence_map.farther", "−", () => zoom(1 / ZOOM_FACTOR)),
    boxing,
    button("chart.reset", "⟲", () => rest(null)),
  );
  return { buttons, isDragged: () => isDragged, adds };
}

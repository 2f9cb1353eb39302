// A strip of bars for each side, above and below its middle: it follows the pointer from pair to pair.
import { panelOf, s } from "../../kit/drawing.js";

const STRIP = 58; // pixels
const GAP = 6;
const LEFT = 26;
const SHARE = 0.76; // of its place that a bar is wide
const LEAST = 0.6; // pixels that it is wide, however many there are

/** @param {number} strip */
const middleOf = (strip) => 2 + strip * (STRIP + GAP) + STRIP / 2;

/**
 * The bars of one strip as a path; what has no height, or is no number, has no bar.
 * @param {ArrayLike<number>} heights of each place, from −1 to 1
 * @param {number} middle
 * @param {number} step pixels from one place to the next
 */
export function barsPath(heights, middle, step) {
  return Array.from(heights, (height, place) => {
    const up = (height * STRIP) / 2;
    if (!Number.isFinite(up) || up.toFixed(2) === "0.00") return "";
    const [x, width] = [LEFT + step * (place + (1 - SHARE) / 2), Math.max(SHARE * step, LEAST)];
    return `M${x.toFixed(2)} ${middle}h${width.toFixed(2)}v${(-up).toFixed(2)}h${(-width).toFixed(2)}z`;
  }).join("");
}

/**
 * `emit` is given the place under the pointer, null for none.
 * @param {Element} root
 * @param {(place: number | null) => void} emit
 */
export function stripChart(root, emit) {
  const [lit, bars] = [s("rect", { y: 0, fill: "var(--lp-pointed)", visibility: "hidden" }), s("g")];
  const svg = s("svg", { role: "img", tabindex: 0 }, lit, bars);
  root.append(svg);
  let [width, height, count] = [0, 0, 1];
  const step = () => (width - LEFT) / count;

  /**
   * @param {{ width: number, count: number, label: string,
   *   strips: { name: string, colour: string, heights: ArrayLike<number> }[] }} next
   */
  function draw({ strips, label, ...next }) {
    [width, count, height] = [next.width, Math.max(next.count, 1), strips.length * (STRIP + GAP) + 4];
    for (const [name, value] of Object.entries({
      width,
      height,
      viewBox: `0 0 ${width} ${height}`,
      "aria-label": label,
    }))
      svg.setAttribute(name, String(value));
    bars.replaceChildren(
      ...strips.flatMap(({ name, colour, heights }, strip) => {
        const y = middleOf(strip);
        return [
          s("line", { x1: LEFT, x2: width, y1: y, y2: y, stroke: "var(--lp-line)" }),
          s("text", { x: 2, y: y + 4, "font-size": 13, "font-weight": 700, fill: colour }, name),
          s("path", { fill: colour, d: barsPath(heights, y, step()) }),
        ];
      }),
    );
  }

  /** @param {number} place −1 for none */
  function light(place) {
    lit.setAttribute("visibility", place < 0 ? "hidden" : "visible");
    for (const [name, value] of Object.entries({ x: LEFT + step() * place, width: Math.max(step(), 2), height }))
      lit.setAttribute(name, String(value));
  }

  svg.addEventListener("pointermove", ({ clientX }) => {
    const box = svg.getBoundingClientRect();
    const x = ((clientX - box.left) * width) / box.width; // the page may be enlarged
    emit(Math.max(0, Math.min(count - 1, Math.floor((x - LEFT) / step()))));
  });
  svg.addEventListener("pointerleave", () => emit(null));

  return {
    element: svg,
    draw,
    light,
    // As it is taken away: without what moves with the hand.
    taken() {
      light(-1);
      return panelOf({ drawn: svg, wide: width, tall: height });
    },
  };
}

// A drawing with two axes: bands, curves and marks over a grid, as an SVG. It is given numbers and how
// they look, and tells the value under the pointer.
import { s } from "./drawing.js";

/** @typedef {import("./types").Span} Span */
/** @typedef {import("./types").Look} Look SVG attributes */

/**
 * An axis: where it begins and ends, its marks and how they are written; of the lower one also `name`
 * and `stems`, a short line at each mark.
 * @typedef {{ span: Span, logarithmic?: boolean, ticks: number[], write: (value: number) => string,
 *   name?: string, stems?: boolean }} Axis
 */

/**
 * `x` and `y` from and to, all of an axis that is not named, or at the `foot` of it so many pixels to
 * both sides.
 * @typedef {{ look: Look, x?: Span, y?: Span, foot?: number }} Band
 */

/**
 * How far along an axis a value lies, from 0 to 1, and back.
 * @param {Span} span
 */
export function scaleOf(span, logarithmic = false) {
  const [low, high] = span;
  const whole = (logarithmic ? Math.log(high / low) : high - low) || 1;
  /** @type {{ to: (value: number) => number, back: (share: number) => number }} */
  const scale = logarithmic
    ? { to: (v) => Math.log(Math.max(v, 1e-12) / low) / whole, back: (t) => low * (high / low) ** t }
    : { to: (v) => (v - low) / whole, back: (t) => low + whole * t };
  return scale;
}

/**
 * Round numbers from one end to the other, at most about so many; of a logarithmic axis powers of ten.
 * @param {Span} span
 * @param {number} most
 */
export function ticksOf(span, most, logarithmic = false) {
  const [low, high] = span;
  if (!logarithmic) {
    const rough = (high - low) / most || 1;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = ([1, 2, 5].find((times) => times * power >= rough * 0.999) ?? 10) * power;
    const first = Math.ceil(low / step - 1e-9);
    const count = Math.floor(high / step + 1e-9) - first + 1;
    return Array.from({ length: count }, (_, i) => Number(((first + i) * step).toPrecision(12)));
  }
  /** @type {number[]} */
  const decades = [];
  for (let power = Math.ceil(Math.log10(low) - 1e-9); 10 ** power <= high * (1 + 1e-9); power += 1)
    decades.push(10 ** power);
  const every = Math.ceil(decades.length / most);
  return decades.filter((_decade, i) => i % every === 0);
}

/**
 * At most two points for each of `width` pixels: the least and the largest of those that fall into it.
 * The line is broken where there is no number; `toX` and `toY` say where a point lies.
 * @param {{ x: ArrayLike<number>, y: ArrayLike<number> }} curve
 * @param {number} width
 * @param {(value: number) => number} toX
 * @param {(value: number) => number} toY
 * @param {(value: number) => boolean} isDrawn
 */
export function outlineOf({ x, y }, width, toX, toY, isDrawn = Number.isFinite) {
  /** @type {string[]} */
  const words = [];
  const every = Math.max(1, Math.ceil(x.length / (2 * width)));
  let pen = "M";
  /** @param {number} i */
  const add = (i) => {
    if (!isDrawn(y[i])) {
      pen = "M";
      return;
    }
    words.push(`${pen}${toX(x[i]).toFixed(1)} ${toY(y[i]).toFixed(1)}`);
    pen = "L";
  };
  for (let from = 0; from < x.length; from += every) {
    if (every === 1) {
      add(from);
      continue;
    }
    let [least, largest] = [from, from];
    for (let i = from; i < Math.min(from + every, x.length); i += 1) {
      if (y[i] < y[least]) least = i;
      if (y[i] > y[largest]) largest = i;
    }
    add(Math.min(least, largest));
    if (least !== largest) add(Math.max(least, largest));
  }
  if (words.length === 1) words.push("h0"); // a single point is a dot
  return words.join("");
}

/**
 * `margins` in pixels. `emit` hears of the pointer ("reach", value or null), ("press", value),
 * ("drag", value) and ("click", value), all values of the x axis.
 * @param {{ margins: { left: number, right: number, top: number, bottom: number }, attributes?: Look }} options
 * @param {(...told: ["reach", number | null] | ["press" | "drag" | "click", number]) => void} [emit]
 */
export function plotArea({ margins, attributes = {} }, emit = () => undefined) {
  const { left, right, top, bottom } = margins;
  const groups = { axes: s("g"), bands: s("g"), curves: s("g"), marks: s("g") };
  for (const [name, value] of Object.entries({ "font-size": 11, fill: "var(--lp-faint)" }))
    groups.axes.setAttribute(name, String(value));
  const svg = s("svg", { role: "img", ...attributes }, ...Object.values(groups));
  const still = scaleOf([0, 1]);
  let drawn = { width: 0, height: 0, across: still, up: still }; // nothing, before it is drawn

  /** @param {number} v */
  const toX = (v) => left + drawn.across.to(v) * (drawn.width - left - right);
  /** @param {number} v */
  const toY = (v) => top + (1 - drawn.up.to(v)) * (drawn.height - top - bottom);

  /**
   * Of a curve `x` rises.
   * @param {{ width: number, height: number, x: Axis, y: Axis, bands?: Band[],
   *   curves?: { look: Look, x: ArrayLike<number>, y: ArrayLike<number> }[] }} figure
   */
  function draw({ width, height, x, y, bands = [], curves = [] }) {
    drawn = { width, height, across: scaleOf(x.span, x.logarithmic), up: scaleOf(y.span, y.logarithmic) };
    for (const [name, value] of Object.entries({ width, height, viewBox: `0 0 ${width} ${height}` }))
      svg.setAttribute(name, String(value));
    groups.bands.replaceChildren(...bands.flatMap(bandOf));
    groups.axes.replaceChildren(...y.ticks.flatMap((v) => rungOf(v, y)), ...footOf(x));
    /** @param {number} v */
    const isDrawn = (v) => Number.isFinite(v) && (!y.logarithmic || v > 0);
    /** @param {number} v */
    const held = (v) => Math.max(top, Math.min(height - bottom, toY(v)));
    groups.curves.replaceChildren(
      ...curves.map(({ look, ...curve }) =>
        s("path", {
          fill: "none",
          "stroke-linejoin": "round",
          "stroke-linecap": "round",
          ...look,
          d: outlineOf(curve, width, toX, held, isDrawn),
        }),
      ),
    );
  }

  /** @param {Band} band */
  function bandOf({ look, x, y, foot }) {
    const base = drawn.height - bottom;
    const [from, to] = x ? x.map(toX) : [left, drawn.width - right];
    const [high, low] = foot ? [base - foot, base + foot] : y ? [toY(y[1]), toY(y[0])] : [top, base];
    return to > from ? [s("rect", { ...look, x: from, y: high, width: to - from, height: low - high })] : [];
  }

  /**
   * @param {number} v
   * @param {Axis} axis
   */
  function rungOf(v, { write }) {
    const at = toY(v);
    return [
      s("line", { x1: left, x2: drawn.width - right, y1: at, y2: at, stroke: "var(--lp-line)" }),
      s("text", { x: left - 6, y: at + 4, "text-anchor": "end" }, write(v)),
    ];
  }

  /** @param {Axis} axis */
  function footOf({ ticks, write, name, stems }) {
    const { width, height } = drawn;
    const base = height - bottom;
    /** @param {number} v */
    const stem = (v) => s("line", { x1: toX(v), x2: toX(v), y1: base, y2: base + 4, stroke: "var(--lp-line)" });
    /** @type {(x: number, anchor: string, said: string) => SVGElement} */
    const text = (x, anchor, said) => s("text", { x, y: height - 6, "text-anchor": anchor }, said);
    return [
      ...(name ? [text(left - 10, "end", name)] : []),
      ...(stems ? ticks.map(stem) : []),
      ...ticks.map((v) => text(Math.min(toX(v), width - 14), "middle", write(v))),
    ];
  }

  /**
   * What lies over it and moves with the hand.
   * @param {{ lines?: { look: Look, x: number }[], dots?: { look: Look, x: number, y: number }[] }} over
   */
  function mark({ lines = [], dots = [] }) {
    if (!drawn.width) return;
    const [y1, y2] = [top, drawn.height - bottom];
    groups.marks.replaceChildren(
      ...lines.map(({ look, x }) => s("line", { ...look, x1: toX(x), x2: toX(x), y1, y2 })),
      ...dots
        .filter(({ y }) => Number.isFinite(y))
        .map(({ look, x, y }) => s("circle", { ...look, cx: toX(x), cy: toY(y) })),
    );
  }

  // ---- Under the pointer -------------------------------------------------------------------

  /** @param {MouseEvent} event */
  function valueUnder({ clientX }) {
    const box = svg.getBoundingClientRect();
    const across = ((clientX - box.left) * drawn.width) / box.width; // the page may be enlarged
    const share = (across - left) / (drawn.width - left - right);
    return drawn.across.back(Math.max(0, Math.min(1, share)));
  }

  let pressed = false;
  svg.addEventListener("pointermove", (event) => {
    if (!drawn.width) return;
    const value = valueUnder(event);
    emit("reach", value);
    if (pressed) emit("drag", value);
  });
  svg.addEventListener("pointerleave", () => emit("reach", null));
  svg.addEventListener("click", (event) => {
    if (drawn.width) emit("click", valueUnder(event));
  });
  svg.addEventListener("pointerdown", (event) => {
    if (!drawn.width || event.button !== 0) return;
    svg.setPointerCapture(event.pointerId);
    pressed = true;
    emit("press", valueUnder(event));
  });
  for (const end of ["pointerup", "pointercancel"])
    svg.addEventListener(end, () => {
      pressed = false;
    });

  return { element: svg, draw, mark };
}

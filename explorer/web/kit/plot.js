// A drawing with two axes: bands, bars, curves and marks over a grid, as an SVG. It is given numbers and how
// they look, and tells the value under the pointer.
import { s } from "./drawing.js";

/** @typedef {import("./types").Span} Span */
/** @typedef {import("./types").Look} Look SVG attributes */

/**
 * An axis: where it begins and ends, its marks and how they are written, with a `look` of their own; its
 * `name`. Of the upright one words may stand so many pixels above (`lift`) their lines; of the lower one the
 * outer words inside the ends (`inside`), and a short line at each mark (`stems`).
 * @typedef {{ span: Span, logarithmic?: boolean, ticks: number[], write: (value: number) => string, name?: string,
 *   look?: (value: number) => Look, lift?: number, inside?: boolean, stems?: boolean }} Axis
 */

/**
 * `x` and `y` from and to, all of an axis that is not named, or at the `foot` of it so many pixels to
 * both sides.
 * @typedef {{ look: Look, x?: Span, y?: Span, foot?: number }} Band
 */

/**
 * Bars over stretches of the lower axis, from `base` to `heights` of the upright one: each by itself, `gap`
 * pixels narrower than its stretch, or without a gap all of them in one outline.
 * @typedef {{ look: Look, from: ArrayLike<number>, to: ArrayLike<number>, heights: ArrayLike<number>, base: number,
 *   gap?: number | null }} Bars
 */

/**
 * What is drawn. Of a curve `x` rises; `left` is a margin that depends on what is written there.
 * @typedef {{ width: number, height: number, left?: number, x: Axis, y: Axis, bands?: Band[], bars?: Bars[],
 *   curves?: { look: Look, x: ArrayLike<number>, y: ArrayLike<number> }[] }} Figure
 */

/**
 * What moves with the hand: bands under it all, lines and dots over it.
 * @typedef {{ bands?: Band[], lines?: { look: Look, x: number }[], dots?: { look: Look, x: number, y: number }[] }} Over
 */

/** @typedef {["reach", number | null] | ["press" | "drag" | "click", number]} Told values of the lower axis */

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

const LEAST = 0.6; // pixels of a bar, however many there are

/**
 * The bars as a path; what has no height, or is no number, has no bar of its own.
 * @param {Bars} bars
 * @param {(value: number) => number} toX
 * @param {(value: number) => number} toY
 */
export function barsPath({ from, to, heights, base, gap = null }, toX, toY) {
  const ground = toY(base).toFixed(2);
  /** @type {string[]} */
  const words = [];
  for (let i = 0; i < heights.length; i += 1) {
    const [left, right, top] = [toX(from[i]), toX(to[i]), toY(heights[i]).toFixed(2)];
    if (gap === null)
      words.push(
        `${words.length ? "L" : `M${left.toFixed(2)} ${ground}L`}${left.toFixed(2)} ${top}H${right.toFixed(2)}`,
      );
    else if (Number.isFinite(heights[i]) && top !== ground)
      words.push(
        `M${left.toFixed(2)} ${ground}h${Math.max(right - left - gap, LEAST).toFixed(2)}V${top}H${left.toFixed(2)}z`,
      );
  }
  if (gap === null && words.length) words.push(`V${ground}`);
  return words.join("");
}

/**
 * `margins` in pixels. `emit` hears of the pointer.
 * @param {Element} root
 * @param {{ margins: { left: number, right: number, top: number, bottom: number }, attributes?: Look }} options
 * @param {(...told: Told) => void} [emit]
 */
export function plotArea(root, { margins, attributes = {} }, emit = () => undefined) {
  const { right, top, bottom } = margins;
  const groups = { lit: s("g"), bars: s("g"), axes: s("g"), bands: s("g"), curves: s("g"), marks: s("g") };
  for (const [name, value] of Object.entries({ "font-size": 11, fill: "var(--lp-faint)" }))
    groups.axes.setAttribute(name, String(value));
  const svg = s("svg", { role: "img", ...attributes }, ...Object.values(groups));
  root.append(svg);
  const still = scaleOf([0, 1]);
  let drawn = { width: 0, height: 0, left: margins.left, across: still, up: still }; // nothing, before it is drawn
  /** @type {Over} */
  let over = {};

  /** @param {number} v */
  const toX = (v) => drawn.left + drawn.across.to(v) * (drawn.width - drawn.left - right);
  /** @param {number} v */
  const toY = (v) => top + (1 - drawn.up.to(v)) * (drawn.height - top - bottom);

  /** @param {{ data?: Figure, state?: Over }} next */
  function update({ data, state }) {
    if (data) draw(data);
    if (state) over = state;
    mark();
  }

  /** @param {Figure} figure */
  function draw({ width, height, left = margins.left, x, y, bands = [], bars = [], curves = [] }) {
    drawn = { width, height, left, across: scaleOf(x.span, x.logarithmic), up: scaleOf(y.span, y.logarithmic) };
    for (const [name, value] of Object.entries({ width, height, viewBox: `0 0 ${width} ${height}` }))
      svg.setAttribute(name, String(value));
    groups.bands.replaceChildren(...bands.flatMap((band) => bandOf(band)));
    groups.axes.replaceChildren(...y.ticks.flatMap((v) => rungOf(v, y)), ...namedAt(10, y.name), ...footOf(x));
    groups.bars.replaceChildren(...bars.map((one) => s("path", { ...one.look, d: barsPath(one, toX, toY) })));
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

  /**
   * @param {Band} band
   * @param {number} least pixels that it is wide
   */
  function bandOf({ look, x, y, foot }, least = 0) {
    const base = drawn.height - bottom;
    const [from, to] = x ? x.map(toX) : [drawn.left, drawn.width - right];
    const [high, low] = foot ? [base - foot, base + foot] : y ? [toY(y[1]), toY(y[0])] : [top, base];
    const width = Math.max(to - from, least);
    return width > 0 ? [s("rect", { ...look, x: from, y: high, width, height: low - high })] : [];
  }

  /** @type {(x: number, y: number, anchor: string, said: string, look?: Look) => SVGElement} */
  const text = (x, y, anchor, said, look = {}) => s("text", { x, y, "text-anchor": anchor, ...look }, said);
  /** @type {(y: number, name?: string) => SVGElement[]} */
  const namedAt = (y, name) => (name ? [text(drawn.left - 10, y, "end", name)] : []);

  /**
   * @param {number} v
   * @param {Axis} axis
   */
  function rungOf(v, { write, look, lift = 0 }) {
    const at = toY(v);
    return [
      s("line", { x1: drawn.left, x2: drawn.width - right, y1: at, y2: at, stroke: "var(--lp-line)" }),
      text(drawn.left - 6, at + 4 - lift, "end", write(v), look?.(v)),
    ];
  }

  /** @param {Axis} axis */
  function footOf({ ticks, write, name, stems, inside, look }) {
    const { width, height } = drawn;
    const base = height - bottom;
    /** @param {number} v */
    const stem = (v) => s("line", { x1: toX(v), x2: toX(v), y1: base, y2: base + 4, stroke: "var(--lp-line)" });
    /** @param {number} i */
    const anchorOf = (i) => (!inside ? "middle" : i === 0 ? "start" : i === ticks.length - 1 ? "end" : "middle");
    return [
      ...namedAt(height - 6, name),
      ...(stems ? ticks.map(stem) : []),
      ...ticks.map((v, i) =>
        text(inside ? toX(v) : Math.min(toX(v), width - 14), height - 6, anchorOf(i), write(v), look?.(v)),
      ),
    ];
  }

  function mark() {
    if (!drawn.width) return;
    const { bands = [], lines = [], dots = [] } = over;
    const [y1, y2] = [top, drawn.height - bottom];
    groups.lit.replaceChildren(...bands.flatMap((band) => bandOf(band, 2)));
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
    const share = (across - drawn.left) / (drawn.width - drawn.left - right);
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

  return {
    element: svg,
    update,
    // As it is taken away, see `standalone`: without what moves with the hand.
    taken() {
      update({ state: {} });
      return { drawn: svg, wide: drawn.width, tall: drawn.height };
    },
  };
}

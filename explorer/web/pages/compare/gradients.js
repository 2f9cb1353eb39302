// The gradient of every pair under each loss, as strips of bars on one scale.
import { floats } from "../../kit/base64_arrays.js";
import { quotedPair } from "../../kit/batch_text_with_picture.js";
import { colourOf, letterOf, nameOf } from "../../kit/compared_loss_labels.js";
import { Checkbox, Notes, Select } from "../../kit/components.js";
import { clip } from "../../kit/dom.js";
import { show } from "../../kit/number_format.js";
import { group, h } from "../../kit/preact_view.js";
import { panelOf } from "../../kit/shapes_read_from_drawn_svg.js";
import { say } from "../../kit/translated_sentences.js";
import { useLayoutEffect, useRef, useState } from "../../kit/vendor/preact/hooks.js";
import { barsPath, equalised, largestOf, orderOf } from "./bar_layout.js";
import { Downloads } from "./downloads.js";

/** @typedef {import("./state.js").ComparePage} ComparePage */
/** @typedef {{ name: string, letter: string, value: string, colour: string, heights: number[] }} Strip */

const STRIP_HEAD_PX = 20; // pixels of the line above a strip
const STRIP_GAP_PX = 8;
/** @param {number} count of strips; pixels of the largest bar */
const barHeight = (count) => (count <= 3 ? 72 : count === 4 ? 50 : 34);
/** @param {number} count */
const stripHeight = (count) => STRIP_HEAD_PX + 2 * barHeight(count) + STRIP_GAP_PX;
const MIN_WIDTH_PX = 160;
const LETTER_WIDTH_PX = 7.5;

/** @param {{ page: ComparePage }} properties */
export function Gradients({ page }) {
  page.observe("state", "compared", "batch");
  const bars = useRef(/** @type {SVGGElement | null} */ (null));
  const { compared, batch, store } = page;
  if (!compared || !batch) return null;
  const { equalised: isEqual, bars: order } = store.state;
  const plain = compared.sides.map(({ gradient }) => floats(gradient));
  const values = plain.map((one) => (one && isEqual ? equalised(one) : one));
  const count = batch.labels.length;
  const pairs = orderOf(order, { count, labels: batch.labels, base: values[page.pair[0]] });
  const note = say(isEqual ? "compare.equalised.about" : "compare.not_equalised.about");
  return group(
    h(Strips, { page, pairs, strips: stripsOf(page, values, pairs), bars }),
    compared.sides.map(({ problem }, place) =>
      problem ? h("p.lp-note", `${letterOf(place)} · `, say(problem.key, problem.values)) : null,
    ),
    h(PointedPairFacts, { page, plain }),
    h(
      "div.lp-tools",
      h(
        Notes,
        { notes: [say("compare.bars_hint"), say(`compare.gradient.${compared.gradient}`), note] },
        h(BarChoices, { page, order, isEqual }),
      ),
      h(Downloads, {
        page,
        name: "gradients",
        figure: () => figureOf(bars.current, compared.sides.length, note),
        csv: () => csvOf(page, plain, pairs),
      }),
    ),
  );
}

/**
 * How the bars are sorted, and whether each loss has its own scale.
 * @param {{ page: ComparePage, order: string, isEqual: boolean }} properties
 */
const BarChoices = ({ page, order, isEqual }) =>
  h(
    "div.lp-bar",
    h(Select, {
      name: say("ui.sorted_by"),
      inline: true,
      id: "lp-bars-order",
      value: order,
      options: page.store
        .choices("bars")
        .map((name) => [name, say(`compare.bars.${name}`, { letter: letterOf(page.pair[0]) })]),
      change: (name) => page.set({ bars: name }),
    }),
    h(Checkbox, {
      name: say("compare.equalised"),
      checked: isEqual,
      change: (on) => page.set({ equalised: on }),
    }),
  );

/** @type {(page: ComparePage, values: (Float32Array | null)[], pairs: number[]) => Strip[]} */
function stripsOf({ compared, comparedSides }, values, pairs) {
  const largest = largestOf(values);
  return values.map((one, place) => {
    const figures = compared?.sides[place].figures;
    return {
      name: nameOf(comparedSides[place]),
      letter: letterOf(place),
      value: figures ? show(figures.loss, 4) : "",
      colour: colourOf(place),
      heights: one ? pairs.map((pair) => one[pair] / largest) : [],
    };
  });
}

/**
 * The strips under each other; they follow the pointer, and the arrow keys, from pair to pair.
 * @param {{ page: ComparePage, pairs: number[], strips: Strip[], bars: import("preact").RefObject<SVGGElement | null> }}
 *   properties
 */
function Strips({ page, pairs, strips, bars }) {
  const box = useRef(/** @type {HTMLDivElement | null} */ (null));
  const width = Math.max(useWidth(box), MIN_WIDTH_PX);
  const step = width / Math.max(pairs.length, 1);
  const strip = stripHeight(strips.length);
  const height = strips.length * strip;
  /** @param {PointerEvent & { currentTarget: Element }} event */
  function follow({ clientX, currentTarget }) {
    const { left, width: wide } = currentTarget.getBoundingClientRect();
    const at = Math.floor(((clientX - left) / wide) * pairs.length);
    page.point([pairs[Math.max(0, Math.min(pairs.length - 1, at))]]);
  }
  /** @param {KeyboardEvent} event */
  function walk(event) {
    const by = Number(event.key === "ArrowRight") - Number(event.key === "ArrowLeft");
    if (!by || !pairs.length) return;
    event.preventDefault();
    const next = pairs.indexOf(page.pointed.pairs[0]) + by;
    page.point([pairs[Math.max(0, Math.min(pairs.length - 1, next))]]);
  }
  return h(
    "div.lp-strips",
    { ref: box },
    h(
      "svg",
      {
        role: "img",
        tabIndex: 0,
        viewBox: `0 0 ${width} ${height}`,
        "aria-label": say("compare.bars_label", { count: pairs.length, sides: strips.length }),
        onPointerMove: follow,
        onPointerLeave: () => page.point(),
        onKeyDown: walk,
        onBlur: () => page.point(),
      },
      h(PointedPairBand, { page, pairs, step, height }),
      h(
        "g",
        { ref: bars, "data-width": width },
        strips.map((one, place) =>
          h(StripBars, {
            key: one.letter,
            strip: one,
            top: place * strip,
            reach: barHeight(strips.length),
            width,
            step,
          }),
        ),
      ),
    ),
  );
}

/** @param {{ strip: Strip, top: number, reach: number, width: number, step: number }} properties */
function StripBars({ strip: { name, letter, value, colour, heights }, top, reach, width, step }) {
  const middle = top + STRIP_HEAD_PX + reach;
  const line = top + 14;
  const letters = Math.floor((width - 120) / LETTER_WIDTH_PX);
  return group(
    h("text", { x: 0, y: line, "font-size": 14, "font-weight": 700, fill: colour }, letter),
    h("text", { x: 18, y: line, "font-size": 13, fill: "var(--lp-ink)" }, clip(name, letters)),
    h(
      "text",
      { x: width, y: line, "text-anchor": "end", "font-size": 14, "font-weight": 700, fill: "var(--lp-ink)" },
      value,
    ),
    h("line", { x1: 0, x2: width, y1: middle, y2: middle, stroke: "var(--lp-line)" }),
    h("path", { fill: colour, d: barsPath(heights, { middle, reach, step }) }),
  );
}

/**
 * The band behind the pair that is pointed at.
 * @param {{ page: ComparePage, pairs: number[], step: number, height: number }} properties
 */
function PointedPairBand({ page, pairs, step, height }) {
  page.observe("pointed");
  const at = pairs.indexOf(page.pointed.pairs.at(-1) ?? -1);
  if (at < 0) return null;
  return h("rect", { x: step * at, y: 0, width: Math.max(step, 2), height, fill: "var(--lp-pointed)" });
}

/**
 * What each loss does to the pair that is pointed at.
 * @param {{ page: ComparePage, plain: (Float32Array | null)[] }} properties
 */
function PointedPairFacts({ page, plain }) {
  page.observe("pointed");
  const pair = page.pointed.pairs.at(-1);
  const { batch } = page;
  if (pair === undefined || !batch) return h("p.lp-atom", { "aria-live": "polite" }, say("ui.gradient_sign"));
  const gradients = plain.flatMap((one, place) => (one ? [`${letterOf(place)} ${show(one[pair], 3)}`] : []));
  const label = batch.labelled ? say("compare.labelled", { label: show(batch.labels[pair]) }) : "";
  const facts = [say("compare.pair", { pair: page.numberOf(pair) }), label, gradients.join(", ")];
  return h(
    "p.lp-atom",
    { "aria-live": "polite" },
    facts.filter(Boolean).join(" · "),
    " · ",
    h("span", { "data-batch-text": "" }, quotedPair(h, batch, pair, 60)),
  );
}

/**
 * The present width of an element in pixels, 0 before it is laid out.
 * @param {import("preact").RefObject<HTMLDivElement | null>} box
 */
function useWidth(box) {
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const observer = new ResizeObserver(([{ contentRect }]) => setWidth(contentRect.width));
    if (box.current) observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  return width;
}

/**
 * @param {SVGElement | null} drawn
 * @param {number} count of strips
 * @param {string} note
 * @returns {import("./downloads.js").Figure | null}
 */
function figureOf(drawn, count, note) {
  if (!drawn) return null;
  const panel = panelOf({ drawn, wide: Number(drawn.dataset.width), tall: count * stripHeight(count) });
  return { panels: [panel], title: say("compare.gradients"), note };
}

/** @type {(page: ComparePage, plain: (Float32Array | null)[], pairs: number[]) => import("./downloads.js").Rows} */
function csvOf(page, plain, pairs) {
  const { batch } = page;
  const letters = plain.map((_one, place) => letterOf(place));
  return [
    ["pair", "sentence1", "sentence2", "label", ...letters],
    ...pairs.map((pair) => [
      Number(page.numberOf(pair)),
      batch?.first[pair] ?? "",
      batch?.second[pair] ?? "",
      batch?.labels[pair] ?? "",
      ...plain.map((one) => (one ? one[pair] : "")),
    ]),
  ];
}

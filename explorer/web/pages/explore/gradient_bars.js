// The gradient of every pair as bars, and the pairs that feel most in words.
import { floats } from "../../kit/base64_arrays.js";
import { batchText } from "../../kit/batch_text_with_picture.js";
import { themeColour } from "../../kit/colours.js";
import { contextOf, h, roomOf, setText, walkable, worded } from "../../kit/dom.js";
import { show } from "../../kit/number_format.js";
import { say } from "../../kit/translated_sentences.js";

/** @typedef {import("./state.js").ExplorePage} ExplorePage */
/** @typedef {"projected" | "score"} Kind of gradient: of the vectors, or of the pair's similarity alone */

const KINDS = /** @type {Kind[]} */ (["projected", "score"]);
const MAX_LISTED_PAIRS = 10;
const CHART_HEIGHT_PX = 120; // of the chart, in pixels

/**
 * The kinds of gradient as tabs.
 * @param {(kind: Kind) => void} choose
 */
function kindTabs(choose) {
  const tabs = KINDS.map((kind) =>
    worded("button.lp-tab", `ui.gradient_shown.${kind}`, {
      role: "tab",
      id: `lp-bars-${kind}`,
      onclick: () => choose(kind),
    }),
  );
  return {
    element: h("div.lp-tabs", { role: "tablist", "aria-label": say("ui.gradient_shown") }, tabs),
    /** @param {Kind} chosen */
    set(chosen) {
      for (const [i, kind] of KINDS.entries()) tabs[i].setAttribute("aria-selected", String(kind === chosen));
    },
  };
}

class GradientBars {
  /** @param {ExplorePage} page */
  constructor(page) {
    this.page = page;
    this.canvas = h("canvas.lp-bar-chart", { role: "img", tabIndex: 0 });
    this.spoken = h("div.lp-spoken", { "aria-live": "polite" });
    this.title = h("h2");
    this.note = h("p.lp-note");
    // Where a projection is not all there is, either can be drawn.
    this.tabs = kindTabs((kind) => {
      this.chosen = kind;
      this.take();
    });
    this.lines = Array.from({ length: MAX_LISTED_PAIRS }, (_, place) => pairLine(page, place === 0));
    this.list = h(
      "ol.lp-list",
      this.lines.map(({ line }) => line),
    );
    walkable(this.list);
    /** @type {Kind} */
    this.chosen = "projected";
    this.gradient = new Float32Array();
    /** @type {Record<Kind, Float32Array> | null} */
    this.both = null; // where the gradient of a pair is another one than that of its similarity
    /** @type {number[]} */
    this.order = [];
    this.room = roomOf(this.canvas, () => this.draw());
  }

  get elements() {
    return [this.title, this.tabs.element, this.note, this.canvas, this.spoken, this.list];
  }

  take() {
    const { picture, batch } = this.page;
    if (!picture || !batch) return;
    const { gradient, score_gradient: byScore } = picture.pairs;
    this.both = byScore === null ? null : { projected: floats(gradient), score: floats(byScore) };
    const shown = this.both ? this.chosen : "projected";
    this.tabs.element.hidden = !this.both;
    this.tabs.set(shown);
    this.gradient = this.both ? this.both[shown].map((value) => value || 0) : floats(gradient);
    const kind = picture.figures.projected ? shown : "score";
    setText(this.title, say(`ui.gradient_per_pair.${kind}`));
    setText(this.note, `${say(`ui.gradient_note.${kind}`)} ${say("ui.gradient_sign")}`);
    this.order = this.displayOrder(picture.shown.column_axis);
    this.draw();
    this.listPairs(batch);
  }

  /**
   * Bars stand in the order of the matrix's columns, or in entry order where those are no pairs.
   * @param {import("../../wire").Axis} axis
   */
  displayOrder({ pairs }) {
    const isWhole = pairs.length === this.gradient.length && new Set(pairs).size === pairs.length;
    return isWhole && !pairs.includes(-1) ? pairs : Array.from(this.gradient.keys());
  }

  /** @param {import("../../wire").ExploredBatch} batch */
  listPairs(batch) {
    const { first, second } = batch;
    const { gradient } = this;
    const ranked = Array.from(gradient.keys())
      .sort((a, b) => Math.abs(gradient[b]) - Math.abs(gradient[a]))
      .slice(0, MAX_LISTED_PAIRS);
    const most = Math.abs(gradient[ranked[0]]) || 1;
    this.lines.forEach(({ line, bar, value, texts }, place) => {
      const pair = ranked[place];
      line.hidden = pair === undefined || !gradient[pair];
      if (line.hidden) return;
      bar.style.width = `${(50 * Math.abs(gradient[pair])) / most}%`;
      bar.className = gradient[pair] > 0 ? "lp-up" : "lp-down";
      setText(value, show(gradient[pair], 3));
      value.title = this.gradientsOf(pair);
      if (line.pair === pair) return;
      line.pair = pair;
      line.title = `${first[pair]}\n${second[pair]}`;
      [first, second].forEach((side, at) => {
        texts[at].replaceChildren(...batchText(h, { text: side[pair], of: batch }, 70));
      });
    });
  }

  /** @type {(pair: number) => string} Both gradients of a pair in words, where there are two. */
  gradientsOf(pair) {
    if (!this.both) return "";
    const byScore = this.both.score[pair];
    const own = Number.isNaN(byScore)
      ? say("ui.gradient_by_score_none")
      : say("ui.gradient_by_score", { value: show(byScore, 3) });
    return `${say("ui.gradient_projected", { value: show(this.both.projected[pair], 3) })} · ${own}`;
  }

  draw() {
    const { gradient, order } = this;
    const wide = this.room.width;
    const context = this.#cleared(wide);
    const [up, down, line, lit] = ["up", "down", "line", "pointed"].map(themeColour);
    const width = wide / Math.max(order.length, 1);
    context.fillStyle = line;
    context.fillRect(0, CHART_HEIGHT_PX / 2 - 0.5, wide, 1);
    let most = 0;
    for (const value of gradient) most = Math.max(most, Math.abs(value));
    const pointed = new Set(this.page.pointed.pairs);
    order.forEach((pair, place) => {
      const size = most ? (gradient[pair] / most) * (CHART_HEIGHT_PX / 2 - 6) : 0;
      if (pointed.has(pair)) {
        context.fillStyle = lit;
        context.fillRect(place * width, 0, Math.max(width, 2), CHART_HEIGHT_PX);
      }
      context.fillStyle = size > 0 ? up : down;
      const top = CHART_HEIGHT_PX / 2 - Math.max(size, 0);
      context.fillRect(place * width + width * 0.12, top, Math.max(width * 0.76, 0.6), Math.abs(size));
    });
    this.canvas.setAttribute("aria-label", say("ui.bars_label", { count: order.length, most: show(most, 3) }));
  }

  /** @param {number} wide */
  #cleared(wide) {
    const ratio = (window.devicePixelRatio || 1) * this.room.magnified;
    const [width, height] = [wide, CHART_HEIGHT_PX].map((side) => Math.round(side * ratio));
    if (this.canvas.width !== width || this.canvas.height !== height) Object.assign(this.canvas, { width, height });
    const context = contextOf(this.canvas);
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, width, height);
    context.scale(ratio, ratio);
    return context;
  }

  light() {
    const { pairs } = this.page.pointed;
    for (const { line } of this.lines)
      line.classList.toggle("lp-lit", line.pair !== undefined && pairs.includes(line.pair));
    this.draw();
  }

  /** @param {MouseEvent} event */
  pointAt({ clientX }) {
    const box = this.canvas.getBoundingClientRect();
    const place = Math.floor(((clientX - box.left) / box.width) * this.order.length);
    if (!(place in this.order)) return;
    this.page.point([this.order[place]]);
    this.canvas.title = this.gradientsOf(this.order[place]);
  }

  /** @type {(event: KeyboardEvent) => void} The left and right keys walk the bars. */
  walk(event) {
    const by = Number(event.key === "ArrowRight") - Number(event.key === "ArrowLeft");
    const { order, page } = this;
    if (!by || !order.length) return;
    event.preventDefault();
    const from = order.indexOf(page.pointed.pairs[0]);
    const pair = order[Math.max(0, Math.min(order.length - 1, from + by))];
    page.point([pair]);
    const value = this.gradientsOf(pair) || show(this.gradient[pair]);
    this.spoken.textContent = say("ui.bar_says", { pair: page.numberOf(pair), value });
  }
}

/**
 * A line of the list: a bar, the gradient, and the two sentences.
 * @param {ExplorePage} page
 * @param {boolean} isFirst the one that the tab key comes to
 */
function pairLine(page, isFirst) {
  const bar = h("i");
  const value = h("span.lp-value");
  const texts = [h("span"), h("span")];
  const line = h(
    "li.lp-felt",
    { hidden: true, tabIndex: isFirst ? 0 : -1 },
    h("div.lp-bar-box", bar),
    value,
    h("div.lp-two", texts),
  );
  const point = () => page.point(line.pair === undefined ? [] : [line.pair]);
  for (const event of ["mouseenter", "focus"]) line.addEventListener(event, point);
  for (const event of ["mouseleave", "blur"]) line.addEventListener(event, () => page.point());
  return { line, bar, value, texts };
}

/** @type {(root: HTMLElement, page: ExplorePage) => void} */
export default function bars(root, page) {
  const chart = new GradientBars(page);
  root.append(...chart.elements);
  chart.canvas.addEventListener("mousemove", (event) => chart.pointAt(event));
  chart.canvas.addEventListener("keydown", (event) => chart.walk(event));
  for (const event of ["mouseleave", "blur"]) chart.canvas.addEventListener(event, () => page.point());
  page.on("batch", () => {
    for (const { line } of chart.lines) line.pair = undefined;
  });
  page.on("picture", () => chart.take());
  page.on("language", () => {
    chart.tabs.element.setAttribute("aria-label", say("ui.gradient_shown"));
    chart.take();
  });
  page.on("pointed", () => chart.light());
  page.on("theme", () => chart.draw());
}

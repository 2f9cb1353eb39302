// The derivation: the definition's own lines, each with its formula, its value and a thumbnail.
import { bytes } from "../../kit/base64_arrays.js";
import { paint } from "../../kit/cell_canvas.js";
import { find, h, setText, worded } from "../../kit/dom.js";
import { tex } from "../../kit/formula.js";
import { show } from "../../kit/number_format.js";
import { pageData } from "../../kit/page_data.js";
import { isDark } from "../../kit/theme.js";
import { has, language, say, wordOf } from "../../kit/translated_sentences.js";

/** @typedef {import("../../wire").Step} Step */
/** @typedef {import("./state.js").ExplorePage} ExplorePage */

/** @type {Record<string, number>} */
const KEY_MOVES = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1, Home: -Infinity, End: Infinity };
/** @type {Record<string, number>} */
const CLICKER_MOVES = { ArrowRight: 1, PageDown: 1, ArrowLeft: -1, PageUp: -1 }; // a presenter's clicker has these

/** @param {KeyboardEvent} event */
const hasModifier = (event) => event.altKey || event.ctrlKey || event.metaKey || event.shiftKey;

class Derivation {
  /**
   * @param {HTMLElement} root
   * @param {ExplorePage} page
   */
  constructor(root, page) {
    this.root = root;
    this.page = page;
    this.place = h("span.lp-place");
    this.list = h("ol.lp-steps", { tabIndex: 0 });
    this.shown = ""; // which lines the rows are of
    /** @type {HTMLElement | null} */
    this.current = null; // the row of the chosen step
    /** @type {StepRow[]} */
    this.rows = [];
    const walking = find(document.body, "#main-matrix .lp-walk");
    walking.append(this.#button(-1, "ui.previous_step", "◀"), this.place, this.#button(1, "ui.next_step", "▶"));
    root.append(h("div.lp-bar", worded("h2", "ui.derivation")), this.list);
  }

  /**
   * For the pointer: by keyboard the arrows walk the rows.
   * @type {(by: number, key: string, sign: string) => HTMLButtonElement}
   */
  #button(by, key, sign) {
    const walk = () => this.go(this.step + by);
    return h("button.lp-square", { tabIndex: -1, "data-title": key, onclick: walk }, sign);
  }

  // Counted from the step asked for, so that quick presses are not lost to a slow answer.
  get step() {
    return this.page.scenario.view.step ?? this.page.picture?.chosen ?? 0;
  }

  /** @param {number} to */
  go(to) {
    this.page.goTo(Math.max(0, Math.min(this.rows.length - 1, to)));
    // On a projector, walking brings derivation and matrix to the top of the screen.
    if (document.body.classList.contains("lp-presenting"))
      this.root.closest("#lp-middle")?.scrollIntoView({ block: "start" });
  }

  /**
   * @param {KeyboardEvent} event
   * @param {Record<string, number>} moves by key
   */
  walk(event, moves) {
    const by = moves[event.key];
    if (!by || !this.page.picture || hasModifier(event)) return;
    event.preventDefault();
    this.go(this.step + by);
  }

  /** The rows stay as long as the lines are the same; only numbers and pictures move. */
  draw() {
    const { picture, scenario } = this.page;
    if (!picture) return;
    const { steps, chosen, inputs } = picture;
    const lines = steps.map((step) => `${step.name}:${step.line}`).join();
    const key = [language(), scenario.loss, scenario.convention, lines].join("|");
    if (key !== this.shown) {
      this.shown = key;
      this.rows = steps.map((step, index) => stepRow(this.page, step, { index, inputs, go: (to) => this.go(to) }));
      this.list.replaceChildren(...this.rows.map(({ row }) => row));
    }
    steps.forEach((step, index) => {
      const { thumbnail, value } = this.rows[index];
      const isDrawn = step.thumbnail && step.thumbnail.rows * step.thumbnail.columns > 0;
      thumbnail.hidden = !isDrawn;
      if (step.thumbnail && isDrawn) drawThumbnail(this.rows[index], step.thumbnail);
      setText(value, "value" in step ? show(step.value, 6) : "");
    });
    if (this.current !== this.rows[chosen].row) this.choose(chosen);
  }

  /** @param {number} step */
  choose(step) {
    this.current?.removeAttribute("aria-current");
    this.current = this.rows[step].row;
    this.current.setAttribute("aria-current", "step");
    this.place.textContent = say("ui.step_of", { step: step + 1, all: this.rows.length });
    this.keepInSight();
  }

  /** Scroll the list to the chosen step, never the page. */
  keepInSight() {
    const { current, list } = this;
    if (!current) return;
    const above = current.offsetTop - list.offsetTop;
    if (above < list.scrollTop) list.scrollTop = above;
    const bottom = above + current.offsetHeight;
    if (bottom > list.scrollTop + list.clientHeight) list.scrollTop = bottom - list.clientHeight;
  }

  /** Ring a pair that is pointed at elsewhere in every thumbnail that has it as row or column. */
  mark() {
    const { picture, pointed } = this.page;
    const from = pointed.part && picture ? this.page.stepNamed(pointed.part.of, picture.chosen) : -1;
    const at = picture && pointed.pairs.length ? placeOf(picture, pointed.pairs[pointed.pairs.length - 1]) : null;
    this.list.classList.toggle("lp-pointing", pointed.pairs.length > 0);
    for (const [index, { row }] of this.rows.entries()) {
      row.classList.toggle("lp-lit", index === from);
      const { thumbnail = null, shape = [] } = picture?.steps[index] ?? {};
      if (at && thumbnail && shape.at(-1) === at.count)
        row.style.setProperty("--lp-mark", String((at.place + 0.5) / at.count));
      else row.style.removeProperty("--lp-mark");
    }
  }
}

/**
 * Where a pair stands in the columns of the matrix, or in its rows where the columns are no pairs; null: nowhere.
 * @type {(picture: import("../../wire").Picture, pair: number) => { place: number; count: number; } | null}
 */
function placeOf({ shown: { row_axis: rows, column_axis: columns } }, pair) {
  const { pairs } = columns.pairs.length ? columns : rows;
  const place = pairs.indexOf(pair);
  return place < 0 ? null : { place, count: pairs.length };
}

/** @typedef {{ row: HTMLElement, thumbnail: HTMLCanvasElement, drawn: string, value: HTMLElement }} StepRow */

/**
 * @param {ExplorePage} page
 * @param {Step} step
 * @param {{ index: number, inputs: number, go: (step: number) => void }} options `inputs`: how many steps are inputs
 * @returns {StepRow}
 */
function stepRow(page, step, { index, inputs, go }) {
  const thumbnail = h("canvas.lp-thumb", { width: 1, height: 1 });
  const value = h("span.lp-value");
  const formula = h("div.lp-formula");
  if (step.latex) tex(formula, step.latex);
  else formula.append(h("code", step.name));
  const { label, loss, name } = step.of ?? { label: "", loss: page.scenario.loss, name: null };
  const own = label ? step.name.slice(label.length + 1) : step.name;
  const isInput = index < inputs;
  const link = (/** @type {string} */ word) => stepLink(page, word, { index, label, go });
  const line = h(
    "code.lp-line",
    { title: step.source || step.name },
    isInput || !step.source ? own.replace(/_/g, " ") : linkedCode(step.source, link),
  );
  const group = pageData.losses[loss]?.group ?? page.spec.group;
  const key = [loss, group, "any"].map((owner) => `step.${owner}.${own}`).find(has);
  const about = key ? worded("p.lp-why", key) : null;
  const row = h(
    isInput ? "li.lp-step.lp-input" : "li.lp-step",
    { onclick: () => go(index) },
    h("div.lp-thumb-box", h("div.lp-thumb-wrap", thumbnail), value),
    h("div.lp-words", name ? h("small.lp-part-name", wordOf(name)) : null, formula, line, about),
  );
  return { row, thumbnail, drawn: "", value };
}

/**
 * A line of code, broken at its blanks only; `link` makes of a name what stands for it.
 * @type {(source: string, link: (word: string) => HTMLElement | string) => (string | HTMLSpanElement)[]}
 */
function linkedCode(source, link) {
  const [target, ...rest] = source.split(" ");
  const names = (/** @type {string} */ code) =>
    code
      .split(/(?<![\w.])([A-Za-z_]\w*)/)
      .filter(Boolean)
      .map(link);
  return [target, ...rest.flatMap((part) => [" ", h("span.lp-unbroken", ...names(part))])];
}

/**
 * A name that leads to the earlier step that it is of; other words stay words.
 * @param {ExplorePage} page
 * @param {string} word
 * @param {{ index: number, label: string, go: (step: number) => void }} options `label`: the part the line stands in
 */
function stepLink(page, word, { index, label, go }) {
  const within = label ? page.stepNamed(`${label}_${word}`, index) : -1;
  const step = within < 0 ? page.stepNamed(word, index) : within;
  if (step < 0) return word;
  return h(
    "button.lp-ref",
    {
      tabIndex: -1,
      onclick: (/** @type {Event} */ event) => {
        event.stopPropagation();
        go(step);
      },
      onmouseenter: () => page.point([], null, { of: word, at: "step" }),
      onmouseleave: () => page.point(),
    },
    word,
  );
}

/**
 * What a slider does not move, scores and masks, is drawn once.
 * @type {(part: StepRow, thumb: import("../../wire").Thumbnail) => void}
 */
function drawThumbnail(part, thumb) {
  const { rows, columns } = thumb;
  const ramp = thumb.boolean ? "mask" : thumb.signed ? "diverging" : "sequential";
  const key = [isDark(), rows, columns, ramp, thumb.data].join();
  if (key === part.drawn) return;
  part.drawn = key;
  part.thumbnail.classList.toggle("lp-strip", rows === 1);
  const values = Float32Array.from(bytes(thumb.data), (byte) =>
    byte === 255 ? -Infinity : byte === 254 ? Number.NaN : byte,
  );
  paint(part.thumbnail, { rows, columns, values, least: 0, largest: 253, ramp });
}

/** @type {(root: HTMLElement, page: ExplorePage) => void} */
export default function derivation(root, page) {
  const steps = new Derivation(root, page);
  root.addEventListener("keydown", (event) => steps.walk(event, KEY_MOVES));
  // On a projector the keys walk from anywhere, those of a presenter's clicker too, unless they
  // mean something where the focus is.
  window.addEventListener("keydown", (event) => {
    const { classList } = document.body;
    if (!classList.contains("lp-presenting") || classList.contains("lp-drawer")) return;
    if (event.defaultPrevented || /** @type {Element} */ (event.target).matches("input, select, textarea")) return;
    steps.walk(event, CLICKER_MOVES);
  });
  // Presenting makes the rows larger and the list no longer.
  new ResizeObserver(() => steps.keepInSight()).observe(steps.list);
  for (const topic of ["picture", "theme", "language"]) page.on(topic, () => steps.draw());
  page.on("pointed", () => steps.mark());
}

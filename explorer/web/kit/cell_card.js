// What a cell of a step says: both its sides in words, the formula with its numbers, what it weighs.
import { floats } from "./base64_arrays.js";
import { batchText } from "./batch_text_with_picture.js";
import { h, walkableLine } from "./dom.js";
import { falseNegative } from "./false_negative.js";
import { tex } from "./formula.js";
import { bare, percent, show, texNumber } from "./number_format.js";
import { pageData } from "./page_data.js";
import { language, say } from "./translated_sentences.js";

/** @typedef {import("../wire").Axis} Axis */
/** @typedef {import("../wire").Shown} Shown */
/** @typedef {import("./false_negative.js").Batch & Pick<import("../wire").ExploredBatch, "key" | "labels" | "pictures">} Batch */
/** @typedef {(pair: number) => number | string} Numbering what a pair is called */

/**
 * Pairs that are marked, by a sign before what they are called.
 * @typedef {{ pairs: number[], sign: string }} Marked
 */

/**
 * A step as it is drawn, its arrays unpacked.
 * @typedef {{ shown: Shown, marked?: Marked, live: ReturnType<typeof import("./live_formula.js").liveFormula>, numberOf: Numbering,
 *   arrays: { value: Float32Array, gradient: Float32Array | null, weight: Float32Array | null,
 *     mask: Uint8Array | null, score: Float32Array },
 *   picture: import("../wire").Looked, batch: Batch | null }} DrawnStep
 */

/** @typedef {["point", number[], import("./types").PointedPart | null] | ["lead", string]} Emitted */

/** @type {Record<string, [string, string]>} */
const LETTERS = { pair: ["j", "i"], query: ["i", "i"], key: ["j", "j"] };
/**
 * What a row or column is called: by its pair where it has one of its own.
 * @type {(numberOf: Numbering, axis: string, item: number, pair: number) => string | number}
 */
export const nameOf = (numberOf, axis, item, pair) =>
  pageData.by_pair.includes(axis) && pair >= 0 ? numberOf(pair) : item + 1;
/** @type {(step: Pick<DrawnStep, "numberOf">, axis: Axis, place: number) => string | number} */
const nameAt = ({ numberOf }, axis, place) =>
  nameOf(numberOf, axis.name, axis.items[place] ?? place, axis.pairs[place] ?? -1);

/** @type {(step: Pick<DrawnStep, "marked">, axis: Axis, place: number) => boolean} */
export const isMarkedAt = ({ marked }, { pairs }, place) => Boolean(marked?.pairs.includes(pairs[place]));
/** @type {(step: Pick<DrawnStep, "numberOf" | "marked">, axis: Axis, place: number) => string | number} */
export const signedName = (step, axis, place) =>
  isMarkedAt(step, axis, place) ? `${step.marked?.sign}${nameAt(step, axis, place)}` : nameAt(step, axis, place);

/** @type {(shown: Shown, row: number, column: number) => number[]} */
export function pairsAt(shown, row, column) {
  const found = [shown.row_axis.pairs[row], shown.column_axis.pairs[column]];
  return [...new Set(found.filter((pair) => pair >= 0))];
}

/**
 * A card that tells of a cell: both its sides, its formula in numbers, its weight and gradient. `emit` hears
 * ("point", pairs, part) where a number of the formula is pointed at, and ("lead", of) where it is entered: the
 * name of the step or parameter that it came from.
 */
export class CellCard {
  /** @param {(...event: Emitted) => void} emit */
  constructor(emit) {
    this.emit = emit;
    this.element = h("div.lp-card");
    this.shown = "";
    /** @type {DrawnStep | null} */
    this.step = null;
    /** @type {{ own: Float32Array, beside: Float32Array | null } | null} */
    this.gradients = null; // of the pairs of its picture
  }

  /**
   * `at`: the cell's place, or null; `mark`: whether it is the "pinned" one or the "heaviest".
   * @type {(step: DrawnStep, at: [number, number] | null, mark: "pinned" | "heaviest" | "") => void}
   */
  showCell(step, at, mark) {
    const key = JSON.stringify([at, mark, language()]);
    if (key === this.shown && (this.step === step || !at)) return;
    if (this.step?.picture !== step.picture) this.gradients = null;
    [this.shown, this.step] = [key, step];
    if (!at) {
      this.element.replaceChildren(h("p.lp-hint", say("ui.hover_hint")));
      return;
    }
    const [row, column] = at;
    const { row_axis: rows, column_axis: columns } = step.shown;
    const formula = formulaOf(step, row, column);
    this.wire(step, formula, row, column);
    this.element.replaceChildren(
      h("div.lp-sides", this.#side(step, rows, row, true), this.#side(step, columns, column, false)),
      formula,
      h("div.lp-facts", factsOf(step, row, column), mark ? h("span.lp-pinned", say(`ui.${mark}`)) : null),
      ...(mark === "heaviest" ? [h("p.lp-hint", say("ui.hover_hint"))] : []),
    );
  }

  /**
   * The gradient of a pair by its similarity, and, where there is one, the projected one beside it.
   * @type {(step: DrawnStep, pair: number) => string[]}
   */
  #gradients({ picture }, pair) {
    const { gradient, score_gradient: beside } = picture.pairs;
    this.gradients ??= { own: floats(gradient), beside: beside === null ? null : floats(beside) };
    const own = show(this.gradients.own[pair], 3);
    const byScore = this.gradients.beside?.[pair] ?? NaN;
    if (!picture.figures.projected) return [say("ui.gradient_by_score", { value: own })];
    return [
      say("ui.gradient_projected", { value: own }),
      ...(Number.isNaN(byScore) ? [] : [say("ui.gradient_by_score", { value: show(byScore, 3) })]),
    ];
  }

  /** @type {(step: DrawnStep, axis: Axis, index: number, isRow: boolean) => HTMLDivElement | null} */
  #side(step, axis, index, isRow) {
    if (axis.items[index] === undefined || !axis.name || !step.batch) return null;
    const letter = (LETTERS[axis.name] ?? ["", ""])[isRow ? 0 : 1];
    const name = `${calledAt(step, axis, index)}${letter ? ` (${letter})` : ""}`;
    const known = isPaired(axis.name) ? labelAndScore(step, axis, index) : null;
    const facts = known ? [pairFacts(known), ...this.#gradients(step, axis.pairs[index])].join(" · ") : "";
    return h(
      `div.lp-side.lp-of-${isRow ? "row" : "column"}`,
      { "data-batch-text": "" },
      h("b", name),
      textsAt(step, axis, index).map((line) =>
        h("p", { title: line }, batchText(h, { text: line, of: step.batch }, 110)),
      ),
      facts ? h("small", facts) : null,
    );
  }

  /**
   * A number in the formula lights up what it came from, and leads there.
   * @type {(step: DrawnStep, formula: HTMLElement, row: number, column: number) => void}
   */
  wire(step, formula, row, column) {
    const { shown } = step;
    /** @type {Record<string, Axis>} */
    const axes = { row: shown.row_axis, column: shown.column_axis };
    /** @type {NodeListOf<HTMLElement>} */
    const parts = formula.querySelectorAll("[data-at]");
    walkableLine(Array.from(parts));
    for (const part of parts) {
      const { of = "", at = "", pair: own = "-1", more } = part.dataset;
      const axis = axes[at];
      const place = at === "row" ? row : column;
      const pair = Number(own) >= 0 ? Number(own) : (axis?.pairs[place] ?? -1);
      const pairs = at === "cell" ? pairsAt(shown, row, column) : pair >= 0 ? [pair] : [];
      const name = axis?.name ? calledAt(step, axis, place) : "";
      const whose = Number(own) >= 0 ? `${say("axis.one.pair")} ${step.numberOf(pair)}` : name;
      part.title = more ? say("ui.live_rest", { count: more }) : [of, whose].filter(Boolean).join(" · ");
      part.setAttribute("role", "button");
      part.setAttribute("aria-label", `${part.title}: ${part.textContent}`);
      const reach = () => this.emit("point", pairs, { of, at });
      const leave = () => this.emit("point", [], null);
      const lead = () => this.emit("lead", of);
      const acts = { mouseenter: reach, focus: reach, mouseleave: leave, blur: leave, click: lead };
      for (const [event, act] of Object.entries(acts)) part.addEventListener(event, act);
      part.addEventListener("keydown", (event) => {
        if (event.key === "Enter") lead();
      });
    }
    // Its parts can have the focus, so it is this form of the formula that is read aloud.
    formula.querySelector(".katex-html")?.removeAttribute("aria-hidden");
    formula.querySelector(".katex-mathml")?.setAttribute("aria-hidden", "true");
  }
}

/** @type {(step: DrawnStep, row: number, column: number) => HTMLDivElement} */
function formulaOf(step, row, column) {
  const { shown, arrays } = step;
  const index = row * shown.columns + column;
  const formula = h("div.lp-live");
  const live = shown.live && substituted(step, row, column);
  if (shown.boolean) {
    if (live) tex(formula, `${live}\\,?`);
    return formula;
  }
  // What takes no part has a number in the formula, and no part of it in the cell.
  const becomes = isAbsent(step, index) ? "\\;\\to\\;" : " = ";
  tex(formula, (live ? live + becomes : "") + bare(texNumber(arrays.value[index])));
  return formula;
}

/** @type {(step: DrawnStep, row: number, column: number) => HTMLElement[]} */
function factsOf({ shown, arrays, batch }, row, column) {
  const index = row * shown.columns + column;
  const absent = isAbsent({ arrays }, index);
  const facts = [];
  const falsely = batch && falseNegative(batch, shown, row, column);
  if (falsely)
    facts.push(h("strong", say(`ui.false_negative.${falsely}`, { axis: say(`axis.one.${shown.row_axis.name}`) })));
  if (shown.boolean) {
    const takes = arrays.value[index];
    const sentence = say(takes ? "ui.takes_part" : "ui.takes_no_part");
    facts.push(h(takes ? "span" : "span.lp-absent", sentence));
  } else if (absent) facts.push(h("span.lp-absent", say("ui.takes_no_part")));
  if (arrays.weight && !absent) facts.push(h("span", say("ui.weight_is", { share: percent(arrays.weight[index]) })));
  if (arrays.gradient) {
    const value = show(arrays.gradient[index]);
    facts.push(h("span", say("ui.gradient_is", { step: shown.name, value })));
  }
  if (arrays.gradient && shown.beside && !absent) facts.push(h("span", say("ui.gradient_beside")));
  return facts;
}

/** @param {string} axis */
const isPaired = (axis) => pageData.paired.includes(axis);

/**
 * What a row or column is called, with its kind: "pair 7".
 * @type {(step: DrawnStep, axis: Axis, place: number) => string}
 */
const calledAt = (step, axis, place) => `${say(`axis.one.${axis.name}`)} ${signedName(step, axis, place)}`;

/**
 * The texts behind a row or column: both of a pair, one of a sentence, none of a candidate that is another one in
 * every row.
 * @type {(step: Pick<DrawnStep, "batch">, axis: Axis, place: number) => string[]}
 */
export function textsAt({ batch }, { name, pairs, sentences }, place) {
  const [pair, sentence] = [pairs[place] ?? -1, sentences[place] ?? -1];
  if (batch && isPaired(name) && pair >= 0) return [batch.first[pair], batch.second[pair]];
  return batch && sentence >= 0 ? [batch.sentences[sentence]] : [];
}

/**
 * Label and similarity of the pair that a row or column is, or that a query belongs to; null where there is none.
 * @type {(step: Pick<DrawnStep, "batch" | "arrays">, axis: Axis, place: number) => [number, number] | null}
 */
export function labelAndScore({ batch, arrays }, { name, pairs }, place) {
  const pair = pairs[place] ?? -1;
  if (!batch || pair < 0 || !(name === "query" || isPaired(name))) return null;
  return [batch.labels[pair], arrays.score[pair]];
}

/** @param {[number, number]} known label and similarity */
const pairFacts = ([label, score]) => say("ui.pair_facts", { label: show(label), score: show(score) });

/**
 * A cell in words, for a screen reader: both its sides with their texts, labels and scores, its value and weight.
 * @type {(step: DrawnStep, row: number, column: number) => string}
 */
export function cellWords(step, row, column) {
  const { shown, arrays } = step;
  const index = row * shown.columns + column;
  /** @type {(axis: Axis, place: number) => string[]} */
  const side = (axis, place) => {
    if (!axis.name || axis.items[place] === undefined) return [];
    const known = labelAndScore(step, axis, place);
    return [calledAt(step, axis, place), ...textsAt(step, axis, place), ...(known ? [pairFacts(known)] : [])];
  };
  const absent = isAbsent(step, index) || arrays.value[index] === -Infinity;
  const value = absent ? say("ui.takes_no_part") : show(arrays.value[index]);
  const weight = arrays.weight && !absent ? [say("ui.weight_is", { share: percent(arrays.weight[index]) })] : [];
  const texts = [...side(shown.row_axis, row), ...side(shown.column_axis, column)].join(". ");
  const place = say("ui.cell_says", { row: row + 1, column: column + 1, value: [value, ...weight].join(", ") });
  return [texts, place].filter(Boolean).join(". ");
}

/** @type {(step: Pick<DrawnStep, "arrays">, index: number) => boolean} */
const isAbsent = ({ arrays: { mask } }, index) => mask !== null && !mask[index];

/**
 * The formula of a cell with its numbers; rows and columns by their names where it compares them.
 * @type {(step: DrawnStep, row: number, column: number) => string}
 */
export const substituted = (step, row, column) =>
  step.live(row, column, {
    r: () => nameAt(step, step.shown.row_axis, row),
    c: () => nameAt(step, step.shown.column_axis, column),
  });

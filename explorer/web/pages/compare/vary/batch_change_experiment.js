// What if something about the batch were different: every loss before and after.

import { quotedPair } from "../../../kit/batch_text_with_picture.js";
import { labelOf } from "../../../kit/compared_loss_labels.js";
import { Select } from "../../../kit/components.js";
import { clip } from "../../../kit/dom.js";
import { distinctNumbers, read, show } from "../../../kit/number_format.js";
import { group, h } from "../../../kit/preact_view.js";
import { Slider } from "../../../kit/slider.js";
import { say } from "../../../kit/translated_sentences.js";
import { useRef } from "../../../kit/vendor/preact/hooks.js";
import { Downloads } from "../downloads.js";
import { ExperimentOptions } from "../folding_section.js";
import { noticedWords } from "./batch_change_summary.js";
import { Result, useExperiment } from "./experiment_request.js";
import { LossTable, RefusedCell } from "./loss_table.js";

/** @typedef {import("./experiment_request.js").Side} Side */
/** @typedef {import("../state.js").ComparePage} ComparePage */
/** @typedef {import("../../../wire").ExperimentResults} Answer */
/** @typedef {import("../../../wire").ChangedLoss} Changed */
/** @typedef {keyof import("../../../wire").ChangedFigures} Figure */
/** @typedef {{ change: string, pair: number, by: number }} Change */

const FIGURES = /** @type {Figure[]} */ (["loss", "gradient", "floor", "collapse"]);
/** @type {Record<string, { low: number, high: number, default: number }>} how far scores are shifted, or spread */
const RANGES = { shift: { low: -1, high: 1, default: 0.2 }, spread: { low: 0, high: 3, default: 0.5 } };
const HALF_WIDTH_PX = 60; // pixels of the picture of a ratio
const LARGEST_RATIO = 4; // that it shows; beyond, it ends

/** @param {{ page: ComparePage }} properties */
export function BatchChanges({ page }) {
  const options = chosenChange(page);
  /** @type {import("./experiment_request.js").Experiment<Answer>} */
  const experiment = useExperiment(page, "what_if", options);
  const { answer, sides } = experiment;
  return group(
    h(
      ExperimentOptions,
      { page, kind: "lp-vary-controls" },
      h(Select, {
        name: say("compare.vary.change"),
        inline: true,
        id: "lp-vary-change",
        value: options.change,
        options: page.store.choices("change").map((name) => [name, say(`compare.vary.change.${name}`)]),
        change: (name) => page.set({ change: name, ...(name in RANGES ? { by: RANGES[name].default } : {}) }),
      }),
      options.change in RANGES ? h(Distance, { page, options }) : h(ChangedPair, { page, options }),
    ),
    h(Result, { experiment }, answer && h(ChangeResult, { page, answer, sides, options })),
  );
}

/**
 * The change that is chosen; a pair of a larger batch than this one is its last.
 * @type {(page: ComparePage) => Change}
 */
function chosenChange({ store, batch }) {
  const { change, pair, by } = store.state;
  const last = (batch?.labels.length ?? 1) - 1;
  if (change in RANGES) return { change, pair: Math.min(pair, last), by };
  const answered = change === "false_negative" ? Math.max(0, Math.min(Math.trunc(by), last)) : 0;
  return { change, pair: Math.min(pair, last), by: answered };
}

// ---- What is changed ---------------------------------------------------------------------------

/** @param {{ page: ComparePage, options: Change }} properties */
const Distance = ({ page, options: { change, by } }) =>
  h(Slider, {
    key: change,
    entry: { ...page.store.entry("by"), ...RANGES[change] },
    value: by,
    title: `compare.vary.by.${change}`,
    name: `vary-${change}`,
    change: (value) => page.set({ by: value }),
  });

/**
 * The pair that is changed; one that was pointed at in a picture is a click away.
 * @param {{ page: ComparePage, options: Change }} properties
 */
function ChangedPair({ page, options: { change, pair, by } }) {
  page.observe("pointed");
  const last = useRef(-1);
  const { batch, pointed } = page;
  last.current = pointed.pairs.at(-1) ?? last.current;
  if (!batch) return null;
  const count = batch.labels.length;
  const pairs = batch.labels.map((_label, one) => [String(one), pairName(page, one)]);
  const isKnown = last.current >= 0 && last.current < count;
  const label = batch.labelled ? say("compare.labelled", { label: show(batch.labels[pair]) }) : "";
  return group(
    h(Select, {
      name: say("compare.vary.pair"),
      inline: true,
      id: "lp-vary-pair",
      value: String(pair),
      options: pairs,
      change: (one) => page.set({ pair: Number(one) }),
    }),
    change === "false_negative"
      ? h(Select, {
          name: say("compare.vary.asks"),
          inline: true,
          id: "lp-vary-asks",
          value: String(by),
          options: pairs,
          change: (one) => page.set({ by: Number(one) }),
        })
      : null,
    isKnown && last.current !== pair
      ? h(
          "button.lp-button",
          { onClick: () => page.set({ pair: last.current }) },
          say("compare.vary.pointed", { pair: page.numberOf(last.current) }),
        )
      : null,
    isKnown ? null : h("span.lp-note", say("compare.vary.pointed_hint")),
    h("p.lp-note.lp-vary-sentences", { "data-batch-text": "" }, quotedPair(h, batch, pair, 80), label && ` · ${label}`),
  );
}

/** @type {(page: ComparePage, pair: number) => string} */
const pairName = (page, pair) => `${page.numberOf(pair)} · ${clip(page.batch?.first[pair] ?? "", 34)}`;

// ---- The results -------------------------------------------------------------------------------

/** @param {{ page: ComparePage, answer: Answer, sides: Side[], options: Change }} properties */
function ChangeResult({ page, answer, sides, options }) {
  const all = answer.sides.map(({ found }) => /** @type {Changed | null} */ (found));
  const gradient = options.change in RANGES ? "compare.vary.gradient_by_scores" : "figure.gradient";
  const heads = ["figure.loss", "compare.vary.ratio", gradient, "figure.floor", "figure.collapse"];
  const noticed = noticedWords(all.map((one) => (one?.after ? one.notices : null)));
  return group(
    page.answering ? null : h("p.lp-vary-summary", { role: "status" }, noticed),
    h(LossTable, {
      label: say("compare.vary.what_if"),
      heads: [...heads, "compare.vary.notices"].map((key) => say(key)),
      sides,
      cells: (place) => {
        const one = all[place];
        if (one?.after) return h(Cells, { before: one.before, after: one.after, changed: one });
        const problem = one ? one.refused : answer.sides[place].problem;
        return h(RefusedCell, { problem, columns: heads.length + 1 });
      },
    }),
    h(Downloads, { page, name: "what-if", csv: () => csvOf(page, all, sides, options) }),
  );
}

/**
 * @param {{ before: import("../../../wire").ChangedFigures, after: import("../../../wire").ChangedFigures,
 *   changed: Changed }} properties
 */
function Cells({ before, after, changed: { ratio, notices } }) {
  const [loss, ...others] = FIGURES.map((name) => h(BeforeAfter, { key: name, from: before[name], to: after[name] }));
  return group(
    loss,
    h("td", ratio === null ? say("compare.vary.unknown") : h(Ratio, { ratio: Number(ratio) })),
    others,
    h(notices ? "td" : "td.lp-faint", `${notices ? "●" : "○"} ${say(notices ? "ui.yes" : "ui.no")}`),
  );
}

/**
 * A ratio with its picture: a bar from 1, to the right where the loss grew, on a logarithmic scale.
 * @param {{ ratio: number }} properties
 */
function Ratio({ ratio }) {
  const share = Math.log(ratio) / Math.log(LARGEST_RATIO);
  const length = Number.isFinite(share) ? HALF_WIDTH_PX * Math.max(-1, Math.min(1, share)) : 0;
  const bar = { x: HALF_WIDTH_PX + Math.min(length, 0), y: 3, width: Math.max(Math.abs(length), 1), height: 10 };
  return group(
    `× ${show(ratio, Math.abs(ratio - 1) < 0.01 ? 6 : 3)}`,
    h(
      "svg.lp-ratio",
      { viewBox: `0 0 ${2 * HALF_WIDTH_PX} 16`, width: 2 * HALF_WIDTH_PX, height: 16, "aria-hidden": "true" },
      h("line", { x1: HALF_WIDTH_PX, x2: HALF_WIDTH_PX, y1: 0, y2: 16, stroke: "var(--lp-faint)" }),
      h("rect", { ...bar, fill: "var(--lp-accent)" }),
    ),
  );
}

/**
 * A figure before and after, with as many digits as tell them apart.
 * @param {{ from: import("../../../wire").Real | null, to: import("../../../wire").Real | null }} properties
 */
function BeforeAfter({ from, to }) {
  if (from === null && to === null) return h("td", "—");
  const [first, second] = bothWords(from, to);
  return first === second ? h("td", first) : h("td", `${first} → `, h("b", second));
}

/**
 * Return both numbers in words that differ, or the same twice where they differ by rounding alone.
 * @type {(from: import("../../../wire").Real | null, to: import("../../../wire").Real | null) => string[]}
 */
function bothWords(from, to) {
  const [first, second] = [read(from), read(to)];
  const isSame = Math.abs(Number(first) - Number(second)) <= 1e-9 * Math.abs(Number(first));
  if (first === null || second === null || isSame || show(first) !== show(second))
    return [show(from), show(isSame ? from : to)];
  return distinctNumbers([first, second]);
}

/**
 * @param {ComparePage} page
 * @param {(Changed | null)[]} all
 * @param {Side[]} sides
 * @param {Change} options
 * @returns {import("../downloads.js").Rows}
 */
function csvOf(page, all, sides, { change, pair, by }) {
  const number = change in RANGES ? "" : Number(page.numberOf(pair));
  return [
    ["loss", "change", "pair", "by", ...FIGURES.flatMap((name) => [`${name}_before`, `${name}_after`]), "notices"],
    ...all.flatMap((one, place) => {
      if (!one) return [];
      const figures = FIGURES.flatMap((name) => [one.before[name] ?? "", one.after?.[name] ?? ""]);
      return [[labelOf(sides, place), change, number, by, ...figures, String(one.notices)]];
    }),
  ];
}

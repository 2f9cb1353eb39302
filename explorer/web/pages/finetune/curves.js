// The curves of the runs that are shown: a colour for each plan, a dash for each quantity.
import { lineChart } from "../../kit/line_chart.js";
import { hosted } from "../../kit/preact_view.js";
import { language, say } from "../../kit/translated_sentences.js";

/** @typedef {import("./run_log_data.js").Trace} Trace */
/** @typedef {{ x: number[], y: number[] }} Points */
/** @typedef {{ what: string, of: (trace: Trace) => Points, dash?: number, faint?: boolean, quiet?: boolean }} Line */

/** @type {(list: "loss" | "smooth" | "norm" | "rate") => (trace: Trace) => Points} */
const ofSteps = (list) => (trace) => ({ x: trace.steps, y: trace[list] });

/** @type {(figure: keyof import("../../wire").Measured) => (trace: Trace) => Points} */
const ofEvaluations = (figure) => (trace) => {
  const known = trace.evaluations.filter((one) => one[figure] !== null && one[figure] !== undefined);
  return { x: known.map((one) => one.step), y: known.map((one) => Number(one[figure])) };
};

/** @type {(figure: "ndcg_at_10" | "mrr_at_10") => (trace: Trace) => Points} */
const ofLists = (figure) => (trace) => {
  const known = trace.evaluations.filter((one) => typeof one.lists?.[figure] === "number");
  return { x: known.map((one) => one.step), y: known.map((one) => Number(one.lists?.[figure])) };
};

const SMALL = /** @type {const} */ (["mean_cosine", "effective_rank", "alignment", "uniformity"]);

/**
 * `held_out`: what it shows was measured on held-out pairs.
 * @typedef {{ name: string, lines: Line[], held_out?: boolean, note?: string, low?: number | null, high?: number,
 *   logarithmic?: boolean, band?: import("../../kit/types").Span }} About
 */

// The chart of the held-out pairs that is drawn large is the first of these that has anything.
const METRICS = ["ranks", "retrieval", "lists", "binary"];
/** @type {About[]} */
const CHARTS = [
  {
    name: "loss",
    lines: [
      { what: "finetune.loss_raw", of: ofSteps("loss"), faint: true, quiet: true },
      { what: "finetune.loss_smooth", of: ofSteps("smooth") },
    ],
  },
  {
    name: "ranks",
    held_out: true,
    lines: [
      { what: "finetune.spearman", of: ofEvaluations("spearman") },
      { what: "finetune.pearson", of: ofEvaluations("pearson"), dash: 1 },
    ],
  },
  {
    name: "binary",
    held_out: true,
    note: "finetune.binary_about",
    high: 1,
    lines: [
      { what: "finetune.accuracy", of: ofEvaluations("accuracy") },
      { what: "finetune.auc", of: ofEvaluations("auc"), dash: 1 },
    ],
  },
  {
    name: "retrieval",
    held_out: true,
    low: 0,
    high: 1,
    note: "finetune.retrieval_about",
    lines: [
      { what: "finetune.accuracy_at_1", of: ofEvaluations("accuracy_at_1") },
      { what: "finetune.mrr_at_10", of: ofEvaluations("mrr_at_10"), dash: 1 },
    ],
  },
  {
    name: "lists",
    held_out: true,
    low: 0,
    high: 1,
    note: "finetune.live_lists",
    lines: [
      { what: "finetune.list_ndcg_at_10", of: ofLists("ndcg_at_10") },
      { what: "finetune.list_mrr_at_10", of: ofLists("mrr_at_10"), dash: 1 },
    ],
  },
  {
    name: "gradient",
    logarithmic: true,
    lines: [{ what: "finetune.gradient_norm", of: ofSteps("norm") }],
  },
  { name: "rate", low: 0, lines: [{ what: "finetune.learning_rate", of: ofSteps("rate") }] },
  ...SMALL.map((figure) => ({
    name: figure,
    held_out: true,
    note: `finetune.${figure}.about`,
    lines: [{ what: `finetune.${figure}`, of: ofEvaluations(figure) }],
  })),
];

/**
 * At each step the mean over the runs that have come so far.
 * @param {Points[]} all
 */
function meanOf(all) {
  /** @type {Map<number, { sum: number, count: number }>} */
  const sums = new Map();
  for (const { x, y } of all) {
    x.forEach((step, i) => {
      const { sum, count } = sums.get(step) ?? { sum: 0, count: 0 };
      sums.set(step, { sum: sum + y[i], count: count + 1 });
    });
  }
  const means = [...sums].sort(([a], [b]) => a - b);
  return { x: means.map(([step]) => step), y: means.map(([, { sum, count }]) => sum / count) };
}

/**
 * The charts that have anything to show, the metric of the held-out pairs and the loss among the large ones; `key`
 * tells what they are drawn from.
 * @param {import("./state.js").FinetunePage} page
 */
export function chartsOf(page) {
  const traces = page.shown.map((name) => page.trace(name)).filter((trace) => trace?.about);
  const runs = traces.filter((trace) => trace !== undefined);
  const counts = runs.map(({ about, steps, evaluations }) => `${about?.id}:${steps.length}:${evaluations.length}`);
  const last = Math.max(...runs.map(({ steps }) => steps.at(-1) ?? 0), 1);
  const sample = sampleWords(runs);
  const groups = page.groups();
  const forms = groups.map(({ plan: { loss, convention, parameters } }) =>
    JSON.stringify([loss, convention, parameters]),
  );
  const isMixed = new Set(forms).size > 1; // values of two losses are not in one unit
  const drawn = CHARTS.flatMap((about) => {
    const series = groups.flatMap((group) => seriesOf(about.lines, group, page, runs.length));
    if (!series.some((one) => one.x.length)) return [];
    const notes = [
      about.note ? say(about.note) : "",
      about.held_out ? sample : "",
      sample && about.name === "retrieval" ? say("finetune.live_keys") : "",
      isMixed && about.name === "loss" ? say("finetune.apart") : "",
    ];
    const span = /** @type {import("../../kit/types").Span} */ ([0, last]);
    return [{ about, data: { series, span, note: notes.filter(Boolean).join(" ") } }];
  });
  const metric = METRICS.find((name) => drawn.some(({ about }) => about.name === name));
  const isLarge = (/** @type {{ about: About }} */ { about: { name } }) => name === metric || name === "loss";
  return {
    large: drawn.filter(isLarge).sort((a, b) => Number(b.about.name === metric) - Number(a.about.name === metric)),
    small: drawn.filter((one) => !isLarge(one)),
    key: JSON.stringify([counts, groups.map(({ label, colour }) => [label, colour]), language()]),
  };
}

/** @type {(runs: Trace[]) => string} Of how many of the held-out pairs the curves are, where it is not all of them. */
function sampleWords(runs) {
  for (const { held, evaluations } of runs) {
    const [count, all] = [evaluations[0]?.pairs, held.before?.pairs];
    if (count && all && count < all) return say("finetune.live", { count, all });
  }
  return "";
}

/**
 * One run has its own line; of several seeds each is faint, and their mean stands out.
 * @param {Line[]} lines
 * @param {import("./seed_groups.js").RunGroup} group
 * @param {import("./state.js").FinetunePage} page
 * @param {number} count of all runs that are shown
 * @returns {import("../../kit/line_chart.js").Series[]}
 */
function seriesOf(lines, { names, colour, label }, page, count) {
  const traces = names.map((name) => page.trace(name)).filter((trace) => trace !== undefined);
  const isOneLine = lines.filter((line) => !line.quiet).length < 2;
  return lines.flatMap(({ what, of, quiet = false, faint = false, dash }) => {
    const name = count === 1 ? say(what) : isOneLine ? label : `${label} · ${say(what)}`;
    const each = traces.map(of);
    if (count === 1) return [{ name, colour, ...each[0], quiet, faint, dash }];
    if (quiet) return [];
    if (each.length === 1) return [{ name, colour, ...each[0], dash }];
    return [
      ...each.map((one) => ({ name, colour, ...one, dash, quiet: true, faint: true })),
      { name, colour, ...meanOf(each), dash },
    ];
  });
}

/**
 * A chart, drawn again where it is drawn from something else; a step that is pointed at is read in all charts.
 * @param {{ page: import("./state.js").FinetunePage, about: About, data: import("../../kit/line_chart.js").ChartData,
 *   drawing: string, height: number }} properties
 */
export const Chart = ({ page, about, data, drawing, height }) =>
  hosted({
    kind: "figure",
    make: (root) => {
      const options = { ...about, key: `finetune.chart.${about.name}`, height };
      const chart = lineChart(root, options, (what, step) => {
        if (what === "choose") return choose(page, step);
        for (const one of page.charts.values()) one.update({ state: { at: step } });
      });
      page.addFigure(page.charts, { ...chart, element: root, name: about.name });
      return { chart, drawn: "" };
    },
    update: (one) => {
      if (one.drawn !== drawing) one.chart.update({ data });
      one.drawn = drawing;
    },
  });

/**
 * Look at the recorded step that is nearest to one.
 * @type {(page: import("./state.js").FinetunePage, step: number | null) => void}
 */
function choose(page, step) {
  const steps = page.trace()?.evaluations.map((one) => one.step) ?? [];
  if (!steps.length || step === null) return;
  page.look(steps.reduce((best, one) => (Math.abs(one - step) < Math.abs(best - step) ? one : best)));
}

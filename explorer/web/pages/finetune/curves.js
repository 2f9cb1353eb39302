// The curves of the runs that are shown: a colour for each plan, a dash for each quantity.
import { lineChart } from "../../kit/chart.js";
import { h, reword, worded } from "../../kit/dom.js";
import { say } from "../../kit/words.js";

/** @typedef {import("./traces.js").Trace} Trace */
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
 * @type {{ name: string, lines: Line[], held_out?: boolean, small?: boolean, note?: string, low?: number | null, high?: number,
 *   logarithmic?: boolean, band?: import("../../kit/types").Span }[]}
 */
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
    small: true,
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
 * @param {HTMLElement} root
 * @param {import("./state.js").FinetunePage} channel
 */
export default function curves(root, channel) {
  /** @param {number | null} step */
  function point(step) {
    for (const { chart } of charts) chart.update({ state: { at: step } });
  }
  /** @param {number | null} step */
  function choose(step) {
    const steps = channel.trace()?.evaluations.map((one) => one.step) ?? [];
    if (!steps.length || step === null) return;
    channel.look(steps.reduce((best, one) => (Math.abs(one - step) < Math.abs(best - step) ? one : best)));
  }
  const charts = CHARTS.map((about) => {
    const key = `finetune.chart.${about.name}`;
    const element = h("figure");
    const chart = lineChart(element, { ...about, key, height: about.small ? 118 : 190 }, (what, step) => {
      if (what === "point") point(step);
      else choose(step);
    });
    if (about.note) element.append(worded("figcaption.lp-note", about.note));
    return { ...about, chart, element };
  });
  // Values of two losses are not in one unit.
  const apart = worded("figcaption.lp-note", "finetune.apart", { hidden: true });
  charts[0].element.append(apart);
  channel.charts = charts.map(({ chart, element, name }) => ({ ...chart, element, name }));
  channel.publish("figures");
  const box = h(
    "section",
    { hidden: true },
    worded("h2", "finetune.curves"),
    h(
      "div.lp-charts",
      {},
      charts.filter((one) => !one.small).map((one) => one.element),
    ),
    h(
      "div.lp-charts.lp-small-charts",
      {},
      charts.filter((one) => one.small).map((one) => one.element),
    ),
  );
  root.append(box);
  reword(root);

  let drawn = "";
  function draw(force = false) {
    const shown = channel.shown.map((name) => channel.trace(name)).filter((trace) => trace !== undefined);
    const told = shown.filter(({ about }) => about);
    const key = told.map((trace) => `${trace.about?.id}:${trace.steps.length}:${trace.evaluations.length}`).join();
    box.hidden = !told.some((trace) => trace.steps.length || trace.evaluations.length);
    if (box.hidden || (key === drawn && !force)) return;
    drawn = key;
    const groups = channel.groups();
    apart.hidden =
      new Set(
        groups.map(({ plan: { loss, convention, parameters } }) => JSON.stringify([loss, convention, parameters])),
      ).size < 2;
    const last = Math.max(...told.map((trace) => trace.steps.at(-1) ?? 0), 1);
    const few = liveNote(told);
    for (const { chart, element, name, lines, held_out: measured } of charts) {
      const series = groups.flatMap(({ names, colour, label }) => {
        const traces = names.map((name) => channel.trace(name)).filter((trace) => trace !== undefined);
        return lines.flatMap((line) =>
          seriesOf(line, traces, { colour, name: nameOf(line, lines, label, told.length) }, told.length),
        );
      });
      const empty = !series.some((one) => one.x.length);
      element.hidden = empty;
      if (empty) continue;
      const fewer = few && name === "retrieval" ? `${few} ${say("finetune.live_keys")}` : few;
      chart.update({ data: { series, span: [0, last], note: measured ? fewer : "" } });
    }
    channel.publish("figures"); // there may be others than before
  }

  /**
   * How many of the held-out pairs the curves are of, where it is not all of them.
   * @param {Trace[]} told
   */
  function liveNote(told) {
    for (const { held, evaluations } of told) {
      const [count, all] = [evaluations[0]?.pairs, held.before?.pairs];
      if (count && all && count < all) return say("finetune.live", { count, all });
    }
    return "";
  }

  /**
   * @param {Line} line
   * @param {Line[]} lines
   * @param {string} label
   * @param {number} count
   */
  function nameOf({ what }, lines, label, count) {
    if (count === 1) return say(what);
    return lines.filter((line) => !line.quiet).length > 1 ? `${label} · ${say(what)}` : label;
  }

  /**
   * One run has its own line; of several seeds each is faint, and their mean stands out.
   * @param {Line} line
   * @param {Trace[]} traces
   * @param {{ name: string, colour: string }} look
   * @param {number} count of all runs that are shown
   * @returns {import("../../kit/chart.js").Series[]}
   */
  function seriesOf({ of, quiet = false, faint = false, dash }, traces, look, count) {
    const each = traces.map(of);
    if (count === 1) return [{ ...look, ...each[0], quiet, faint, dash }];
    if (quiet) return [];
    if (each.length === 1) return [{ ...look, ...each[0], dash }];
    return [
      ...each.map((one) => ({ ...look, ...one, dash, quiet: true, faint: true })),
      { ...look, ...meanOf(each), dash },
    ];
  }

  channel.on("run", () => draw());
  channel.on("shown", () => draw(true));
  channel.on("language", () => draw(true));
}

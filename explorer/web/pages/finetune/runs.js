// The runs that are shown beside each other: how they compare, figures with their spread over seeds, what
// changed places; then all runs, and the experiment of the source.
import { h, reword, worded } from "../../kit/dom.js";
import { isBlank, show, showWithin, signedEnds } from "../../kit/numbers.js";
import { Requests } from "../../kit/request.js";
import { sortableTable } from "../../kit/table.js";
import { say } from "../../kit/words.js";
import { sourceExperiment } from "./experiment.js";
import { gainsFigure } from "./gains.js";
import { runsTable } from "./list.js";
import { PLACES } from "./naming.js";
import { unseenPairs } from "./unseen.js";

/** @typedef {import("../../wire").Group} Group */
/** @typedef {import("../../wire").Compared} Compared */

/** @type {("spearman" | "pearson" | "accuracy" | "auc" | "accuracy_at_1" | "mrr_at_10")[]} */
const FIGURES = ["spearman", "pearson", "accuracy", "auc", "accuracy_at_1", "mrr_at_10"];

/** @type {("spearman" | "accuracy_at_1")[]} what groups are judged by, the first that two of them have */
const LEADING = ["spearman", "accuracy_at_1"];

/**
 * A table in a box of its own.
 * @template Row
 * @param {Parameters<typeof sortableTable<Row>>[1]} options
 */
function tableOf(options) {
  const root = h("div");
  return { root, ...sortableTable(root, options) };
}

/**
 * @param {HTMLElement} root
 * @param {import("./state.js").FinetunePage} channel
 */
export default function runs(root, channel) {
  const all = runsTable(channel);
  // What the source printed stands beside the held-out pairs, and no others.
  const experiment = sourceExperiment(channel, () => (answer?.unseen ? null : answer));
  const unseen = unseenPairs(channel, compare);

  // ---- Beside each other -------------------------------------------------------------------

  /**
   * The server's label of a group → what the page calls it.
   * @param {string} label
   */
  function titled(label) {
    const name = answer?.groups.find((group) => group.label === label)?.runs[0] ?? "";
    return channel.groups().find(({ names }) => names.includes(name))?.name ?? label;
  }
  /**
   * @param {string} figure
   * @param {Partial<import("../../wire").Spread>} [found]
   */
  const spread = (figure, { mean, spread: deviation } = {}) =>
    mean === undefined ? "—" : showWithin(mean, deviation, figure === "loss" ? null : PLACES);
  const figures = tableOf({
    key: "finetune.final",
    columns: [
      {
        key: "ui.loss",
        wide: true,
        cell: (/** @type {Group} */ { label }) => titled(label),
        by: ({ label }) => titled(label),
      },
      ...[...FIGURES, "loss"].map((figure) => ({
        key: figure === "loss" ? "finetune.column.last_loss" : `finetune.${figure}`,
        cell: (/** @type {Group} */ group) => spread(figure, group.figures[figure]),
        by: (/** @type {Group} */ group) => group.figures[figure]?.mean ?? NaN,
        spare: true,
      })),
      { key: "finetune.column.seeds", cell: (group) => String(group.seeds.length), by: (group) => group.seeds.length },
    ],
  });
  /** @param {import("../../wire").GroupDifference} gap */
  const compared = ({ a, b }) => `${titled(b)} − ${titled(a)}`;
  /** @param {import("../../wire").GroupDifference} gap */
  const isTold = ({ between: { low, high } }) => low > 0 || high < 0;
  const differences = tableOf({
    key: "finetune.differences",
    columns: [
      { key: "finetune.column.compared", wide: true, cell: compared, by: compared },
      { key: "finetune.column.figure", cell: ({ figure }) => say(`finetune.${figure}`), by: ({ figure }) => figure },
      {
        key: "finetune.column.difference",
        cell: ({ between }) => signedEnds(between).difference,
        by: ({ between }) => between.difference,
      },
      {
        key: "finetune.column.interval",
        cell: ({ between }) => (isBlank(between) ? "—" : Object.values(signedEnds(between)).slice(1).join(" … ")),
        by: ({ between: { low } }) => low,
      },
      {
        key: "finetune.column.told",
        cell: (gap) => say(isTold(gap) ? "ui.yes" : "ui.no"),
        by: (gap) => Number(isTold(gap)),
      },
      {
        key: "finetune.column.seeds",
        cell: ({ between }) => String(between.seeds.length),
        by: ({ between }) => between.seeds.length,
      },
    ],
  });
  const moved = tableOf({
    key: "finetune.moved",
    columns: [
      {
        key: "finetune.column.rank_before",
        cell: (/** @type {import("../../wire").MovedPair} */ pair) => show(pair.rank_before, 3),
        by: (pair) => pair.rank_before,
      },
      { key: "finetune.column.rank_after", cell: (pair) => show(pair.rank_after, 3), by: (pair) => pair.rank_after },
      { key: "finetune.column.label_rank", cell: (pair) => show(pair.label_rank, 3), by: (pair) => pair.label_rank },
      { key: "ui.label", cell: (pair) => show(pair.label, 3), by: (pair) => pair.label },
      { key: "ui.pair", wide: true, cell: (pair) => [pair.first, pair.second], by: (pair) => pair.first },
    ],
  });
  /** @param {import("../../wire").Neighbour[]} near */
  const listed = (near) => near.map(({ sentence, cosine }) => `${show(cosine, 2)}  ${sentence}`);
  const neighbours = tableOf({
    key: "finetune.neighbours",
    most: 4,
    columns: [
      {
        key: "finetune.column.kept",
        cell: (/** @type {import("../../wire").Neighbours} */ one) => `${one.kept}/${one.before.length}`,
        by: (one) => one.kept,
      },
      { key: "finetune.column.sentence", wide: true, cell: (one) => one.sentence, by: (one) => one.sentence },
      {
        key: "finetune.column.nearest_before",
        wide: true,
        cell: (one) => listed(one.before),
        by: (one) => one.before[0]?.cosine ?? NaN,
      },
      {
        key: "finetune.column.nearest_after",
        wide: true,
        cell: (one) => listed(one.after),
        by: (one) => one.after[0]?.cosine ?? NaN,
      },
    ],
  });
  // What a telephone would squeeze too much is moved with the finger there.
  neighbours.root.style.setProperty("--lp-least", "620px");
  moved.root.style.setProperty("--lp-narrow", "52px");
  // A mean and its deviation stand in one line, and near what they belong to.
  figures.root.style.setProperty("--lp-narrow", "108px");
  for (const { root } of [figures, differences]) root.classList.add("lp-close");
  const sure = () => ({ level: answer?.level ?? "", least: answer?.least_seeds ?? 0, pairs: answer?.pairs ?? "" });
  /**
   * @template Row
   * @param {string} key
   * @param {ReturnType<typeof tableOf<Row>>} table
   */
  function partOf(key, table) {
    const about = h("p.lp-note");
    const box = h("div", { hidden: true }, worded("h3", key), about, table.root);
    /** @param {Row[]} rows */
    function fill(rows = []) {
      box.hidden = !rows.length;
      about.textContent = say(aboutOf(key), sure());
      if (rows.length) table.update({ data: rows });
    }
    return { box, fill };
  }
  // Of positives a rank is that of the own key.
  /** @param {string} key */
  function aboutOf(key) {
    const name = answer?.run ?? "";
    const group = answer?.groups.find(({ runs: names }) => names.includes(name));
    return key === "finetune.moved" && group?.leading === "accuracy_at_1"
      ? "finetune.moved_places_about"
      : `${key}_about`;
  }
  const parts = {
    groups: partOf("finetune.final", figures),
    differences: partOf("finetune.differences", differences),
    moved: partOf("finetune.moved", moved),
    neighbours: partOf("finetune.neighbours", neighbours),
  };
  const gains = gainsFigure(channel);
  const beside = h(
    "section",
    { hidden: true },
    worded("h2", "finetune.compared"),
    unseen.element,
    gains.element,
    Object.values(parts).map(({ box }) => box),
  );
  channel.stills.push(gains);

  // How the plans came out beside each other, best first, and what of it is more than chance.
  function verdict() {
    const labels = new Map(channel.groups().flatMap(({ names, label }) => names.map((name) => [name, label])));
    const judged = LEADING.map((leading) =>
      (answer?.groups ?? [])
        .filter(({ runs: [name], figures }) => figures[leading] && labels.has(name))
        .sort((a, b) => b.figures[leading].mean - a.figures[leading].mean),
    );
    if (!answer) return null;
    const { pairs } = answer;
    const place = Math.max(
      judged.findIndex(({ length }) => length >= 2),
      0,
    );
    const leading = LEADING[place];
    const named = judged[place].map((group) => ({
      name: labels.get(group.runs[0]),
      figure: say(`finetune.${leading}`),
      value: spread(leading, group.figures[leading]),
    }));
    const list = named
      .map((one, place) => say(place ? "finetune.verdict_next" : "finetune.verdict_best", { ...one, pairs }))
      .join("");
    const sentences = answer.verdict.map(({ key, values }) =>
      say(`remark.${key}`, { ...values, best: titled(String(values.best)), other: titled(String(values.other)) }),
    );
    return named.length < 2 ? sentences : [list + say("finetune.verdict_end"), ...sentences];
  }

  let asked = JSON.stringify([[], null]);
  /** @type {string[]} */
  let names = []; // of the runs that were asked about
  /** @type {Compared | null} */
  let answer = null;
  function compare() {
    const ended = channel.shown.filter((name) => channel.trace(name)?.about?.summary);
    const key = JSON.stringify([ended, unseen.chosen()]);
    if (key === asked) return;
    [asked, names] = [key, ended];
    unseen.leave();
    comparing.ask();
  }
  /** @type {Requests<import("./state.js").Answer<"compare"> | null>} */
  const comparing = new Requests({
    ask: async () => (names.length ? unseen.ask(names) : null),
    take: (found) => {
      if (!found && unseen.chosen()) return; // cancelled, or other pairs were chosen meanwhile
      answer = found?.groups ? found : null;
      tell();
    },
  });

  function tell() {
    beside.hidden = !answer;
    unseen.tell(answer);
    channel.verdict = verdict();
    channel.publish("verdict");
    gains.fill(answer?.groups ?? [], titled, sure());
    parts.groups.fill(answer?.groups);
    parts.differences.fill(answer?.differences);
    parts.moved.fill(answer?.moved);
    parts.neighbours.fill(answer?.neighbours);
    experiment.print();
  }

  root.append(beside, all.element, experiment.element);
  reword(root);
  experiment.print();

  channel.on("runs", all.fill);
  channel.on("shown", () => {
    all.fill();
    compare();
  });
  channel.on("run", compare);
  channel.on("language", () => {
    all.fill();
    tell();
    experiment.tellTime();
  });
}

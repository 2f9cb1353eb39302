// The runs that are shown beside each other: how they compare, figures with their spread over seeds, what changed
// places; then all runs, and the experiment of the source.
import { Section } from "../../kit/components.js";
import { isZeroInterval, show as number, signedEnds } from "../../kit/number_format.js";
import { group, h, show } from "../../kit/preact_view.js";
import { hostedTable } from "../../kit/sortable_table.js";
import { say } from "../../kit/translated_sentences.js";
import { SourceExperiment } from "./cosent_experiment.js";
import { Note } from "./form_components.js";
import { GainsFigure } from "./gains_figure.js";
import { HELD_OUT_METRICS, meanAndSpread } from "./held_out_metric_list_and_format.js";
import { UnseenPairs } from "./new_file_evaluation.js";
import { RunsTable } from "./runs_table.js";

/** @typedef {{ page: import("./state.js").FinetunePage }} Page */
/** @typedef {import("./comparison_of_runs_on_held_out_or_own_pairs.js").Comparison} Comparison */
/** @typedef {import("../../wire").Group} Group */
/** @typedef {import("../../wire").GroupDifference} GroupDifference */
/** @typedef {import("../../wire").MovedPair} MovedPair */
/** @typedef {import("../../wire").Neighbours} Neighbours */

/** @param {Page} properties */
const Runs = ({ page }) => group(h(Compared, { page }), h(RunsTable, { page }), h(SourceExperiment, { page }));

/** @param {Page} properties */
function Compared({ page }) {
  page.observe("compared", "shown", "run");
  const { comparison } = page;
  const { answer } = comparison;
  if (!answer) return null;
  const { groups, differences, moved = [], neighbours = [] } = answer;
  const kind = "div.lp-close";
  return h(
    Section,
    { title: say("finetune.compared") },
    h(UnseenPairs, { page }),
    h(GainsFigure, { page, answer }),
    // A mean and its deviation stand in one line, and near what they belong to.
    part("final", comparison, { rows: groups, options: figures(comparison), look: { "--lp-narrow": "108px" }, kind }),
    part("differences", comparison, { rows: differences, options: gaps(comparison), kind }),
    part("moved", comparison, { rows: moved, options: MOVED, look: { "--lp-narrow": "52px" } }),
    part("neighbours", comparison, { rows: neighbours, options: NEIGHBOURS, look: { "--lp-least": "620px" } }),
  );
}

/**
 * A table with its title and what it is of; nothing without rows.
 * @template Row
 * @param {string} name
 * @param {Comparison} comparison
 * @param {Parameters<typeof hostedTable<Row>>[0]} content
 */
function part(name, comparison, content) {
  if (!content.rows.length) return null;
  return h(
    "div",
    h("h3", say(`finetune.${name}`)),
    h(Note, { text: say(aboutOf(name, comparison), comparison.terms) }),
    hostedTable(content),
  );
}

/**
 * The sentence about a table: among positives a rank is that of the own key.
 * @type {(name: string, comparison: Comparison) => string}
 */
function aboutOf(name, { answer }) {
  const compared = answer?.groups.find(({ runs }) => runs.includes(answer.run ?? ""));
  const isOfKeys = name === "moved" && compared?.leading === "accuracy_at_1";
  return isOfKeys ? "finetune.moved_places_about" : `finetune.${name}_about`;
}

/**
 * @template Row
 * @typedef {{ key: string, most?: number, columns: import("../../kit/sortable_table.js").Column<Row>[] }} Options
 */

/** @type {(comparison: Comparison) => Options<Group>} */
const figures = (comparison) => ({
  key: "finetune.final",
  columns: [
    {
      key: "ui.loss",
      wide: true,
      cell: ({ label }) => comparison.titleOf(label),
      by: ({ label }) => comparison.titleOf(label),
    },
    ...[...HELD_OUT_METRICS, "loss"].map((figure) => ({
      key: figure === "loss" ? "finetune.column.last_loss" : `finetune.${figure}`,
      cell: (/** @type {Group} */ one) => meanAndSpread(figure, one.figures[figure]),
      by: (/** @type {Group} */ one) => one.figures[figure]?.mean ?? NaN,
      spare: true,
    })),
    {
      key: "finetune.column.seeds",
      cell: (one) => String(one.seeds.length),
      by: (one) => one.seeds.length,
    },
  ],
});

/** @type {(comparison: Comparison) => Options<GroupDifference>} */
function gaps(comparison) {
  /** @param {GroupDifference} gap */
  const named = ({ a, b }) => `${comparison.titleOf(b)} − ${comparison.titleOf(a)}`;
  /** @param {GroupDifference} gap */
  const isSure = ({ between: { low, high } }) => low > 0 || high < 0;
  return {
    key: "finetune.differences",
    columns: [
      { key: "finetune.column.compared", wide: true, cell: named, by: named },
      {
        key: "finetune.column.figure",
        cell: ({ figure }) => say(`finetune.${figure}`),
        by: ({ figure }) => figure,
      },
      {
        key: "finetune.column.difference",
        cell: ({ between }) => signedEnds(between).difference,
        by: ({ between }) => between.difference,
      },
      {
        key: "finetune.column.interval",
        cell: ({ between }) =>
          isZeroInterval(between) ? "—" : Object.values(signedEnds(between)).slice(1).join(" … "),
        by: ({ between: { low } }) => low,
      },
      {
        key: "finetune.column.beyond_chance",
        cell: (gap) => say(isSure(gap) ? "ui.yes" : "ui.no"),
        by: (gap) => Number(isSure(gap)),
      },
      {
        key: "finetune.column.seeds",
        cell: ({ between }) => String(between.seeds.length),
        by: ({ between }) => between.seeds.length,
      },
    ],
  };
}

/** @type {(key: string, of: (pair: MovedPair) => number) => import("../../kit/sortable_table.js").Column<MovedPair>} */
const numeric = (key, of) => ({ key, cell: (pair) => number(of(pair), 3), by: of });

/** @type {Options<MovedPair>} */
const MOVED = {
  key: "finetune.moved",
  columns: [
    numeric("finetune.column.rank_before", (pair) => pair.rank_before),
    numeric("finetune.column.rank_after", (pair) => pair.rank_after),
    numeric("finetune.column.label_rank", (pair) => pair.label_rank),
    numeric("ui.label", (pair) => pair.label),
    {
      key: "ui.pair",
      wide: true,
      cell: (pair) => [pair.first, pair.second],
      by: (pair) => pair.first,
    },
  ],
};

/** @type {(key: string, of: (one: Neighbours) => import("../../wire").Neighbour[]) =>
 *   import("../../kit/sortable_table.js").Column<Neighbours>} */
const nearest = (key, of) => ({
  key,
  wide: true,
  cell: (one) => of(one).map(({ sentence, cosine }) => `${number(cosine, 2)}  ${sentence}`),
  by: (one) => of(one)[0]?.cosine ?? NaN,
});

/** @type {Options<Neighbours>} */
const NEIGHBOURS = {
  key: "finetune.neighbours",
  most: 4,
  columns: [
    {
      key: "finetune.column.kept",
      cell: (one) => `${one.kept}/${one.before.length}`,
      by: (one) => one.kept,
    },
    {
      key: "finetune.column.sentence",
      wide: true,
      cell: (one) => one.sentence,
      by: (one) => one.sentence,
    },
    nearest("finetune.column.nearest_before", (one) => one.before),
    nearest("finetune.column.nearest_after", (one) => one.after),
  ],
};

/**
 * @param {HTMLElement} root
 * @param {import("./state.js").FinetunePage} page
 */
export default (root, page) => show(root, Runs, { page });

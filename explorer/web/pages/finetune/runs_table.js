// The runs of the folder: the newest as a line, and all of them, folded, as a table from which one or several are chosen.
import { Fold, Section } from "../../kit/components.js";
import { fixed } from "../../kit/number_format.js";
import { h } from "../../kit/preact_view.js";
import { hostedTable } from "../../kit/sortable_table.js";
import { language, say, titleOf } from "../../kit/translated_sentences.js";
import { Button, Note } from "./form_components.js";
import { leadingMetric, METRIC_DECIMALS } from "./held_out_metric_list_and_format.js";
import { encoderNamed, lossOf, settingsOf } from "./plan_names.js";
import { queueWords } from "./progress.js";

/** @typedef {import("../../wire").RunStatus} RunStatus */

/** @type {(when: "before" | "after") => (run: RunStatus) => number} */
const measured =
  (when) =>
  ({ summary }) =>
    summary?.[when][leadingMetric(summary.after)] ?? NaN;
const [before, after] = [measured("before"), measured("after")];
/**
 * The loss, and under it the parameters that were chosen.
 * @param {import("../../wire").RecordedPlan} plan
 */
function linesOf(plan) {
  const [title, settings] = [titleOf(plan.loss), settingsOf(plan)];
  return settings ? [title, settings] : title;
}
/** @type {(run: RunStatus, value: number) => "—" | string[]} The figure, and under it what it is called. */
const shownAs = ({ summary }, value) =>
  summary && !Number.isNaN(value)
    ? [fixed(value, METRIC_DECIMALS), say(`finetune.${leadingMetric(summary.after)}`)]
    : "—";
/** @param {RunStatus} run */
const stateOf = (run) => (run.queue_position ? queueWords(run) : say(`finetune.state.${run.state}`));
/** @param {RunStatus} run */
const startedAt = ({ created }) =>
  new Date(1000 * created).toLocaleString(language(), {
    month: "short",
    day: "numeric",
    hour: "2-digit",
    minute: "2-digit",
  });

/** @type {(page: import("./state.js").FinetunePage) => import("../../kit/sortable_table.js").Column<RunStatus>[]} */
const columnsOf = (page) => [
  {
    key: "finetune.column.show",
    by: (run) => Number(page.shown.includes(run.id)),
    box: {
      label: (run) => say("finetune.compare_run", { name: `${titleOf(run.loss)}, ${run.plan.seed}` }),
      checked: (run) => page.shown.includes(run.id),
    },
  },
  { key: "ui.loss", wide: true, cell: (run) => linesOf(run.plan), by: (run) => lossOf(run.plan) },
  {
    key: "finetune.column.before",
    cell: (run) => shownAs(run, before(run)),
    by: before,
  },
  {
    key: "finetune.column.after",
    cell: (run) => shownAs(run, after(run)),
    by: after,
  },
  {
    key: "finetune.column.state",
    cell: stateOf,
    by: (run) => run.state,
  },
  { key: "finetune.step", cell: (run) => `${run.step}/${run.steps ?? "—"}`, by: (run) => run.step },
  {
    key: "ui.encoder",
    wide: true,
    cell: (run) => [encoderNamed(run.plan), say(`finetune.kind.${run.kind}`)],
    by: (run) => run.encoder,
  },
  { key: "finetune.seed", cell: (run) => String(run.plan.seed), by: (run) => run.plan.seed },
  {
    key: "finetune.column.started",
    cell: startedAt,
    by: (run) => run.created,
  },
];

/** @param {{ page: import("./state.js").FinetunePage }} properties */
export function RunsTable({ page }) {
  page.observe("runs", "shown");
  const { runs, shown } = page;
  if (!runs.length) return null;
  return h(
    Section,
    { title: say("finetune.runs") },
    shown.includes(runs[0].id) ? null : h(Newest, { page, run: runs[0] }),
    h(
      Fold,
      { title: say("finetune.all_runs", { count: runs.length }), kind: "lp-fold", id: "lp-finetune-all-runs" },
      h(Note, { text: say("finetune.runs_about") }),
      hostedTable({
        options: { key: "finetune.runs", most: 8, picks: true, columns: columnsOf(page) },
        rows: runs,
        lit: (run) => run?.id === shown[0],
        look: { "--lp-least": "700px" }, // a telephone moves what it would squeeze with the finger
        emit: (...event) => {
          if (event[0] === "pick") page.show([event[1].id]);
          else if (event[0] === "tick") page.toggle(event[1].id);
        },
      }),
    ),
  );
}

/** @param {{ page: import("./state.js").FinetunePage, run: RunStatus }} properties */
const Newest = ({ page, run }) =>
  h(
    "div.lp-row.lp-wrap",
    h(Button, { id: "lp-finetune-newest", name: say("finetune.open_newest"), act: () => page.show([run.id]) }),
    h("span.lp-note", [lossOf(run.plan), stateOf(run), startedAt(run)].join(" · ")),
  );

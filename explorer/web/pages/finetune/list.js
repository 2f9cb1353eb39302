// All runs of the folder, as a table from which one or several are chosen.
import { h, worded } from "../../kit/dom.js";
import { fixed } from "../../kit/numbers.js";
import { sortableTable } from "../../kit/table.js";
import { language, say, titleOf } from "../../kit/words.js";
import { encoderNamed, leadingOf, lossOf, PLACES, queued, settingsOf } from "./naming.js";

/** @typedef {import("../../wire").RunStatus} RunStatus */

/** @type {(when: "before" | "after") => (run: RunStatus) => number} */
const measured =
  (when) =>
  ({ summary }) =>
    summary?.[when][leadingOf(summary.after)] ?? NaN;
const [before, after] = [measured("before"), measured("after")];
/**
 * The loss, and under it the parameters that were chosen.
 * @param {import("../../wire").TrainingPlan} plan
 */
function linesOf(plan) {
  const [title, settings] = [titleOf(plan.loss), settingsOf(plan)];
  return settings ? [title, settings] : title;
}
/**
 * The figure, and under it what it is called.
 * @param {RunStatus} run
 * @param {number} value
 */
const shownAs = ({ summary }, value) =>
  summary && !Number.isNaN(value) ? [fixed(value, PLACES), say(`finetune.${leadingOf(summary.after)}`)] : "—";

/**
 * @param {import("./state.js").FinetunePage} channel
 * @returns {{ element: HTMLElement, fill: () => void }}
 */
export function runsTable(channel) {
  const list = h("div");
  const runs = sortableTable(
    list,
    {
      key: "finetune.runs",
      most: 8,
      picks: true,
      columns: [
        {
          key: "finetune.column.show",
          by: (/** @type {RunStatus} */ run) => Number(channel.shown.includes(run.id)),
          box: {
            label: (run) => say("finetune.compare_run", { name: `${titleOf(run.loss)}, ${run.plan.seed}` }),
            checked: (run) => channel.shown.includes(run.id),
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
          cell: (run) => (run.queue_position ? queued(run) : say(`finetune.state.${run.state}`)),
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
          cell: (run) =>
            new Date(1000 * run.created).toLocaleString(language(), {
              month: "short",
              day: "numeric",
              hour: "2-digit",
              minute: "2-digit",
            }),
          by: (run) => run.created,
        },
      ],
    },
    (...told) => {
      if (told[0] === "pick") channel.show([told[1].id]);
      else if (told[0] === "tick") channel.toggle(told[1].id);
    },
  );
  const element = h(
    "section",
    { hidden: true },
    worded("h2", "finetune.runs"),
    worded("p.lp-note", "finetune.runs_about"),
    list,
  );
  // What a telephone would squeeze too much is moved with the finger there.
  list.style.setProperty("--lp-least", "700px");

  function fill() {
    element.hidden = !channel.runs.length;
    if (!channel.runs.length) return;
    runs.update({ data: channel.runs, state: { lit: (run) => run?.id === channel.shown[0] } });
  }
  return { element, fill };
}

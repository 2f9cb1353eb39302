// A file of pairs that no run has seen: every run that is shown is measured on it, until the reader goes back to the
// held-out pairs.
import { ColumnFields, EncodingField } from "../../kit/file_reading_fields.js";
import { FilePicker } from "../../kit/file_upload.js";
import { h } from "../../kit/preact_view.js";
import { Progress } from "../../kit/progress.js";
import { say } from "../../kit/translated_sentences.js";
import { Button, Note, ProblemLine } from "./form_components.js";

/** @typedef {{ page: import("./state.js").FinetunePage }} Page */

/** @param {Page} properties */
export function UnseenPairs({ page: { comparison } }) {
  const { file, problem, chosen, answer, jobs } = comparison;
  const isReadable = file && !file.problem;
  const read = !file ? "" : file.problem ? file.name : say("ui.file_read", file);
  return h(
    "div",
    h(
      "details.lp-fold.lp-unseen",
      h("summary", say("finetune.unseen")),
      h(Note, { text: say("finetune.unseen_about") }),
      h(
        "div.lp-panel",
        h(FilePicker, {
          id: "lp-finetune-unseen",
          title: "finetune.unseen_drop",
          take: (one) => comparison.handIn(one),
        }),
        h(Note, { role: "status", text: read }),
        file ? h(Columns, { comparison, file }) : null,
        h(ProblemLine, { problem }),
        isReadable && !chosen
          ? h(Button, {
              id: "lp-finetune-unseen-go",
              name: say("finetune.unseen_go"),
              act: () => comparison.measure(),
            })
          : null,
      ),
      h(Progress, { page: jobs }),
    ),
    answer?.unseen
      ? h(
          "div.lp-row.lp-wrap",
          h("p.lp-unseen-summary", { role: "status" }, measuredWords(answer, answer.unseen)),
          h(Button, {
            id: "lp-finetune-unseen-back",
            name: say("finetune.unseen_back"),
            act: () => comparison.choose(null),
          }),
        )
      : null,
  );
}

/** @param {{ comparison: import("./comparison_of_runs_on_held_out_or_own_pairs.js").Comparison, file: import("./plan_data_files_state.js").ReadFile }} properties */
function Columns({ comparison, file }) {
  const { teacher, ...roles } = file.chosen; // a teacher measures nothing
  return h(
    "div.lp-columns",
    h(EncodingField, { ...file, change: (encoding) => comparison.reread({ encoding }) }),
    h(ColumnFields, { columns: file.columns, roles, change: (role, column) => comparison.assign(role, column) }),
  );
}

/**
 * What everything is measured on now, and how far the file is unseen.
 * @type {(answer: import("../../wire").Compared, file: import("../../wire").OnFile) => string}
 */
function measuredWords({ pairs, groups, verdict }, { shared, count, skipped, sampled }) {
  const words = [
    say("finetune.unseen_now", { pairs }),
    ...(groups.length === 1 ? verdict.map(({ key, values }) => say(`remark.${key}`, values)) : []),
    shared ? say("finetune.unseen_shared", { count: shared, all: count }) : say("finetune.unseen_shared_none"),
    skipped ? say("finetune.unseen_skipped", { count: skipped }) : "",
    sampled ? say("finetune.unseen_sampled") : "",
  ];
  return words.filter(Boolean).join(" ");
}

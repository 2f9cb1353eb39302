// Every loss in four types of numbers and every form in which it is written.
import { labelOf } from "../../../kit/compared_loss_labels.js";
import { read, show } from "../../../kit/number_format.js";
import { group, h } from "../../../kit/preact_view.js";
import { say } from "../../../kit/translated_sentences.js";
import { Downloads } from "../downloads.js";
import { Table } from "../scrolling_table.js";
import { Result, useExperiment } from "./experiment_request.js";
import { RefusedCell, SideHead } from "./loss_table.js";

/** @typedef {import("./experiment_request.js").Side} Side */
/** @typedef {import("../../../wire").PreciseRow} Row */
/** @typedef {import("../../../wire").ExperimentResults} Answer */

const TYPES = ["float64", "float32", "bfloat16", "float16"];

/** @param {Answer} answer */
const rowsOf = ({ sides }) => sides.map(({ found }) => /** @type {{ rows: Row[] } | null} */ (found)?.rows ?? null);

/** @param {{ page: import("../state.js").ComparePage }} properties */
export function NumberPrecision({ page }) {
  /** @type {import("./experiment_request.js").Experiment<Answer>} */
  const experiment = useExperiment(page, "precision", {});
  const { answer, sides } = experiment;
  return h(
    Result,
    { experiment },
    answer &&
      group(
        h(PrecisionTable, { answer, sides }),
        h("p.lp-note", say("compare.vary.precision.about")),
        h(Downloads, { page, name: "precision", csv: () => csvOf(answer, sides) }),
      ),
  );
}

/** @param {{ answer: Answer, sides: Side[] }} properties */
const PrecisionTable = ({ answer, sides }) =>
  h(
    Table,
    {
      label: say("compare.vary.precision"),
      kind: "lp-vary-table",
      heads: [say("ui.loss"), say("compare.vary.form"), ...TYPES],
    },
    rowsOf(answer).map((rows, place) => {
      if (rows) return h(SideRows, { key: place, sides, place, rows });
      const refused = h(RefusedCell, { problem: answer.sides[place].problem, columns: TYPES.length + 1 });
      return h("tr", { key: place }, h(SideHead, { sides, place }), refused);
    }),
  );

/** @param {{ sides: Side[], place: number, rows: Row[] }} properties */
function SideRows({ sides, place, rows: all }) {
  /** @param {Row} row */
  const keyOf = ({ form, convention }) => `${form}|${convention}`;
  const forms = [...new Set(all.map(keyOf))].map((key) => all.filter((row) => keyOf(row) === key));
  return group(
    forms.map((rows, i) => {
      const [{ form, convention }] = rows;
      const name = [say(`compare.vary.form.${form}`), form.startsWith("printed") ? convention : ""];
      return h(
        "tr",
        { key: keyOf(rows[0]) },
        i ? null : h(SideHead, { sides, place, rows: forms.length }),
        h("th.lp-vary-form", { scope: "row" }, name.filter(Boolean).join(": ")),
        TYPES.map((type) => h(Value, { key: type, row: rows.find((row) => row.type === type) })),
      );
    }),
  );
}

/** @param {{ row: Row | undefined }} properties */
function Value({ row }) {
  if (!row) return h("td", "—");
  const { loss, difference, gradient_difference, broken, refused, type, form } = row;
  if (refused) return h("td.lp-faint", { title: refused }, say("compare.vary.refused"));
  const isBroken = broken || (loss !== null && !Number.isFinite(read(loss)));
  const isExact = type === "float64" && form === "stable";
  return h(
    isBroken ? "td.lp-vary-broken" : "td",
    h("b", show(loss, 6)),
    isExact ? null : h("div.lp-note", `Δ ${show(difference, 2)} · ∇ ${show(gradient_difference, 2)}`),
    broken ? h("div", say("compare.vary.breaks", { step: broken.replace(/_/g, " ") })) : null,
  );
}

/** @type {(answer: Answer, sides: Side[]) => import("../downloads.js").Rows} */
const csvOf = (answer, sides) => [
  ["loss", "form", "convention", "type", "value", "difference", "gradient_difference", "broken", "refused"],
  ...rowsOf(answer).flatMap((rows, place) =>
    (rows ?? []).map((row) => [
      ...[labelOf(sides, place), row.form, row.convention, row.type, row.loss ?? "", row.difference ?? ""],
      ...[row.gradient_difference ?? "", row.broken, row.refused],
    ]),
  ),
];

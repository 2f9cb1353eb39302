// Every loss's figures in one table, and whether the values of two of them may be compared.
import { letterOf, Named } from "../../kit/compared_loss_labels.js";
import { counted, percent, read, show } from "../../kit/number_format.js";
import { group, h, hosted } from "../../kit/preact_view.js";
import { referenceValueScale } from "../../kit/reference_value_scale.js";
import { has, say } from "../../kit/translated_sentences.js";
import { Downloads } from "./downloads.js";
import { LossPairChoice } from "./loss_pair_choice.js";
import { Table } from "./scrolling_table.js";

/** @typedef {import("../../wire").ComparedFigures} Figures */
/** @typedef {import("./state.js").ComparePage} ComparePage */

/**
 * A column of the table: the text of its cells, "" for what a loss does not have.
 * @type {{ key: string, cell: (figures: Figures) => string }[]}
 */
const COLUMNS = [
  { key: "figure.gradient", cell: ({ gradient_norm }) => show(gradient_norm, 3) },
  { key: "figure.effective", cell: ({ effective }) => (effective === null ? "" : counted(effective, 3)) },
  { key: "compare.moving", cell: ({ moving, terms }) => ofAll(moving, terms) },
  { key: "compare.order", cell: orderWords },
];

/**
 * The columns of the file: plain numbers at full precision, "" for what a loss does not have.
 * @type {Record<string, (figures: Figures) => number | string | boolean | null | undefined>}
 */
const CSV_COLUMNS = {
  value: ({ loss }) => loss,
  minimum: ({ floor }) => floor,
  minimum_is_lower_bound: ({ floor, floor_is_bound }) => (floor === null ? "" : Number(floor_is_bound)),
  value_at_collapse: ({ collapse }) => collapse,
  gradient_norm: ({ gradient_norm }) => gradient_norm,
  effective_terms: ({ effective }) => effective,
  moving_terms: ({ moving }) => moving,
  terms: ({ terms }) => terms,
  ranked_first: ({ places }) => places?.first,
  anchors: ({ places }) => places?.anchors,
  violated: ({ violated, ordered }) => (ordered ? violated : ""),
  comparisons: ({ ordered }) => ordered || "",
};

/** @type {(part: number | null, all: number | null) => string} */
const ofAll = (part, all) => (part === null || all === null ? "" : say("figure.of", { part, all }));

/**
 * A loss that looks for the right candidate is judged by its rank, any other by the order of the pairs.
 * @param {Figures} figures
 */
function orderWords({ places, ordered, violated }) {
  if (places) return `${say(`figure.first_${places.kind}`)}: ${ofAll(places.first, places.anchors)}`;
  return ordered ? say("compare.violated", { share: percent(violated / ordered), all: ordered }) : "";
}

/** @param {{ page: ComparePage }} properties */
export function Numbers({ page }) {
  page.observe("state", "compared");
  const { compared, comparedSides } = page;
  if (!compared) return null;
  const heads = ["ui.loss", "compare.value", ...COLUMNS.map(({ key }) => key)];
  return group(
    h(
      Table,
      { label: say("compare.numbers"), kind: "lp-compared", heads: heads.map((key) => say(key)) },
      compared.sides.map((side, place) =>
        h(
          "tr",
          { key: place },
          h("th.lp-side-cell", { scope: "row" }, h(Named, { sides: comparedSides, place })),
          h(Cells, { page, place, side }),
        ),
      ),
    ),
    h(Comparability, { page }),
    h(Downloads, { page, name: "compared", csv: () => csvOf(page) }),
  );
}

/** @param {{ page: ComparePage, place: number, side: import("../../wire").ComparedSide }} properties */
function Cells({ page, place, side: { figures, problem } }) {
  if (!figures)
    return h(
      "td.lp-loss-cell",
      { colSpan: COLUMNS.length + 1, "data-refused": "" },
      h("span.lp-wrong", problem ? say(problem.key, problem.values) : ""),
    );
  const [base] = page.pair;
  const letter = letterOf(base);
  const isApart = Boolean(page.twoOf(base, place)?.reasons.length);
  return group(
    h(
      "td.lp-loss-cell",
      h("strong", show(figures.loss, 5)),
      isApart
        ? h(
            "small.lp-apart",
            { title: say("compare.not_beside", { letter }) },
            " ",
            say("compare.not_beside_short", { letter }),
          )
        : null,
      h(ReferenceValues, { figures }),
    ),
    COLUMNS.map(({ key, cell }) => h("td", { key }, cell(figures) || "—")),
  );
}

/** @param {{ figures: Figures }} properties */
const ReferenceValues = ({ figures }) => {
  const marks = referenceValueScale(figures);
  return hosted({
    kind: "div.lp-marks",
    make: (root) => root,
    update: (root) => root.replaceChildren(...marks),
  });
};

/**
 * Whether the values of the chosen two may be compared, and why not.
 * @param {{ page: ComparePage }} properties
 */
function Comparability({ page }) {
  const [base, other] = page.pair;
  const letters = { first: letterOf(base), second: letterOf(other) };
  const reasons = page.twoOf(base, other)?.reasons;
  const lines = reasons?.map(({ key, values }) => say(key, base < other ? values : swapped(values))) ?? [];
  const gap = page.batch?.gap;
  const verdict = lines.length ? "compare.not_comparable_of" : "compare.comparable_of";
  return h(
    "div.lp-judged",
    h(LossPairChoice, { page, id: "lp-numbers" }),
    reasons ? h("p", say(verdict, letters)) : null,
    h(
      "ul.lp-remarks",
      [
        ...lines,
        ...(reasons ? conventionNotes(page, base, other) : []),
        ...(gap ? [say(gap.key, gap.values)] : []),
      ].map((line) => h("li", { key: line }, line)),
    ),
  );
}

/** @type {(values: Record<string, any>) => Record<string, any>} */
const swapped = ({ first, second, ...others }) => ({ ...others, first: second, second: first });

/**
 * Of one loss in two conventions: the ratio of the values here, and what the conventions say of it.
 * @type {(page: ComparePage, base: number, other: number) => string[]}
 */
function conventionNotes(page, base, other) {
  const { comparedSides, compared } = page;
  const [one, two] = [comparedSides[base], comparedSides[other]];
  if (one.loss !== two.loss || one.convention === two.convention) return [];
  const notes = [base, other].flatMap((place) => {
    const { loss, convention } = comparedSides[place];
    const note = page.formOf(comparedSides[place])?.note;
    const key = `loss.${loss}.note.${convention}`;
    const values = { letter: letterOf(place), convention, note: has(key) ? say(key) : note };
    return note ? [say("compare.note_of", values)] : [];
  });
  const values = [base, other].map((place) => Number(read(compared?.sides[place].figures?.loss)));
  if (!values[0] || !values.every(Number.isFinite)) return notes;
  const ratio = { first: letterOf(base), second: letterOf(other), ratio: show(values[1] / values[0], 6) };
  return [say("compare.value_ratio", ratio), ...notes];
}

/** @param {ComparePage} page */
function csvOf({ compared, comparedSides }) {
  const rows = (compared?.sides ?? []).map(({ figures, parameters }, place) => {
    const { loss, convention } = comparedSides[place];
    const numbers = Object.values(CSV_COLUMNS).map((number) => String((figures && number(figures)) ?? ""));
    return [loss, convention, JSON.stringify(parameters), ...numbers];
  });
  return [["loss", "convention", "parameters", ...Object.keys(CSV_COLUMNS)], ...rows];
}

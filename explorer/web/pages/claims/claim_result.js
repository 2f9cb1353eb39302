// A claim on one batch: the verdict on each of its statements, both sides, other numbers, and the curves.
import { Fold } from "../../kit/components.js";
import { FigureFold } from "../../kit/figure_export_options.js";
import { tex } from "../../kit/formula.js";
import { h, hosted } from "../../kit/preact_view.js";
import { has, say } from "../../kit/translated_sentences.js";
import { ClaimCurves, colourOf, figureOf } from "./claim_chart.js";

/** @typedef {import("../../wire").ClaimResult} ClaimResultData */
/** @typedef {import("../../wire").ClaimComparison} Comparison */

const MAX_FIRST_ROWS = 5;

/** @type {Record<string, string>} the class of a verdict */
const CLASSES = { holds: "holds", fails: "fails", only_if: "depends", depends: "depends", undecided: "depends" };

/** @param {{ latex: string, display?: boolean }} properties */
export const Formula = ({ latex, display = false }) =>
  hosted({
    kind: "span",
    make: (root) => root,
    update: (root) => tex(root, latex, display),
  });

/** @param {{ verdict: string }} properties */
export const VerdictMark = ({ verdict }) =>
  h(`span.lp-claim-verdict.lp-claim-${CLASSES[verdict] ?? "none"}`, say(`claims.verdict.${verdict}`));

/** @param {{ name: string, result: ClaimResultData, title: string, page: import("./state.js").ClaimsPage }} properties */
export const ClaimResult = ({ name, result, title, page }) =>
  h(
    "section",
    result.chart ? h(ClaimCurves, { chart: result.chart }) : null,
    result.parts.map(({ part, verdict }) =>
      h(
        "div.lp-claim-part",
        { key: part },
        h("p", h(VerdictMark, { verdict }), " ", part === "claim" ? title : statementOf(name, part)),
        h(PartComparisons, { rows: result.comparisons.filter((one) => one.part === part) }),
      ),
    ),
    result.facts.length
      ? h(
          "p.lp-claim-facts",
          result.facts.map(({ latex, text }) =>
            h("span", { key: latex }, h(Formula, { latex: `${latex} =` }), " ", h("b", text)),
          ),
        )
      : null,
    result.sample ? h("p.lp-note", sampleOf(result.sample, result.comparisons)) : null,
    result.chart ? h(CurvesExport, { page, name, chart: result.chart }) : null,
  );

/** @type {(sample: import("../../wire").Sample, rows: Comparison[]) => string} What the runs were judged on. */
function sampleOf({ seeds, pairs, level, data }, rows) {
  const counts = say("claims.sample", { seeds, pairs, level });
  const isDifference = rows.some(({ left, right }) => `${left.text}${right.text}`.includes("±"));
  return [data ? `${data}: ${counts}` : counts, isDifference ? say("claims.plus_minus") : ""].join(" ");
}

/** @param {{ rows: Comparison[] }} properties */
function PartComparisons({ rows }) {
  // What speaks against a statement is seen first.
  const against = rows.filter((one) => one.asserted && !one.holds);
  const sorted = [...against, ...rows.filter((one) => !against.includes(one))];
  const more = sorted.slice(MAX_FIRST_ROWS);
  return h(
    "div",
    h(ComparisonTable, { rows: sorted.slice(0, MAX_FIRST_ROWS) }),
    more.length
      ? h(Fold, { title: say("claims.more", { count: more.length }) }, h(ComparisonTable, { rows: more }))
      : null,
  );
}

/** @type {(name: string, part: string) => string} The words of a statement of a claim. */
export const statementOf = (name, part) => (has(`claims.${name}.${part}`) ? say(`claims.${name}.${part}`) : "");

/** @param {{ rows: Comparison[] }} properties */
const ComparisonTable = ({ rows }) =>
  h(
    "div.lp-scroll",
    { tabIndex: 0, role: "group", "aria-label": say("claims.sides") },
    h(
      "table.lp-claim-sides",
      h(
        "tbody",
        rows.map((row, place) => h(ComparisonRow, { key: place, row })),
      ),
    ),
  );

/** @type {(row: Comparison) => string[]} The mark of a row, and the verdict that it stands for. */
function markOf({ holds, asserted, decided, within }) {
  if (!asserted) return ["–", "vacuous"];
  if (holds) return ["✓", "holds"];
  if (!decided) return ["?", "undecided"];
  return ["✗", within ? "fails" : "only_if"];
}

/** @param {{ row: Comparison }} properties */
function ComparisonRow({ row }) {
  const { left, right, relation } = row;
  const [mark, verdict] = markOf(row);
  return h(
    "tr",
    h(
      "td.lp-claim-mark",
      { class: `lp-claim-${CLASSES[verdict] ?? "none"}`, title: say(`claims.verdict.${verdict}`) },
      mark,
    ),
    h("td.lp-claim-formula", h(Formula, { latex: left.latex })),
    h("td", h("b", left.text)),
    h("td", relation),
    h("td", h("b", right.text)),
    h("td.lp-claim-formula", h(Formula, { latex: right.latex })),
  );
}

/** @param {{ page: import("./state.js").ClaimsPage, name: string, chart: import("../../wire").ClaimChart }} properties */
const CurvesExport = ({ page, name, chart }) =>
  h(FigureFold, {
    page,
    ask: (look) => {
      const figure = figureOf(chart);
      const legend = chart.curves.map((one, i) => ({
        name: say(`claims.curve.${one.name}`),
        colour: colourOf(i),
      }));
      const whole = {
        title: statementOf(name, "claim"),
        caption: [name],
        legend,
        panels: [{ wide: 640, tall: 360, title: "", ...figure }],
        across: 1,
      };
      return page.server.chart({ ...look, name: `lossprism-${name}`, chart: whole });
    },
  });

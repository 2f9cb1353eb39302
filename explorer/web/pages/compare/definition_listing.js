// The two definitions, line by line. The signatures, which name all arguments, are folded.
import { letterOf, Named } from "../../kit/compared_loss_labels.js";
import { Fold } from "../../kit/components.js";
import { group, h } from "../../kit/preact_view.js";
import { say } from "../../kit/translated_sentences.js";
import { Table } from "./scrolling_table.js";

/** @typedef {import("../../wire").CodeLine} Line */
/** @typedef {{ page: import("./state.js").ComparePage, lines: Line[] }} Listed */

// A colour is never the only sign.
const SIGNS = { shared: "", parameter: "≈", changed: "≈", base: "−", other: "+" };

/** @param {Listed} properties */
export function Listing({ page, lines }) {
  const signatures = lines.filter(({ signature }) => signature);
  return group(
    h("h3", say("compare.code")),
    h(Fold, { title: say("compare.signatures") }, h(Lines, { page, lines: signatures })),
    h(Lines, { page, lines: lines.filter(({ signature }) => !signature) }),
  );
}

/** @param {Listed} properties */
const Lines = ({ page, lines }) =>
  h(
    Table,
    {
      label: say("compare.code"),
      kind: "lp-listing",
      box: "lp-listing-box",
      heads: [null, ...page.between.map((place) => h(Named, { sides: page.comparedSides, place }))],
    },
    lines.map((line, at) => h(Row, { key: at, page, line })),
  );

/** @param {{ page: import("./state.js").ComparePage, line: Line }} properties */
function Row({ page, line: { kind, base_text, other_text, base_step, other_step } }) {
  const [base, other] = page.between;
  const letter = letterOf(kind === "other" ? other : base);
  return h(
    `tr.lp-ink-row-${kind}`,
    h("td.lp-ink-sign", { title: say(`compare.ink.line.${kind}`, { letter }) }, SIGNS[kind]),
    h(Code, { page, place: base, text: base_text, step: base_step }),
    h(Code, { page, place: other, text: other_text, step: other_step }),
  );
}

/**
 * A line of code; a click shows its step in the matrices.
 * @param {{ page: import("./state.js").ComparePage, place: number, text: string, step: number | null }} properties
 */
const Code = ({ page, place, text, step }) =>
  h(
    "td",
    step === null
      ? h("code", text)
      : h("button.lp-code-line", { onClick: () => page.lookAt([[place, step]]) }, h("code", text)),
  );

// Two definitions as one formula: what both share, what only one has, and where a parameter differs. Every part
// has its number on this batch; below it the parameters and the two listings, line by line.
import { paperColour } from "../../kit/colours.js";
import { Chip, colourOf, labelOf, letterOf, Named } from "../../kit/compared_loss_labels.js";
import { walkableLine } from "../../kit/dom.js";
import { saveAnswer } from "../../kit/file_downloads.js";
import { tex } from "../../kit/formula.js";
import { show } from "../../kit/number_format.js";
import { group, h, hosted } from "../../kit/preact_view.js";
import { has, language, parameterName, say } from "../../kit/translated_sentences.js";
import { useState } from "../../kit/vendor/preact/hooks.js";
import { Listing } from "./definition_listing.js";
import { Downloads } from "./downloads.js";
import { latexOf, PAPER_INKS, plain } from "./formula_latex_document.js";
import { LossPairChoice } from "./loss_pair_choice.js";
import { Table } from "./scrolling_table.js";

/** @typedef {import("../../wire").FormulaDifference} FormulaDifference */
/** @typedef {import("../../wire").StepNumbers} StepNumbers */
/** @typedef {import("./state.js").ComparePage} ComparePage */
/** @typedef {"base" | "other"} Whose */
/** @typedef {{ page: ComparePage, differing: FormulaDifference }} Found */

const WHOSE = /** @type {const} */ (["base", "other"]);

/** @param {{ page: ComparePage }} properties */
export function Formulas({ page }) {
  page.observe("formula", "state");
  const { differing, notDiffering, between } = page;
  if (notDiffering) return h("p.lp-wrong", say(notDiffering.key, notDiffering.values));
  if (!differing) return null;
  const [base, other] = between.map(colourOf);
  return h(
    "div",
    { style: `--lp-base: ${base}; --lp-other: ${other}` },
    h(LossPairChoice, { page, id: "lp-formula" }),
    differing.together ? null : h("p.lp-note", say("compare.not_one_formula")),
    h(InkLegend, { page, differing }),
    h(Parts, { page, differing }),
    h(Parameters, { page, differing }),
    h(Listing, { page, lines: differing.code }),
    h(Downloads, {
      page,
      name: "formulas",
      more: [
        ["take.latex", () => saveLatex(page, differing, true)],
        ["take.latex_plain", () => saveLatex(page, differing, false)],
      ],
      csv: () => csvOf(differing),
    }),
  );
}

/**
 * What each colour of the formula says.
 * @param {Found} properties
 */
function InkLegend({ page, differing: { empty, together } }) {
  const [base, other] = page.between;
  if (empty) {
    const letters = { first: letterOf(base), second: letterOf(other) };
    return h("p.lp-inks", say("compare.same_formula", letters));
  }
  /** @param {number} place */
  const only = (place) => group(say("compare.ink.only"), " ", h(Named, { sides: page.comparedSides, place }));
  const meanings = { base: only(base), other: only(other) };
  const both = { shared: say("compare.ink.shared"), ...meanings, parameter: say("compare.ink.parameter") };
  return h(
    "p.lp-inks",
    Object.entries(together ? both : meanings).map(([ink, words]) =>
      h("span", { key: ink }, h(`i.lp-ink-${ink}`, { "aria-hidden": "true" }), " ", words),
    ),
  );
}

// ---- The parts of the formula ------------------------------------------------------------------

/**
 * The formula, line by line; a part that is pointed at says its number.
 * @param {Found} properties
 */
function Parts({ page, differing }) {
  const [pointed, point] = useState(/** @type {HTMLElement | null} */ (null));
  return group(
    h(
      "div.lp-differing",
      { onMouseLeave: () => point(null) },
      differing.formula.map((latex, place) => h(FormulaLine, { key: place, page, latex, pointed, point })),
    ),
    h("p.lp-atom", { "aria-live": "polite" }, pointed ? partWords(page, pointed) : say("compare.formula_hint")),
  );
}

/**
 * @param {{ page: ComparePage, latex: string, pointed: HTMLElement | null,
 *   point: (part: HTMLElement) => void }} properties
 */
const FormulaLine = ({ page, latex, pointed, point }) =>
  hosted({
    kind: "div.lp-differing-line",
    make: (root) => ({ root, written: "" }),
    update: (line) => {
      const written = `${latex} ${page.between} ${language()}`;
      if (line.written !== written) {
        line.written = written;
        tex(line.root, latex, true);
        wireParts(page, line.root, point);
      }
      for (const part of partsOf(line.root)) part.classList.toggle("lp-lit", part === pointed);
    },
  });

/** @param {HTMLElement} root */
const partsOf = (root) => /** @type {HTMLElement[]} */ (Array.from(root.querySelectorAll("[data-ink]")));

/** @type {(page: ComparePage, line: HTMLElement, point: (part: HTMLElement) => void) => void} */
function wireParts(page, line, point) {
  const parts = partsOf(line);
  for (const part of parts) {
    part.classList.add("lp-part", `lp-ink-of-${part.dataset.ink}`);
    for (const token of tokensOf(part)) token.classList.add(`lp-token-${part.dataset.ink}`);
    const show = (/** @type {Event} */ event) => {
      event.stopPropagation();
      point(part);
    };
    part.addEventListener("mouseover", show);
    part.addEventListener("focus", show);
    part.addEventListener("click", (event) => {
      event.stopPropagation();
      showSteps(page, part);
    });
    part.addEventListener("keydown", ({ key, target }) => {
      if (key === "Enter" && target === part) showSteps(page, part);
    });
  }
  const leaves = parts.filter((part) => !part.querySelector("[data-ink]"));
  for (const leaf of leaves) {
    leaf.setAttribute("role", "button");
    leaf.setAttribute("aria-label", `${leaf.textContent}: ${partWords(page, leaf)}`);
  }
  walkableLine(leaves);
  line.querySelector(".katex-html")?.removeAttribute("aria-hidden");
  line.querySelector(".katex-mathml")?.setAttribute("aria-hidden", "true");
}

/** @type {(part: HTMLElement) => HTMLSpanElement[]} The letters and signs of a part that are in no part inside it. */
const tokensOf = (part) =>
  Array.from(part.querySelectorAll("span")).filter(
    (one) => !one.childElementCount && one.textContent?.trim() && one.closest("[data-ink]") === part,
  );

/**
 * The step of a side that a part belongs to, null for none.
 * @type {(part: HTMLElement, whose: Whose) => number | null}
 */
const stepOf = ({ dataset }, whose) => (dataset[whose] === undefined ? null : Number(dataset[whose]));

/** @type {(page: ComparePage, part: HTMLElement) => void} Show the steps of a part in the matrices. */
const showSteps = (page, part) => page.lookAt(WHOSE.map((whose, i) => [page.between[i], stepOf(part, whose)]));

/** @type {(page: ComparePage, part: HTMLElement) => string} */
function partWords({ differing, between }, part) {
  if (!differing) return "";
  const [first, second] = between.map(letterOf);
  const kind = say(`compare.ink.meaning.${part.dataset.ink}`, { first, second });
  const numbers = WHOSE.flatMap((whose, i) => {
    const step = stepOf(part, whose);
    return step === null ? [] : [`${letterOf(between[i])} ${stepNumberWords(differing[whose][step])}`];
  });
  return [kind, ...numbers].join(" · ");
}

/** @param {StepNumbers} step */
function stepNumberWords({ name, number }) {
  const title = name.replace(/_/g, " ");
  if (!number) return title;
  const { count, present, least, mean, largest } = number;
  if (count === 1) return `${title} = ${show(mean)}`;
  const range = { least: show(least, 3), mean: show(mean, 3), largest: show(largest, 3) };
  return say(present < count ? "compare.number_of" : "compare.number", { name: title, present, count, ...range });
}

// ---- Parameters --------------------------------------------------------------------------------

/** @param {Found} properties */
function Parameters({ page: { between }, differing: { parameters } }) {
  const differ = parameters.filter(({ kind, base, other }) => kind !== "shared" && base && other);
  const title = say("compare.differing_parameters");
  const heads = [title, ...between.map((place) => h(Chip, { place }))];
  return group(
    differ.length
      ? h(
          Table,
          { label: title, kind: "lp-parameters-apart", heads },
          differ.map(({ base, other, base_value, other_value }) =>
            h(
              "tr",
              { key: base },
              h("th", { scope: "row" }, [...new Set([base, other])].map(titleOf).join(" / ")),
              h("td", settingWords(base_value)),
              h("td", settingWords(other_value)),
            ),
          ),
        )
      : null,
    WHOSE.map((whose, i) => {
      const names = parameters.filter(({ kind }) => kind === whose).map(({ [whose]: name }) => titleOf(name));
      const words = say("compare.only_parameters", { names: names.join(say("ui.between")) });
      return names.length ? h("p.lp-note", { key: whose }, h(Chip, { place: between[i] }), " ", words) : null;
    }),
  );
}

/** @param {string | null} name */
const titleOf = (name) => (name === null ? "" : parameterName(name));

/** @param {import("../../wire").Setting} value */
function settingWords(value) {
  if (value === null) return say("ui.off");
  if (typeof value === "boolean") return say(value ? "ui.yes" : "ui.no");
  if (typeof value === "string") return has(`choice.${value}`) ? say(`choice.${value}`) : value;
  return [value]
    .flat()
    .map((one) => show(one))
    .join(", ");
}

// ---- Files -------------------------------------------------------------------------------------

/**
 * The formula, with colours or without, to be compiled.
 * @type {(page: ComparePage, differing: FormulaDifference, coloured: boolean) => void}
 */
function saveLatex({ between, comparedSides }, { formula }, coloured) {
  const [base, other] = between.map((place) => labelOf(comparedSides, place));
  const { base: first, other: second, parameter } = PAPER_INKS;
  const inks = { base: paperColour(first), other: paperColour(second), parameter: paperColour(parameter) };
  const key = say(coloured ? "compare.latex_key" : "compare.latex_key_plain", { base, other });
  const text = latexOf(formula, key, coloured ? inks : null);
  saveAnswer({ name: "lossprism-formulas.tex", type: "text/x-tex", text });
}

/** @type {(differing: FormulaDifference) => import("./downloads.js").Rows} */
const csvOf = ({ code, formula }) => [
  ["kind", "base", "other"],
  ...code.map(({ kind, base_text, other_text }) => [kind, base_text, other_text]),
  ...formula.map((latex) => ["latex", plain(latex), ""]),
];

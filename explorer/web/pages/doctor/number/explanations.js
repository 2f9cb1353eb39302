// What the number may be: the likeliest in one sentence, with where to see it; the others folded.
import { Fold, Section, StackedTable } from "../../../kit/components.js";
import { show } from "../../../kit/number_format.js";
import { pageData } from "../../../kit/page_data.js";
import { h } from "../../../kit/preact_view.js";
import { numbered } from "../../../kit/state_link.js";
import { parameterName, say, titleOf } from "../../../kit/translated_sentences.js";
import { Card } from "../finding_card.js";

/** @typedef {import("../../../wire").NumberFinding} Finding */
/** @typedef {import("../../../wire").ExplainedLoss} Fitting */

const MOST_COMPARED = 6;

/** @param {{ page: import("../state.js").DoctorPage }} properties */
export function NumberReport({ page }) {
  const { explanation, explained } = page;
  if (!explanation || !explained) return null;
  const answers = answersOf(explanation, !page.isExample);
  const [first, ...others] = answers;
  return h(
    "div",
    h("p.lp-about", { "aria-live": "polite" }, aboutOf(page, answers.length)),
    h("ol.lp-findings", { class: explanation.fits ? "lp-answer" : undefined }, first),
    others.length
      ? h(
          Fold,
          { title: say(explanation.fits ? "doctor.other_answers" : "doctor.nearest", { count: others.length }) },
          h("ol.lp-findings", others),
        )
      : null,
    h(page.isExample ? Section : Fold, { title: say("doctor.examples") }, h(Examples, { page })),
  );
}

/**
 * @param {import("../state.js").DoctorPage} page
 * @param {number} count of the answers, the folded ones too
 */
function aboutOf({ explanation, isExample, explained }, count) {
  if (!explanation || !explained) return "";
  const { value, loss } = explained;
  if (isExample) return say("doctor.example_shown", { value, loss: titleOf(loss) });
  return explanation.fits ? say("doctor.may_be", { count }) : explanation.none;
}

/**
 * The cards of all answers, the likeliest first: where the number stands at counts that are known, what it
 * fits, what it says by itself.
 * @param {import("../../../wire").NumberExplained} explanation
 * @param {boolean} isAdvised whether each says what to do
 */
function answersOf({ fits, findings, standing, signs }, isAdvised) {
  const texts = [...new Set([...(standing ? [standing.said] : []), ...(fits ? [] : signs)])];
  const rest = fits ? signs.filter((sign) => !texts.includes(sign)) : [];
  return [
    ...texts.map((text) => h(Card, { text })),
    ...findings.map((finding) => h(FindingCard, { finding, isAdvised })),
    ...rest.map((text) => h(Card, { text })),
  ];
}

/** @param {{ finding: Finding, isAdvised: boolean }} properties */
function FindingCard({ finding: { kinds, value, said, beside, losses, more, exact, gap }, isAdvised }) {
  const [first, ...others] = losses;
  const head = [
    ...kinds.map((kind) => h(`span.lp-kind.lp-kind-${kind}`, say(`doctor.kind.${kind}`))),
    h("strong", show(value, 6)),
    exact ? null : h("small", say("doctor.gap", { gap: show(Math.abs(gap), 2) })),
  ];
  return h(
    Card,
    { text: said, more: beside, head, isAdvised },
    h("div.lp-row.lp-wrap", h(ScenarioLink, { fit: first }), h(CompareLink, { losses })),
    others.length
      ? h(
          Fold,
          { title: say("doctor.other_losses", { count: others.length + more }) },
          h(LossTable, { losses: others }),
          more ? h("p.lp-note", say("doctor.more", { count: more })) : null,
        )
      : null,
  );
}

/** @param {{ fit: Fitting }} properties */
const ScenarioLink = ({ fit: { scene, shows } }) =>
  scene === null ? null : h("a.lp-button", { href: `./#${scene}` }, say(`doctor.open.${shows}`));

/**
 * Leads to the losses that have the number, beside each other, on the batch of the first.
 * @param {{ losses: Fitting[] }} properties
 */
function CompareLink({ losses }) {
  const [{ scene }] = losses;
  const distinct = losses.filter(({ loss }, i) => losses.findIndex((one) => one.loss === loss) === i);
  if (scene === null || distinct.length < 2) return null;
  const shown = { picture: "numbers", scene };
  const query = new URLSearchParams([...numbered(distinct.slice(0, MOST_COMPARED)), ...Object.entries(shown)]);
  return h("a.lp-button", { href: `compare#${query}` }, say("doctor.compare"));
}

/** @param {{ losses: Fitting[] }} properties */
const LossTable = ({ losses }) =>
  h(StackedTable, {
    label: say("doctor.other_losses", { count: losses.length }),
    columns: ["loss", "counts", "kind", "doubled"].map((name) => ({ title: say(`doctor.column.${name}`) })),
    rows: losses.map(({ loss, convention, parameters, counted, kind, doubled }) => [
      [titleOf(loss), convention, ...settingsOf(parameters)].filter(Boolean).join(" · "),
      counted,
      say(`doctor.kind.${kind}`),
      show(doubled, 5),
    ]),
  });

/** @param {Record<string, unknown>} parameters */
const settingsOf = (parameters) =>
  Object.entries(parameters).map(
    ([name, value]) => `${parameterName(name)} ${typeof value === "number" ? show(value, 3) : value}`,
  );

/**
 * Numbers that others were stuck with, with what is known beside each; the one that is shown left out.
 * @param {{ page: import("../state.js").DoctorPage }} properties
 */
const Examples = ({ page }) =>
  h(
    "div.lp-row.lp-wrap.lp-doctor-tries",
    pageData.doctor.examples.slice(page.isExample ? 1 : 0).map((example) => {
      const { value, ...beside } = /** @type {Record<string, string>} */ (example);
      const more = Object.entries(beside).map(([name, one]) =>
        name === "loss" ? titleOf(one) : `${say(`doctor.known.${name}`)} ${one}`,
      );
      return h("button.lp-button", { onClick: () => page.begin(example) }, [value, ...more].join(" · "));
    }),
  );

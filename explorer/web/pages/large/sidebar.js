// The sidebar of the Large batch page: the loss with its parameters, where the pairs come from, how labels are read.

import { Fold, Section } from "../../kit/components.js";
import { LabelRules, SameTexts } from "../../kit/label_scale_and_duplicate_text_fields.js";
import { LossSelect } from "../../kit/loss_choice.js";
import { LossFinder } from "../../kit/loss_name_search.js";
import { leverOf } from "../../kit/main_parameter.js";
import { grouped, show as written } from "../../kit/number_format.js";
import { pageData } from "../../kit/page_data.js";
import { Parameters } from "../../kit/parameter_fields.js";
import { group, h, show } from "../../kit/preact_view.js";
import { say, titleOf } from "../../kit/translated_sentences.js";
import { DataFold } from "./sidebar/data.js";
import { FileDescription } from "./sidebar/file.js";

/** @typedef {import("./state.js").LargePage} LargePage */

const FAMILIES = ["split", "smooth", "linear", "in_batch"]; // how a loss is summed without its terms

/** @param {{ page: LargePage, description: FileDescription }} properties */
function Controls({ page, description }) {
  page.observe("state");
  const { wanted = "" } = pageData.large.losses[page.request.loss] ?? {};
  return group(
    h(LossSection, { page }),
    h(DataFold, { page, description, wanted }),
    wanted === "vectors" ? h(RulesFold, { page }) : null, // no other loss asks which pairs are positive
  );
}

/** @param {{ page: LargePage }} properties */
function LossSection({ page }) {
  const { losses, not_here: notHere } = pageData.large;
  const { loss, parameters: chosen, twins } = page.request;
  const spec = losses[loss];
  const parameters = spec?.parameters ?? [];
  const rest = parameters.filter((one) => one !== leverOf(parameters)); // the lever stands under the map
  const choose = (/** @type {string} */ one) => page.change({ loss: one, parameters: {} });
  const groups = FAMILIES.map((family) => ({
    label: say(`large.group.${family}`),
    losses: Object.entries(losses)
      .filter(([, one]) => one.family === family)
      .map(([name]) => [name, titleOf(name)]),
  }));
  return h(
    Section,
    { title: say("large.loss") },
    h(LossSelect, {
      id: "lp-large-loss",
      label: say("ui.loss"),
      value: loss,
      groups: groups.filter((one) => one.losses.length),
      change: choose,
    }),
    h(Parameters, {
      of: loss,
      parameters: rest,
      values: chosen,
      change: (name, value) => page.change({ parameters: { ...page.request.parameters, [name]: value } }),
    }),
    spec?.reads_texts
      ? h(SameTexts, { id: "lp-large-twins", value: twins, change: (next) => page.change({ twins: next }) })
      : null,
    h(
      Fold,
      { title: say("large.other_losses"), kind: "lp-fold" },
      h(LossFinder, { id: "lp-large-loss-name", choose, offered: (name) => name in losses }),
      h("p.lp-note", spec ? limitsOf(spec) : ""),
      Object.entries(notHere).map(([why, names]) =>
        h("p.lp-note", { key: why }, say(`large.not_here.${why}`, { losses: names })),
      ),
    ),
  );
}

/**
 * How many pairs a loss takes here, and how they are summed.
 * @param {typeof pageData.large.losses[string]} spec
 */
function limitsOf({ family, most, wanted, most_drawn: drawn }) {
  const sentences = [say(`large.family.${family}`, { most: grouped(most) })];
  if (wanted === "angles") sentences.push(say("large.angle_note", { drawn: grouped(drawn) }));
  return sentences.join(" ");
}

/** @param {{ page: LargePage }} properties */
function RulesFold({ page }) {
  page.observe("answer");
  const found = page.answer;
  return h(
    Fold,
    { title: say("ui.rules"), kind: "lp-fold" },
    h(LabelRules, {
      id: "lp-large-",
      chosen: page.request.rules,
      inForce: found?.rules,
      change: (rules) => page.change({ rules }),
    }),
    found
      ? h(
          "p.lp-note",
          say("rule.positives", {
            count: found.rules.positives,
            all: found.figures.pairs,
            threshold: written(found.rules.threshold),
          }),
        )
      : null,
  );
}

/** @type {(root: HTMLElement, page: LargePage) => void} */
export default function controls(root, page) {
  const description = new FileDescription(page);
  show(root, Controls, { page, description });
  // Also where reading it was stopped before.
  for (const topic of ["state", "answer", "language"]) page.on(topic, () => description.ask());
}

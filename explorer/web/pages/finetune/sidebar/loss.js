// The loss to train with: which one at first, and in the further settings its convention, parameters, models beside
// the encoder, and the other losses to train.

import { aboutOf } from "../../../kit/combined_loss_names_and_parts.js";
import { Fold } from "../../../kit/components.js";
import { ConventionSelect, groupsOf, LossSelect } from "../../../kit/loss_choice.js";
import { LossFinder } from "../../../kit/loss_name_search.js";
import { LossCombination } from "../../../kit/loss_sum_fields.js";
import { pageData } from "../../../kit/page_data.js";
import { Parameters } from "../../../kit/parameter_fields.js";
import { group, h } from "../../../kit/preact_view.js";
import { aboutTrials, valuesOf } from "../../../kit/short_training_offer_sentences.js";
import { say, titleOf } from "../../../kit/translated_sentences.js";
import { useState } from "../../../kit/vendor/preact/hooks.js";
import { Button, Note, NumberBox, ProblemLine, TextBox } from "../form_components.js";
import { lossOf } from "../plan_names.js";
import { agreedName } from "./encoder.js";

/** @typedef {{ page: import("../state.js").FinetunePage }} Page */
/** @typedef {import("../state.js").FinetunePage} FinetunePage */

/**
 * The losses that can learn from the data in their groups, then those that cannot.
 * @param {FinetunePage} page
 */
function lossGroups({ checked }) {
  const reasons = checked?.losses ?? {};
  const all = Object.entries(pageData.losses);
  const groups = groupsOf(Object.fromEntries(all.filter(([name]) => !reasons[name])));
  const unable = all.flatMap(([name]) => {
    const reason = reasons[name];
    return reason ? [{ name, title: titleOf(name), reason }] : [];
  });
  if (unable.length)
    groups.push({ label: say("finetune.unable"), losses: unable.map(({ name, title }) => [name, title]) });
  return { groups, unable };
}

/** @param {Page} properties */
export const LossFields = ({ page }) =>
  group(
    h(LossSelect, {
      id: "lp-finetune-loss",
      label: say("ui.loss"),
      value: page.plan.loss,
      groups: lossGroups(page).groups,
      change: (loss) => page.setPlan({ loss, convention: "", parameters: {} }),
    }),
    h(ProblemLine, { problem: page.checked?.refused ?? page.problemAt("loss") }),
    h(Note, { text: aboutOf(page.plan.loss) }),
  );

/** @param {Page} properties */
export const LossSettings = ({ page }) =>
  group(
    h(LossFinder, {
      id: "lp-finetune-loss-name",
      choose: (loss, convention) => page.setPlan({ loss, convention, parameters: {} }),
    }),
    h(LossCombination, {
      id: "lp-finetune-combine",
      loss: page.plan.loss,
      choose: (loss) => page.combine(loss),
    }),
    h(ConventionSelect, {
      id: "lp-finetune-convention",
      loss: page.plan.loss,
      convention: page.plan.convention,
      change: (convention) => page.setPlan({ convention, parameters: {} }),
    }),
    h(SecondModel, { page, kind: "guide" }),
    h(SecondModel, { page, kind: "teacher" }),
    h(PlanParameters, { page }),
    h(Trials, { page }),
    h("h3", say("finetune.kept")),
    h(LossList, { page }),
    h(NumberBox, { page, name: "seeds", take: (seeds) => page.setBeside({ seeds }) }),
    h(Refused, { page }),
  );

/** @param {Page} properties */
function PlanParameters({ page }) {
  const { loss, convention, parameters: values } = page.plan;
  const form = pageData.losses[loss]?.conventions[convention];
  if (!form) return null;
  return h(Parameters, {
    of: `${loss}|${convention}`,
    parameters: form.parameters,
    values,
    change: (name, value) => page.setPlan({ parameters: { ...page.plan.parameters, [name]: value } }),
  });
}

/**
 * A model that the loss asks beside the encoder that is trained.
 * @param {Page & { kind: "guide" | "teacher" }} properties
 */
function SecondModel({ page, kind }) {
  const { plan } = page;
  const entry = kind === "guide" ? "guide" : "teacher_model";
  const form = pageData.losses[plan.loss]?.conventions[plan.convention];
  const isAsked = Boolean(kind === "guide" ? form?.asks_guide : form?.asks_teacher);
  if (!isAsked && !plan[entry]) return null;
  return group(
    h(TextBox, {
      page,
      id: kind,
      name: say(`ui.${kind}`),
      value: plan[entry],
      put: (text) => ({ [entry]: agreedName(text) }),
    }),
    h(Note, { text: (kind === "guide" ? guideWords : teacherWords)(page, isAsked) }),
    h(ProblemLine, { problem: page.problemAt(kind) }),
  );
}

/** @type {(page: FinetunePage, isAsked: boolean) => string} */
const guideWords = ({ plan, checked }, isAsked) =>
  plan.guide
    ? say(isAsked ? "finetune.guide_about" : "finetune.no_guide_asked")
    : say(checked?.guide_unread ? "finetune.guide_unread" : "finetune.own_guide");

/** @type {(page: FinetunePage, isAsked: boolean) => string} */
function teacherWords({ plan, checked }, isAsked) {
  if (!plan.teacher_model) return say(checked?.taught ? "ui.teacher_given" : "ui.teacher_none");
  if (!isAsked) return say("finetune.no_teacher_asked");
  return checked?.asked ? say("finetune.teacher_about", { count: checked.asked }) : "";
}

/**
 * Which values of each number of the loss can be tried.
 * @param {Page} properties
 */
function Trials({ page }) {
  const [isTrying, setTrying] = useState(false);
  const { checked } = page;
  const offers = checked && !checked.error && !checked.refused ? checked.trials : [];
  /** @param {string} parameter */
  async function start(parameter) {
    setTrying(true);
    await page.tryValues(page.plan, parameter);
    setTrying(false);
  }
  return h(
    "div.lp-trials",
    offers.map((offer) =>
      h(Button, {
        key: offer.parameter,
        name: say("trials.try", { values: valuesOf(offer) }),
        disabled: isTrying || !offer.values.length,
        act: () => start(offer.parameter),
      }),
    ),
    offers.length ? h(Note, { text: aboutTrials(offers[0], "trials.about") }) : null,
  );
}

/**
 * The losses to be trained, of which the plan's stands in the controls, and a list to add one from.
 * @param {Page} properties
 */
function LossList({ page }) {
  const forms = page.chosenForms();
  const now = page.beside.before.length;
  /** @param {number} place */
  const leave = (place) =>
    page.putForms(
      forms.filter((_, other) => other !== place),
      place === now ? Math.max(place - 1, 0) : now - Number(place < now),
    );
  return group(
    h(
      "ul.lp-kept",
      { "aria-label": say("finetune.kept") },
      forms.map((form, place) => {
        const name = lossOf(form);
        const without = say("finetune.unkeep", { name });
        return h(
          "li",
          { key: place },
          h(
            "button.lp-kept-name",
            {
              "aria-pressed": place === now ? "true" : "false",
              title: say("finetune.edit", { name }),
              onClick: () => page.putForms(forms, place),
            },
            name,
          ),
          forms.length > 1
            ? h("button.lp-quiet", { "aria-label": without, title: without, onClick: () => leave(place) }, "✕")
            : null,
        );
      }),
    ),
    h(LossSelect, {
      id: "lp-finetune-another",
      label: say("finetune.another"),
      value: "",
      groups: lossGroups(page).groups,
      first: say("finetune.another"),
      change: (loss) => page.putForms([...forms, { loss, convention: "", parameters: {} }]),
    }),
  );
}

/**
 * Why the other losses cannot learn from the data.
 * @param {Page} properties
 */
function Refused({ page }) {
  const { unable } = lossGroups(page);
  if (!unable.length) return null;
  return h(
    Fold,
    { title: say("finetune.refused", { count: unable.length }), kind: "lp-refused" },
    h(
      "ul.lp-rules",
      unable.map(({ name, title, reason }) =>
        h("li", { key: name }, h("b", `${title}: `), say(reason.key, reason.values)),
      ),
    ),
  );
}

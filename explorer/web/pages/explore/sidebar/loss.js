// The loss: which one, in whose convention, what it asks beside the encoder, and its settings.

import { carriedOver } from "../../../kit/combined_loss_names_and_parts.js";
import { addressFor } from "../../../kit/compare_link.js";
import { Fold, Section } from "../../../kit/components.js";
import { reveal } from "../../../kit/dom.js";
import { ConventionSelect, groupsOf, LossSelect } from "../../../kit/loss_choice.js";
import { LossFinder } from "../../../kit/loss_name_search.js";
import { LossCombination } from "../../../kit/loss_sum_fields.js";
import { leverOf } from "../../../kit/main_parameter.js";
import { guideWords, teacherWords } from "../../../kit/model_names_as_shown.js";
import { pageData } from "../../../kit/page_data.js";
import { Parameters } from "../../../kit/parameter_fields.js";
import { isChosen, parameterValue } from "../../../kit/parameter_value_or_default.js";
import { group, h } from "../../../kit/preact_view.js";
import { shareable } from "../../../kit/secret_redaction.js";
import { say, titleOf } from "../../../kit/translated_sentences.js";
import { useLayoutEffect, useRef } from "../../../kit/vendor/preact/hooks.js";

/** @typedef {import("../state.js").ExplorePage} ExplorePage */
/** @typedef {import("../../../kit/types").Asking<import("../../../wire").ExploreServer>} Server */
/** @typedef {{ page: ExplorePage, server: Server }} Properties */

/** @param {Properties} properties */
export function LossSection({ page, server }) {
  page.observe("scenario");
  const isUnscored = page.isUnscored;
  return h(
    Section,
    { title: say("ui.loss") },
    h(LossSelect, {
      id: "lp-loss",
      label: say("ui.loss"),
      value: page.scenario.loss,
      groups: groupsOf(pageData.losses, (name, { learns_from_positives }) => {
        const title = titleOf(name);
        return isUnscored && !learns_from_positives ? say("ui.needs_scores", { name: title }) : title;
      }),
      change: (loss) => page.choose(loss),
    }),
    h(Needs, { page }),
    h(OtherLosses, { page, server }),
    h(Settings, { page }),
  );
}

/** @param {ExplorePage} page */
export const hasTexts = ({ scenario, batch }) => scenario.data.source !== "random" && batch?.editable !== false;

/**
 * What the loss asks beside the encoder, and whether the batch has it.
 * @param {{ page: ExplorePage }} properties
 */
function Needs({ page }) {
  page.observe("scenario", "batch", "picture", "problem");
  const { form, batch, scenario, problem } = page;
  const { data } = scenario;
  const isShown = batch !== null && problem === null; // while there is a problem the batch is that of an earlier scenario
  const lacksOwn = form.knows_owners && batch?.owned === 0 && speaksOfOwn(page);
  if (!form.asks_guide && !form.asks_teacher && !lacksOwn) return null;
  /** @type {(id: string, key: string) => import("preact").VNode | null} */
  const choose = (id, key) => (hasTexts(page) ? h("button.lp-button", { onClick: () => reveal(id) }, say(key)) : null);
  return h(
    "div.lp-panel",
    form.asks_guide
      ? group(isShown ? h("p.lp-note", guideWords(data, batch.guided)) : null, choose("lp-guide", "ui.choose_guide"))
      : null,
    form.asks_teacher
      ? group(
          isShown ? h("p.lp-note", teacherWords(data, batch.taught)) : null,
          choose("lp-teacher", "ui.choose_teacher"),
        )
      : null,
    lacksOwn ? h("p.lp-note", say("ui.no_own_negatives")) : null,
  );
}

/** @type {(page: ExplorePage) => boolean} Whether a parameter in force is about a query's own hard negatives. */
const speaksOfOwn = ({ form, scenario }) =>
  form.parameters.some(
    (parameter) =>
      parameter.without_owners !== null && parameterValue(parameter, scenario.parameters) !== parameter.without_owners,
  );

/**
 * A loss by another name, in another convention, added to others, beside another.
 * @param {Properties} properties
 */
function OtherLosses({ page, server }) {
  const { loss, convention } = page.scenario;
  const fold = useOpened(Boolean(convention) || loss.includes("+"), `${loss}|${convention}`);
  return h(
    Fold,
    { title: say("ui.other_losses"), kind: "lp-fold", root: fold },
    h(LossFinder, { id: "lp-loss-name", choose: (one, name) => page.choose(one, name) }),
    h(ConventionSelect, { id: "lp-convention", loss, convention, change: (name) => page.choose(loss, name) }),
    h(LossCombination, { id: "lp-combine", loss, choose: (sum) => chooseSum(page, sum) }),
    h(LossSelect, {
      id: "lp-compare-with",
      label: say("ui.compare_with"),
      value: "",
      groups: groupsOf(pageData.losses),
      first: say("ui.compare_with"),
      change: (other) => compareWith(page, server, other),
    }),
  );
}

/** @type {(page: ExplorePage, sum: string) => Promise<void>} */
async function chooseSum(page, sum) {
  await page.learn(sum);
  const { loss, parameters } = page.scenario;
  page.choose(sum, "", carriedOver(loss, parameters, sum));
}

/**
 * Lead to Compare, with the batch that is here.
 * @type {(page: ExplorePage, server: Server, other: string) => Promise<void>}
 */
async function compareWith(page, server, other) {
  const { scenario } = page;
  const { loss, convention, parameters } = scenario;
  const sides = [
    { loss, convention, parameters },
    { loss: other, convention: "", parameters: {} },
  ];
  const { shared, isWhole } = shareable(scenario);
  const answer = await server.link(shared);
  if (!page.check(answer)) return;
  const most = isWhole ? pageData.limits.link : 0;
  location.href = addressFor(sides, { link: answer.link ?? "", most, scenario });
}

/**
 * All parameters but the lever, which stands under the picture.
 * @param {{ page: ExplorePage }} properties
 */
function Settings({ page }) {
  page.observe("pointed");
  const { form, scenario } = page;
  const { loss, convention, parameters: chosen } = scenario;
  const lever = leverOf(form.parameters);
  const rest = form.parameters.filter((one) => one !== lever);
  const isAnyChosen = rest.some((one) => isChosen(one, chosen));
  const fold = useOpened(isAnyChosen, `${loss}|${convention}|${isAnyChosen}`);
  return h(
    Fold,
    { title: say("ui.more_settings", { count: rest.length }), kind: "lp-fold", root: fold, hidden: !rest.length },
    h(Parameters, {
      of: `${loss}|${convention}`,
      parameters: rest,
      values: chosen,
      lit: page.pointed.part?.of,
      change: (name, value) => page.setParameter(name, value),
    }),
  );
}

/**
 * A reference to a fold that opens where `isOpen`, each time `key` changes; the reader may close it.
 * @param {boolean} isOpen
 * @param {string} key
 */
function useOpened(isOpen, key) {
  const fold = useRef(/** @type {HTMLDetailsElement | null} */ (null));
  useLayoutEffect(() => {
    if (isOpen && fold.current) fold.current.open = true;
  }, [key]);
  return fold;
}

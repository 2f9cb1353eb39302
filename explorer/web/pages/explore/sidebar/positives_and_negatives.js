// How labels and texts of the batch are read: what is a positive, which candidates count, what stands in twice.

import { Checkbox, Field, Fold } from "../../../kit/components.js";
import { LabelRules, SameTexts, targetsOf } from "../../../kit/label_scale_and_duplicate_text_fields.js";
import { show } from "../../../kit/number_format.js";
import { h } from "../../../kit/preact_view.js";
import { say } from "../../../kit/translated_sentences.js";

/** @typedef {import("../state.js").ExplorePage} ExplorePage */

/** @param {{ page: ExplorePage }} properties */
export function RulesFold({ page }) {
  page.observe("scenario", "batch");
  const { batch, scenario, form } = page;
  const { rules } = scenario;
  /** @type {(changed: Parameters<ExplorePage["set"]>[0]["rules"]) => void} */
  const set = (changed) => page.set({ rules: changed }, { announce: false });
  return h(
    Fold,
    { title: say("ui.rules"), kind: "lp-fold" },
    h(LabelRules, {
      id: "lp-",
      chosen: rules,
      inForce: batch ?? undefined,
      change: (changed) => page.set({ rules: changed }),
    }),
    h("ul.lp-rules", batch && consequencesOf(batch).map((line) => h("li", { key: line }, line))),
    h(Checkbox, {
      name: say("ui.extra_negatives"),
      checked: rules.extra_negatives,
      change: (extra) => set({ extra_negatives: extra }),
    }),
    form.counted
      ? h(SameTexts, { id: "lp-twins", value: rules.twins, change: (twins) => page.set({ rules: { twins } }) })
      : null,
    h(
      Field,
      { name: say("ui.prototypes") },
      h("textarea", {
        rows: 2,
        spellcheck: false,
        value: rules.prototypes,
        onChange: (event) => set({ prototypes: event.currentTarget.value }),
      }),
    ),
  );
}

/**
 * What follows from the rules for the batch that is shown.
 * @param {import("../../../wire").ExploredBatch} batch
 */
function consequencesOf(batch) {
  const { positives, labels, threshold, negatives, owned, classes, sentences, dimension } = batch;
  return [
    say("rule.positives", { count: positives, all: labels.length, threshold: show(threshold) }),
    say("rule.negatives", { count: negatives }),
    owned ? say("rule.owned", { count: owned }) : "",
    say("rule.classes", { count: classes, sentences: sentences.length }),
    say(dimension ? "rule.vectors" : "rule.no_vectors", { dimension }),
    batch.orthogonal ? say("rule.orthogonal") : "",
    batch.given ? say("rule.given") : "",
    targetsOf(batch.label_range),
    say("rule.levels"),
    say("rule.logits"),
  ].filter(Boolean);
}

// How the training goes: its length, rate, batches and labels.

import { Checkbox, Select } from "../../../kit/components.js";
import { LabelRules, SameTexts, targetsOf } from "../../../kit/label_scale_and_duplicate_text_fields.js";
import { show } from "../../../kit/number_format.js";
import { pageData } from "../../../kit/page_data.js";
import { group, h } from "../../../kit/preact_view.js";
import { Slider } from "../../../kit/slider.js";
import { say } from "../../../kit/translated_sentences.js";
import { Note, NumberBox } from "../form_components.js";

/** @typedef {{ page: import("../state.js").FinetunePage }} Page */
/** @typedef {import("../../../wire").RecordedPlan} Plan */

const LENGTH = ["steps", "batch_size", "learning_rate"];
const FURTHER = ["warmup", "weight_decay", "clipping", "evaluations", "seed"];

/** @param {Page} properties */
export function DataSettings({ page }) {
  const { data } = page.plan;
  if (data.source === "file" && data.held_out_file) return null;
  return h(Slider, {
    entry: page.store.entry("plan.data.held_out_share"),
    value: data.held_out_share,
    title: "finetune.held_out_share",
    name: "held_out_share",
    low: 0.05,
    high: 0.5,
    step: 0.05,
    change: (share) => page.setPlan({ data: { held_out_share: share } }),
  });
}

/** @param {Page} properties */
export const TrainingSettings = ({ page }) =>
  group(
    h(
      "div.lp-pair-of-fields",
      h(NumberBox, { page, name: "epochs", take: (epochs) => page.setPlan({ epochs, steps: 0 }) }),
      LENGTH.map((name) => h(NumberBox, { key: name, page, name })),
    ),
    h(Note, { id: "lp-finetune-rows", text: rowsWords(page) }),
    h(Note, { text: rateWords(page) }),
    h(Select, {
      id: "lp-finetune-schedule",
      name: say("finetune.schedule"),
      value: page.plan.schedule,
      options: pageData.finetune.schedules.map((name) => [name, say(`finetune.schedule.${name}`)]),
      change: (schedule) => page.setPlan({ schedule: /** @type {Plan["schedule"]} */ (schedule) }),
    }),
    h(
      "div.lp-pair-of-fields",
      FURTHER.map((name) => h(NumberBox, { key: name, page, name })),
    ),
    h(Labels, { page }),
    h(Sampler, { page }),
    h(Twins, { page }),
    h(Switches, { page }),
  );

/** @param {import("../state.js").FinetunePage} page */
function rowsWords({ checked }) {
  const { form = "pairs", examples = 0 } = checked ?? {};
  return form === "pairs" ? "" : say(`finetune.rows.${form}`, { count: examples });
}

/** @param {import("../state.js").FinetunePage} page */
const rateWords = ({ plan, checked }) =>
  plan.learning_rate || !checked?.rate ? "" : say("finetune.usual_rate", { rate: show(checked.rate) });

/** @param {Page} properties */
const Labels = ({ page }) =>
  group(
    h(LabelRules, {
      id: "lp-finetune-",
      chosen: page.plan,
      inForce: page.checked?.rules ?? undefined,
      change: (change) => page.setPlan(change),
    }),
    page.checked?.rules ? h(Note, { text: targetsOf(page.checked.rules.label_range) }) : null,
  );

/** @param {Page} properties */
const Sampler = ({ page }) =>
  h(Select, {
    id: "lp-finetune-sampler",
    name: say("finetune.sampler"),
    value: page.plan.sampler,
    options: [
      ["", say("finetune.sampler.usual")],
      ...pageData.finetune.samplers.map((name) => [name, say(`sampler.${name}`)]),
    ],
    change: (sampler) => page.setPlan({ sampler: /** @type {Plan["sampler"]} */ (sampler) }),
  });

/**
 * What becomes of a text that would stand in a batch twice; nothing where there is no choice.
 * @param {Page} properties
 */
function Twins({ page }) {
  const { plan } = page;
  const form = pageData.losses[plan.loss]?.conventions[plan.convention];
  // A sampler that was chosen decides whether texts are kept apart.
  const isUsual = plan.sampler === "";
  const able = [...(isUsual ? ["apart"] : []), ...(form?.counted ? ["leave_out"] : []), "keep"];
  if (!form?.negatives_of_batch || able.length < 2 || plan.sampler === "no_duplicates") return null;
  const chosen = able.includes(plan.twins) ? plan.twins : isUsual ? "apart" : "keep";
  return h(SameTexts, {
    id: "lp-finetune-twins",
    value: chosen,
    names: able,
    change: (twins) => page.setPlan({ twins: /** @type {Plan["twins"]} */ (twins) }),
  });
}

/** @param {Page} properties */
function Switches({ page }) {
  const { plan } = page;
  const { augment } = plan.data;
  return group(
    h(Checkbox, {
      id: "lp-finetune-bf16",
      name: say("finetune.bf16"),
      checked: plan.bf16,
      change: (bf16) => page.setPlan({ bf16 }),
    }),
    h(Checkbox, {
      id: "lp-finetune-extra_negatives",
      name: say("ui.extra_negatives"),
      checked: plan.extra_negatives,
      change: (isOn) => page.setPlan({ extra_negatives: isOn }),
    }),
    pageData.finetune.augmentations.map((kind) =>
      h(Checkbox, {
        key: kind,
        id: `lp-finetune-${kind}`,
        name: say(`finetune.augment.${kind}`),
        checked: augment.includes(kind),
        change: (isOn) => {
          const others = augment.filter((one) => one !== kind);
          page.setPlan({ data: { augment: isOn ? [...others, kind] : others } });
        },
      }),
    ),
  );
}

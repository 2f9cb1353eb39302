// How the training goes: its length, rate, batches and labels.
import { Checkbox, Select, Slider } from "../../kit/components.js";
import { targetsOf } from "../../kit/label_rules.js";
import { show } from "../../kit/number_format.js";
import { pageData } from "../../kit/page_data.js";
import { group, h } from "../../kit/preact_view.js";
import { LabelRules, SameTexts } from "../../kit/scenario_fields.js";
import { say } from "../../kit/words.js";
import { Note, NumberBox } from "./fields.js";

/** @typedef {{ channel: import("./state.js").FinetunePage }} Page */
/** @typedef {import("../../wire").RecordedPlan} Plan */

const LENGTH = ["steps", "batch_size", "learning_rate"];
const FURTHER = ["warmup", "weight_decay", "clipping", "evaluations", "seed"];

/** @param {Page} properties */
export function DataSettings({ channel }) {
  const { data } = channel.plan;
  const entry = channel.store.table.get("plan.data.held_out_share");
  if (!entry || (data.source === "file" && data.held_out_file)) return null;
  return h(Slider, {
    entry,
    value: data.held_out_share,
    title: "finetune.held_out_share",
    name: "held_out_share",
    low: 0.05,
    high: 0.5,
    step: 0.05,
    change: (share) => channel.setPlan({ data: { held_out_share: share } }),
  });
}

/** @param {Page} properties */
export const TrainingSettings = ({ channel }) =>
  group(
    h(
      "div.lp-pair-of-fields",
      null,
      h(NumberBox, { channel, name: "epochs", take: (epochs) => channel.setPlan({ epochs, steps: 0 }) }),
      LENGTH.map((name) => h(NumberBox, { key: name, channel, name })),
    ),
    h(Note, { id: "lp-finetune-rows", text: rowsWords(channel) }),
    h(Note, { text: rateWords(channel) }),
    h(Select, {
      id: "lp-finetune-schedule",
      name: say("finetune.schedule"),
      value: channel.plan.schedule,
      options: pageData.finetune.schedules.map((name) => [name, say(`finetune.schedule.${name}`)]),
      change: (schedule) => channel.setPlan({ schedule: /** @type {Plan["schedule"]} */ (schedule) }),
    }),
    h(
      "div.lp-pair-of-fields",
      null,
      FURTHER.map((name) => h(NumberBox, { key: name, channel, name })),
    ),
    h(Labels, { channel }),
    h(Sampler, { channel }),
    h(Twins, { channel }),
    h(Switches, { channel }),
  );

/** @param {import("./state.js").FinetunePage} channel */
function rowsWords({ checked }) {
  const { form = "pairs", examples = 0 } = checked ?? {};
  return form === "pairs" ? "" : say(`finetune.rows.${form}`, { count: examples });
}

/** @param {import("./state.js").FinetunePage} channel */
const rateWords = ({ plan, checked }) =>
  plan.learning_rate || !checked?.rate ? "" : say("finetune.usual_rate", { rate: show(checked.rate) });

/** @param {Page} properties */
const Labels = ({ channel }) =>
  group(
    h(LabelRules, {
      id: "lp-finetune-",
      chosen: channel.plan,
      inForce: channel.checked?.rules ?? undefined,
      change: (change) => channel.setPlan(change),
    }),
    channel.checked?.rules ? h(Note, { text: targetsOf(channel.checked.rules.label_range) }) : null,
  );

/** @param {Page} properties */
const Sampler = ({ channel }) =>
  h(Select, {
    id: "lp-finetune-sampler",
    name: say("finetune.sampler"),
    value: channel.plan.sampler,
    options: [
      ["", say("finetune.sampler.usual")],
      ...pageData.finetune.samplers.map((name) => [name, say(`sampler.${name}`)]),
    ],
    change: (sampler) => channel.setPlan({ sampler: /** @type {Plan["sampler"]} */ (sampler) }),
  });

/**
 * What becomes of a text that would stand in a batch twice; nothing where there is no choice.
 * @param {Page} properties
 */
function Twins({ channel }) {
  const { plan } = channel;
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
    change: (twins) => channel.setPlan({ twins: /** @type {Plan["twins"]} */ (twins) }),
  });
}

/** @param {Page} properties */
function Switches({ channel }) {
  const { plan } = channel;
  const { augment } = plan.data;
  return group(
    h(Checkbox, {
      id: "lp-finetune-bf16",
      name: say("finetune.bf16"),
      checked: plan.bf16,
      change: (bf16) => channel.setPlan({ bf16 }),
    }),
    h(Checkbox, {
      id: "lp-finetune-extra_negatives",
      name: say("ui.extra_negatives"),
      checked: plan.extra_negatives,
      change: (isOn) => channel.setPlan({ extra_negatives: isOn }),
    }),
    pageData.finetune.augmentations.map((kind) =>
      h(Checkbox, {
        key: kind,
        id: `lp-finetune-${kind}`,
        name: say(`finetune.augment.${kind}`),
        checked: augment.includes(kind),
        change: (isOn) => {
          const others = augment.filter((one) => one !== kind);
          channel.setPlan({ data: { augment: isOn ? [...others, kind] : others } });
        },
      }),
    ),
  );
}

// What a plan of training is called, in the page's words: its encoder, its data, its loss, and what
// tells it apart from others.

import { show } from "../../kit/number_format.js";
import { pageData } from "../../kit/page_data.js";
import { parameterValue } from "../../kit/parameter_value_or_default.js";
import { has, parameterName, say, titleOf } from "../../kit/translated_sentences.js";

/** @typedef {import("../../wire").RecordedPlan} Plan */
/** @typedef {import("./state.js").PagePlan} PagePlan */
/** @typedef {import("./state.js").Form} Form */
/** @typedef {import("../../wire").Setting} Setting */

// These tell nothing: the loss is named anyway, the seed apart, and the rest only watches.
const UNNAMED_SETTINGS = new Set(["loss", "own_loss", "seed", "evaluations", "checkpoint_seconds"]);

/** @param {Pick<Plan, "encoder">} plan */
export const encoderNamed = ({ encoder }) =>
  encoder === pageData.finetune.scratch ? say("finetune.encoder.scratch") : encoder;
/** @param {Pick<Plan, "encoder" | "dimension" | "kind">} plan */
export const encoderOf = (plan) =>
  `${encoderNamed(plan)}${plan.encoder === pageData.finetune.scratch ? ` (${plan.dimension})` : ""} · ${say(`finetune.kind.${plan.kind}`)}`;

/** @param {Pick<Plan, "data">} plan */
export function dataOf({ data }) {
  const name = data.source === "example" ? data.example : data.source === "hub" ? data.hub : data.name;
  return has(`example.${name}.title`) ? say(`example.${name}.title`) : name;
}

/**
 * The data of a plan that names ready-made pairs.
 * @param {string} name of a practice set or of a textbook example
 */
export const readyMade = (name) =>
  pageData.finetune.practice.includes(name)
    ? { source: "practice", practice: name }
    : { source: "example", example: name };

/** @param {Setting} value */
function settingOf(value) {
  if (value === null) return say("ui.off");
  if (typeof value === "boolean") return say(value ? "ui.yes" : "ui.no");
  if (Array.isArray(value)) return value.map((one) => show(one)).join(", ");
  return typeof value === "number" ? show(value) : has(`choice.${value}`) ? say(`choice.${value}`) : String(value);
}
/** @param {[string, Setting]} parameter */
const parameterIs = ([name, value]) => `${parameterName(name)} = ${settingOf(value)}`;

/** @type {(form: Form) => string} The convention and the parameters of a loss; "" where none was chosen. */
export const settingsOf = ({ convention, parameters }) =>
  [convention, ...Object.entries(parameters).map(parameterIs)].filter(Boolean).join(" · ");
/** @type {(form: Form) => string} A loss with the parameters that were chosen, or with all that it has. */
export const lossOf = (form) => [titleOf(form.loss), settingsOf(form)].filter(Boolean).join(" · ");
/** @param {Form} form */
export function wholeLossOf({ loss, convention, parameters }) {
  const usual = pageData.losses[loss]?.conventions[convention]?.parameters ?? [];
  return lossOf({
    loss,
    convention,
    parameters: Object.fromEntries(usual.map((one) => [one.name, parameterValue(one, parameters)])),
  });
}

// One entry of a plan, where it differs from that of another; "" where it is as usual.
/** @type {Partial<Record<keyof Plan, (plan: Plan) => string>>} */
const SETTING_WORDS = {
  encoder: encoderNamed,
  kind: ({ kind }) => say(`finetune.kind.${kind}`),
  query_prompt: ({ query_prompt: text }) => (text ? `${say("finetune.query_prompt")}: ${text}` : ""),
  document_prompt: ({ document_prompt: text }) => (text ? `${say("finetune.document_prompt")}: ${text}` : ""),
  guide: ({ guide }) => (guide ? say("ui.guide_now", { name: guide }) : ""),
  teacher_model: (plan) => (plan.teacher_model ? say("ui.teacher_now", { name: plan.teacher_model }) : ""),
  data: (plan) => dataOf(plan),
  convention: ({ convention }) => convention,
  parameters: ({ parameters }) => Object.entries(parameters).map(parameterIs).join(" · "),
  batch_size: (plan) => say("finetune.batch_of", { count: plan.batch_size }),
  steps: ({ steps }) => (steps ? say("finetune.steps_count", { steps }) : ""),
  schedule: ({ schedule }) => say(`finetune.schedule.${schedule}`),
  layers: ({ layers }) => (layers < 0 ? "" : say("finetune.layers_in_words", { count: layers })),
  lora: ({ lora }) => (lora ? say("finetune.lora_in_words", { rank: lora }) : ""),
  bf16: ({ bf16 }) => (bf16 ? "bfloat16" : ""),
  extra_negatives: (plan) => `${say("ui.extra_negatives")}: ${settingOf(plan.extra_negatives)}`,
  twins: ({ twins }) => `${say("ui.twins")}: ${say(`ui.twins.${twins}`)}`,
  sampler: ({ sampler }) => (sampler ? say(`sampler.${sampler}`) : ""),
  threshold: ({ threshold }) => (threshold === null ? "" : `${say("ui.threshold")} = ${show(threshold)}`),
  label_range: ({ label_range: ends }) =>
    ends ? say("finetune.labels_in_words", { low: show(ends[0]), high: show(ends[1]) }) : "",
  learning_rate: ({ learning_rate: rate }) => (rate ? `${say("finetune.learning_rate")} = ${show(rate)}` : ""),
};
/** @type {(plan: Plan, key: keyof Plan) => string} */
const settingName = (plan, key) =>
  SETTING_WORDS[key]?.(plan) ?? `${say(`finetune.${key}`)} = ${show(Number(plan[key]))}`;

/**
 * For each plan its loss, and whatever else tells it apart from the others but the seed.
 * @param {Plan[]} plans
 */
export function distinctNames(plans) {
  const keys = /** @type {(keyof Plan)[]} */ (Object.keys(plans[0] ?? {}));
  const differ = keys.filter(
    (key) => !UNNAMED_SETTINGS.has(key) && new Set(plans.map((plan) => JSON.stringify(plan[key]))).size > 1,
  );
  return plans.map((plan) =>
    [titleOf(plan.loss), ...differ.map((key) => settingName(plan, key))].filter(Boolean).join(" · "),
  );
}

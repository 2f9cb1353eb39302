// The button that begins: which encoder, how many losses and seeds, how long it takes.
import { show } from "../../../kit/number_format.js";
import { h } from "../../../kit/preact_view.js";
import { say } from "../../../kit/translated_sentences.js";
import { Button, Note, ProblemLine } from "../form_components.js";
import { encoderOf, lossOf } from "../plan_names.js";

/** @typedef {import("../state.js").FinetunePage} FinetunePage */

/** @param {{ page: FinetunePage, trial: ReturnType<typeof import("../time_estimate.js").timeTrial> }} properties */
export function StartBox({ page, trial }) {
  page.observe("problem", "starting", "pace", "runs");
  const { checked, isStarting } = page;
  const forms = page.distinctForms();
  const count = forms.length * page.beside.seeds;
  const { steps, minutes } = checked ?? {};
  const time = steps
    ? [trial.sentence(count), minutes ? say("finetune.shared_time", { minutes }) : ""].filter(Boolean).join(" ")
    : "";
  const refusal = checked?.error ?? checked?.refused ?? trial.failure();
  const isUnfilled = !page.notice && refusal?.about === "unfilled"; // until the button is tried, nothing is wrong
  const name = isStarting ? "finetune.starting" : count > 1 ? "finetune.start_many" : "finetune.start";
  return h(
    "div.lp-start-box",
    h(Button, {
      id: "lp-finetune-start",
      kind: "lp-start",
      name: say(name, { count }),
      disabled: isStarting,
      act: () => page.startChosen(),
    }),
    h("p.lp-note.lp-summary", summaryOf(page, forms, count)),
    h(ProblemLine, { problem: page.notice ?? (isUnfilled ? null : refusal) }),
    h(Note, { id: "lp-finetune-time", role: "status", text: isUnfilled ? say(refusal.key) : time }),
  );
}

/**
 * What the button will do.
 * @param {FinetunePage} page
 * @param {import("../state.js").Form[]} forms
 * @param {number} count of the runs
 */
function summaryOf({ plan, beside, checked }, forms, count) {
  const { steps, examples = 1 } = checked ?? {};
  const { seeds } = beside;
  const isProduct = forms.length > 1 && seeds > 1;
  return [
    encoderOf(plan),
    isProduct ? say("finetune.product", { losses: forms.length, seeds, count }) : forms.map(lossOf).join(", "),
    steps
      ? say("finetune.steps_of", {
          steps,
          batch: plan.batch_size,
          epochs: show((steps * plan.batch_size) / examples, 2),
        })
      : "",
  ]
    .filter(Boolean)
    .join(" · ");
}

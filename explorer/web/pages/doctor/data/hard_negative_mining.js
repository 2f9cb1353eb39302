// Hard negatives that an encoder finds in a dataset: how many and how far, as a file or as a call to paste.
import { Field, Paste, useDraft } from "../../../kit/components.js";
import { pageData } from "../../../kit/page_data.js";
import { h } from "../../../kit/preact_view.js";
import { useState } from "../../../kit/vendor/preact/hooks.js";
import { say } from "../../../kit/words.js";

/** @typedef {import("./check.js").DataCheck} DataCheck */

/**
 * Hard negatives by the encoder, as a file or as a call of sentence-transformers to paste.
 * @param {{ data: DataCheck }} properties
 */
export function Mining({ data }) {
  const [settings, choose] = useState(data.mining);
  const { negatives, margin } = pageData.doctor.mining;
  /** @param {Partial<DataCheck["mining"]>} change */
  function set(change) {
    data.mining = { ...data.mining, ...change };
    choose(data.mining);
  }
  const share = settings.margin ? `, relative_margin=${settings.margin}` : "";
  return h(
    "div.lp-mining",
    h("h2", say("doctor.mine")),
    h("p.lp-about", say("doctor.mine_about")),
    h(
      "div.lp-row.lp-wrap",
      h(MiningBox, { name: "negatives", title: "doctor.mine_each", ends: negatives, step: 1, settings, set }),
      h(MiningBox, { name: "margin", title: "doctor.mine_margin", ends: margin, step: 0.01, settings, set }),
      h("button.lp-button", { onClick: () => data.mine() }, say("doctor.take_mined")),
    ),
    h(Paste, { text: `mine_hard_negatives(dataset, model, num_negatives=${settings.negatives}${share})` }),
  );
}

/**
 * @param {{ name: keyof DataCheck["mining"], title: string, ends: readonly number[], step: number,
 *   settings: DataCheck["mining"], set: (change: Partial<DataCheck["mining"]>) => void }} properties
 */
function MiningBox({ name, title, ends: [low, high], step, settings, set }) {
  const draft = useDraft(String(settings[name]));
  return h(
    Field,
    { name: say(title) },
    h("input", {
      type: "number",
      id: `lp-doctor-mine-${name}`,
      min: low,
      max: high,
      step,
      value: draft.now,
      onInput: ({ currentTarget: box }) => {
        draft.now = box.value;
        const isGood = box.validity.valid && box.value !== "";
        box.classList.toggle("lp-bad", !isGood);
        if (isGood) set({ [name]: Number(box.value) });
      },
    }),
  );
}

// Hard negatives that an encoder finds in a dataset: how many and how far, as a file or as a call to paste.
import { NumberBox, Paste } from "../../../kit/components.js";
import { pageData } from "../../../kit/page_data.js";
import { h } from "../../../kit/preact_view.js";
import { say } from "../../../kit/translated_sentences.js";
import { useState } from "../../../kit/vendor/preact/hooks.js";

/** @typedef {import("./check_state_and_requests.js").DataCheck} DataCheck */

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
  /** @type {(name: keyof DataCheck["mining"], title: string, limits: readonly number[], step: number) => import("preact").VNode} */
  const box = (name, title, [low, high], step) =>
    h(NumberBox, {
      ...{ id: `lp-doctor-mine-${name}`, name: say(title), value: String(settings[name]), low, high, step },
      change: (value) => set({ [name]: Number(value) }),
    });
  const share = settings.margin ? `, relative_margin=${settings.margin}` : "";
  return h(
    "div.lp-mining",
    h("h2", say("doctor.mine")),
    h("p.lp-about", say("doctor.mine_about")),
    h(
      "div.lp-row.lp-wrap",
      box("negatives", "doctor.mine_each", negatives, 1),
      box("margin", "doctor.mine_margin", margin, 0.01),
      h("button.lp-button", { onClick: () => data.mine() }, say("doctor.take_mined")),
    ),
    h(Paste, { text: `mine_hard_negatives(dataset, model, num_negatives=${settings.negatives}${share})` }),
  );
}

// What stands in the place of a run while none is chosen: one button that shows a training, and what the plan on
// the left would learn from.
import { show } from "../../kit/number_format.js";
import { pageData } from "../../kit/page_data.js";
import { h } from "../../kit/preact_view.js";
import { say } from "../../kit/translated_sentences.js";
import { Button, Note } from "./form_components.js";

/** @typedef {{ page: import("./state.js").FinetunePage }} Page */

/** @param {Page} properties */
export const Invitation = ({ page }) =>
  h(
    "section.lp-invitation",
    h("h1", say("finetune.title")),
    h("p.lp-about", say("finetune.invitation")),
    h(
      "div.lp-row.lp-wrap",
      h(Button, {
        id: "lp-finetune-quick",
        kind: "lp-start",
        name: say("finetune.quick"),
        act: () => page.startQuick(),
      }),
      h(Button, { id: "lp-finetune-own", name: say("finetune.own"), act: () => page.publish("own") }),
    ),
    h(Note, { text: say("finetune.quick_about") }),
    h(Sample, { page }),
    h(Note, { text: pageData.hosted ? say("finetune.shared_machine") : "" }),
  );

/**
 * A pair of the highest label, of the middle and of the lowest.
 * @param {Page} properties
 */
function Sample({ page }) {
  page.observe("checked");
  const rows = page.checked?.sample ?? [];
  if (!rows.length) return null;
  return h(
    "div",
    h("h2", say("finetune.sample")),
    h(
      "table.lp-sample",
      h(
        "thead",
        h(
          "tr",
          ["ui.label", "ui.pair"].map((key) => h("th", { scope: "col" }, say(key))),
        ),
      ),
      h(
        "tbody",
        { "data-batch-text": "" },
        rows.map(([one, other, label]) =>
          h("tr", h("th", { scope: "row" }, show(label, 3)), h("td", h("div", one), h("div", other))),
        ),
      ),
    ),
    h(Note, { text: say("finetune.sample_about") }),
  );
}

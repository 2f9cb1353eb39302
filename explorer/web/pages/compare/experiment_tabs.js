// Experiments: a parameter, how the batch is cut, the type of the numbers, the batch itself, how far all
// vectors are one point, and the losses over two scores. The chosen one is computed while its section is open.
import { Tabs } from "../../kit/components.js";
import { group, h } from "../../kit/preact_view.js";
import { say } from "../../kit/translated_sentences.js";
import { FoldedOptions } from "./folding_section.js";
import { BatchChanges } from "./vary/batch_change_experiment.js";
import { Collapse } from "./vary/collapse.js";
import { LandscapeExperiment } from "./vary/landscape.js";
import { NumberPrecision } from "./vary/number_precision.js";
import { SplitBatch } from "./vary/split_batch.js";
import { Sweep } from "./vary/sweep.js";

const EXPERIMENTS = {
  sweep: Sweep,
  mechanics: SplitBatch,
  precision: NumberPrecision,
  what_if: BatchChanges,
  collapse: Collapse,
  landscape: LandscapeExperiment,
};
/** @typedef {keyof typeof EXPERIMENTS} Name */
const NAMES = /** @type {Name[]} */ (Object.keys(EXPERIMENTS));

/** @param {{ page: import("./state.js").ComparePage }} properties */
export function Experiments({ page }) {
  page.observe("state", "batch", "unfolded");
  const chosen = /** @type {Name} */ (page.store.state.vary);
  const tabs = h(Tabs, {
    id: "lp-vary",
    label: say("compare.vary"),
    names: NAMES,
    chosen,
    title: (name) => say(`compare.vary.${name}`),
    choose: (name) => page.set({ vary: name }),
  });
  /** @type {{ role?: "tabpanel", "aria-labelledby"?: string }} */
  const ofTab = page.showsOptions("vary") ? { role: "tabpanel", "aria-labelledby": `lp-vary-${chosen}` } : {};
  return group(
    h(FoldedOptions, { page, section: "vary" }, tabs),
    h(
      "div.lp-panel",
      { key: chosen, id: "lp-vary-panel", ...ofTab },
      page.batch ? h(EXPERIMENTS[chosen], { page }) : null,
    ),
  );
}

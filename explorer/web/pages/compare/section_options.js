// The options of a section, folded where a question has chosen them.
import { h } from "../../kit/preact_view.js";
import { say } from "../../kit/words.js";
import { FoldingSection } from "./folding_section.js";

/** @typedef {{ page: import("./state.js").ComparePage, children?: import("../../kit/types").Children }} Properties */

/**
 * The first options of a section, which a click on their title shows; then the others follow.
 * @param {Properties & { section: string }} properties
 */
export function FoldedOptions({ page, section, children }) {
  if (section !== page.answering) return children;
  return h(FoldingSection, { page, name: "options", title: say("compare.options"), content: () => children });
}

/**
 * The bar of an experiment's own options.
 * @param {Properties & { kind?: string }} properties
 */
export function ExperimentOptions({ page, kind = "", children }) {
  page.observe("unfolded");
  return page.showsOptions("vary") ? h("div", { class: `lp-bar ${kind}`.trim() }, children) : null;
}

// Sections that are filled only while they are open, and options that are folded where a question has chosen them.
import { h } from "../../kit/preact_view.js";
import { say } from "../../kit/translated_sentences.js";

/** @typedef {import("../../kit/types").Children} Children */
/** @typedef {{ page: import("./state.js").ComparePage, children?: Children }} Properties */

/**
 * A section by its name, under which the page knows whether it is open.
 * @param {{ page: import("./state.js").ComparePage, name: string, title: Children, id?: string, kind?: string,
 *   content: () => Children }} properties
 */
export function FoldingSection({ page, name, title, id, kind = "lp-more", content }) {
  page.observe("unfolded");
  const open = page.isOpen(name);
  return h(
    "details",
    { id, class: kind, open, onToggle: (event) => page.unfold(name, event.currentTarget.open) },
    h("summary", title),
    open ? content() : null,
  );
}

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

// A section that is filled only while it is open; which are open, the page knows.
import { h } from "../../kit/preact_view.js";

/**
 * @param {{ page: import("./state.js").ComparePage, name: string, title: import("../../kit/types").Children,
 *   id?: string, kind?: string, content: () => import("../../kit/types").Children }} properties
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

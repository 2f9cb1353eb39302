// A table of the page, which scrolls by itself where it is wider than its place.
import { h } from "../../kit/preact_view.js";

/** @typedef {import("../../kit/types").Children} Children */

/**
 * `kind` is a class of its looks; `children` are its rows.
 * @param {{ label: string, heads: Children[], kind?: string, box?: string, children?: Children }} properties
 */
export const Table = ({ label, heads, kind, box = "", children }) =>
  h(
    "div.lp-scroll",
    { role: "region", tabIndex: 0, "aria-label": label, class: box },
    h(
      "table",
      { class: kind, "aria-label": label },
      h(
        "thead",
        h(
          "tr",
          heads.map((head) => (head === null ? h("td") : h("th", { scope: "col" }, head))),
        ),
      ),
      h("tbody", children),
    ),
  );

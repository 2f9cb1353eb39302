// A table of what shows a finding: where the page is narrow each row is a stack, and each cell says its column.
import { h } from "../../kit/dom.js";

/**
 * @typedef {object} Column
 * @property {string} head
 * @property {boolean} [text] whether it holds sentences
 */

/**
 * The first cell of a line names it.
 * @param {string} label
 * @param {Column[]} columns
 * @param {string[][]} lines
 */
export function stackedTable(label, columns, lines) {
  /** @type {(cell: string, at: number) => HTMLElement} */
  const cellOf = (cell, at) => {
    const { head, text } = columns[at + 1];
    return h(text ? "td.lp-text" : "td", { role: "cell", "data-head": head }, cell);
  };
  return h(
    "div.lp-scroll",
    { role: "region", tabIndex: 0, "aria-label": label },
    // What is shown as a block is no table to a screen reader unless it is said.
    h(
      "table.lp-stacked",
      { role: "table" },
      h(
        "thead",
        { role: "rowgroup" },
        h(
          "tr",
          { role: "row" },
          columns.map(({ head }) => h("th", { scope: "col", role: "columnheader" }, head)),
        ),
      ),
      h(
        "tbody",
        { role: "rowgroup" },
        lines.map(([begin, ...cells]) =>
          h(
            "tr",
            { role: "row" },
            h("th", { scope: "row", role: "rowheader", "data-head": columns[0].head }, begin),
            cells.map(cellOf),
          ),
        ),
      ),
    ),
  );
}

// How far the gradients of any two sides agree: Kendall's τ below the diagonal, the cosine of the gradients
// by the sentence vectors above it. A cell leads to its two sides.
import { h, worded } from "../../kit/dom.js";
import { panelOf, s } from "../../kit/drawing.js";
import { read, show } from "../../kit/numbers.js";
import { language, say } from "../../kit/words.js";
import { chip, letterOf } from "./legend.js";
import { downloads } from "./taking.js";

const CELL = 52;

/** @param {import("./state.js").ComparePage} channel */
export function agreementTable(channel) {
  const table = h("table.lp-agreement");
  const taking = downloads(channel, { name: "agreement", figure: picture, csv: asCsv });
  const about = worded("p.lp-note", "compare.agreement.about");
  const element = h("div.lp-agreeing", {}, worded("h3", "compare.agreement"), table, about, taking.element);

  /**
   * What stands in a cell: the number, and by what it is called; null on the diagonal.
   * @param {number} row
   * @param {number} column
   */
  function cellOf(row, column) {
    const two = channel.twoOf(row, column);
    const what = row > column ? "tau" : "cosine";
    if (row === column) return null;
    return { what, value: two ? read(two[what]) : null, known: Boolean(two) };
  }

  let shown = "";
  function draw() {
    const count = channel.of.length;
    const [base, other] = channel.pair;
    const now = JSON.stringify([
      count,
      base,
      other,
      language(),
      channel.compared?.two.map(({ tau, cosine }) => [tau, cosine]),
    ]);
    if (now === shown) return;
    shown = now;
    const places = Array.from({ length: count }, (_, place) => place);
    table.setAttribute("aria-label", say("compare.agreement"));
    table.replaceChildren(
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          h("td"),
          places.map((place) => h("th", { scope: "col" }, chip(place))),
        ),
      ),
      h(
        "tbody",
        {},
        places.map((row) =>
          h(
            "tr",
            {},
            h("th", { scope: "row" }, chip(row)),
            places.map((column) => drawn(row, column, base, other)),
          ),
        ),
      ),
    );
  }

  /** @type {(row: number, column: number, base: number, other: number) => HTMLElement} */
  function drawn(row, column, base, other) {
    const cell = cellOf(row, column);
    if (!cell) return h("td.lp-same", {}, "");
    const held = [base, other].includes(row) && [base, other].includes(column);
    const label = say(`compare.agreement.${cell.what}`, {
      first: letterOf(Math.min(row, column)),
      second: letterOf(Math.max(row, column)),
      value: show(cell.value, 2),
    });
    const button = h(
      "button.lp-agrees",
      {
        type: "button",
        title: label,
        "aria-label": label,
        style: `--lp-share: ${shareOf(cell.value)}%; --lp-tint: var(${Number(cell.value) < 0 ? "--lp-up" : "--lp-down"})`,
        onclick: () => channel.hold(Math.min(row, column), Math.max(row, column)),
      },
      show(cell.value, 2),
    );
    return h(held ? "td.lp-held" : "td", {}, button);
  }

  /** @param {number | null} value */
  const shareOf = (value) => (value === null || !Number.isFinite(value) ? 0 : Math.round(40 * Math.abs(value)));

  function picture() {
    const count = channel.of.length;
    const wide = Math.max((count + 1) * CELL, 420);
    /** @type {(x: number, y: number, said: string, look?: import("../../kit/types").Look) => SVGElement} */
    const text = (x, y, said, look = {}) =>
      s(
        "text",
        {
          x: x + CELL / 2,
          y: y + CELL / 2 + 4,
          "text-anchor": "middle",
          "font-size": 13,
          fill: "var(--lp-ink)",
          ...look,
        },
        said,
      );
    const drawing = s("svg");
    for (let row = 0; row < count; row += 1) {
      const bold = { "font-weight": 700, fill: `var(--lp-side-${row + 1})` };
      drawing.append(text((row + 1) * CELL, 0, letterOf(row), bold), text(0, (row + 1) * CELL, letterOf(row), bold));
      for (let column = 0; column < count; column += 1) {
        const cell = cellOf(row, column);
        if (!cell) continue;
        const at = { x: (column + 1) * CELL, y: (row + 1) * CELL };
        const tint = `var(${Number(cell.value) < 0 ? "--lp-up" : "--lp-down"})`;
        const box = { ...at, width: CELL - 2, height: CELL - 2, fill: tint, "fill-opacity": shareOf(cell.value) / 100 };
        drawing.append(s("rect", box), text(at.x - 1, at.y - 1, show(cell.value, 2)));
      }
    }
    const tall = (count + 1) * CELL;
    return {
      panels: [panelOf({ drawn: drawing, wide, tall })],
      title: say("compare.agreement"),
      note: say("compare.agreement.about"),
    };
  }

  function asCsv() {
    /** @type {(string | number)[][]} */
    const rows = [["first", "second", "tau", "cosine", "factor"]];
    for (const { first, second, tau, cosine, factor } of channel.compared?.two ?? [])
      rows.push([letterOf(first), letterOf(second), tau ?? "", cosine ?? "", factor ?? ""]);
    return rows;
  }

  return { element, draw };
}

// How far the gradients of any two losses agree, and the pair on which the chosen two disagree most. Kendall's τ
// stands below the diagonal, the cosine of the gradients by the sentence vectors above it.

import { batchText } from "../../kit/batch_text_with_picture.js";
import { Chip, colourOf, letterOf } from "../../kit/compared_loss_labels.js";
import { read, show } from "../../kit/number_format.js";
import { group, h } from "../../kit/preact_view.js";
import { panelOf } from "../../kit/shapes_read_from_drawn_svg.js";
import { s } from "../../kit/svg_drawing.js";
import { say } from "../../kit/translated_sentences.js";
import { Downloads } from "./downloads.js";
import { LossPairChoice } from "./loss_pair_choice.js";
import { Table } from "./scrolling_table.js";

/** @typedef {import("./state.js").ComparePage} ComparePage */

const CELL_PX = 52; // pixels in a file

/** @param {{ page: ComparePage }} properties */
export function Agreement({ page }) {
  page.observe("state", "compared");
  if (!page.compared) return null;
  const places = page.comparedSides.map((_side, place) => place);
  return group(
    h(
      Table,
      {
        label: say("compare.agreement"),
        kind: "lp-agreement",
        heads: [null, ...places.map((place) => h(Chip, { place }))],
      },
      places.map((row) =>
        h(
          "tr",
          { key: row },
          h("th", { scope: "row" }, h(Chip, { place: row })),
          places.map((column) => h(AgreementCell, { key: column, page, row, column })),
        ),
      ),
    ),
    h("p.lp-note", say("compare.agreement.about")),
    h(LossPairChoice, { page, id: "lp-agreement" }),
    h(Disagreement, { page }),
    h(Downloads, { page, name: "agreement", figure: () => figureOf(page), csv: () => csvOf(page) }),
  );
}

/**
 * The measure of a cell and its value, null where there is none.
 * @type {(page: ComparePage, row: number, column: number) => { what: string; value: number | null; }}
 */
function measureOf(page, row, column) {
  const two = page.twoOf(row, column);
  const what = row > column ? "tau" : "cosine";
  return { what, value: two ? read(two[what]) : null };
}

/** @param {number | null} value */
const shareOf = (value) => (value === null || !Number.isFinite(value) ? 0 : Math.round(40 * Math.abs(value)));
/** @param {number | null} value */
const tintOf = (value) => `var(${Number(value) < 0 ? "--lp-up" : "--lp-down"})`;

/** @param {{ page: ComparePage, row: number, column: number }} properties */
function AgreementCell({ page, row, column }) {
  if (row === column) return h("td.lp-same", "");
  const { what, value } = measureOf(page, row, column);
  const [first, second] = [Math.min(row, column), Math.max(row, column)];
  const letters = { first: letterOf(first), second: letterOf(second) };
  const label = say(`compare.agreement.${what}`, { ...letters, value: show(value, 2) });
  const isChosen = page.pair.includes(row) && page.pair.includes(column);
  return h(
    "td",
    h(
      "button.lp-agrees",
      {
        title: label,
        "aria-label": label,
        "aria-pressed": isChosen ? "true" : "false",
        style: `--lp-share: ${shareOf(value)}%; --lp-tint: ${tintOf(value)}`,
        onClick: () => page.choosePair(first, second),
      },
      show(value, 2),
    ),
  );
}

/**
 * Where the chosen two disagree most, with the sentences of that pair.
 * @param {{ page: ComparePage }} properties
 */
function Disagreement({ page }) {
  const { batch, pair } = page;
  const two = page.twoOf(...pair);
  if (!two || !batch) return null;
  const { first, second, factor, apart } = two;
  const letters = { first: letterOf(first), second: letterOf(second) };
  const factorWords = factor === null ? null : say("compare.factor", { ...letters, factor: show(factor) });
  const none = !apart && factor === null ? say("compare.not_apart") : null;
  return h(
    "ul.lp-remarks",
    h(
      "li.lp-apart-head",
      h(Chip, { place: pair[0] }),
      " ",
      h(Chip, { place: pair[1] }),
      " ",
      say("compare.apart_most"),
    ),
    [factorWords, none].map((words) => (words ? h("li", words) : null)),
    apart ? h(DisagreedPair, { page, batch, apart }) : null,
  );
}

/**
 * @param {{ page: ComparePage, batch: import("../../wire").ComparedBatch,
 *   apart: import("../../wire").DisagreedPair }} properties
 */
const DisagreedPair = ({ page, batch, apart: { pair, sentences } }) =>
  h(
    "li.lp-apart-pair",
    {
      tabIndex: 0,
      onMouseEnter: () => page.point([pair]),
      onFocus: () => page.point([pair]),
      onMouseLeave: () => page.point(),
      onBlur: () => page.point(),
    },
    sentences.map(({ key, values }) => say(key, values)).join(" "),
    h(
      "div.lp-two",
      { "data-batch-text": "" },
      [batch.first, batch.second].map((side) => h("span", batchText(h, { text: side[pair], of: batch }))),
    ),
  );

/** @param {ComparePage} page */
function figureOf(page) {
  const count = page.comparedSides.length;
  /** @type {(x: number, y: number, words: string, look?: import("../../kit/types").Look) => SVGElement} */
  const text = (x, y, words, look = {}) => {
    const place = { x: x + CELL_PX / 2, y: y + CELL_PX / 2 + 4, "text-anchor": "middle", "font-size": 13 };
    return s("text", { ...place, fill: "var(--lp-ink)", ...look }, words);
  };
  const drawn = s("svg");
  for (let row = 0; row < count; row += 1) {
    const bold = { "font-weight": 700, fill: colourOf(row) };
    drawn.append(text((row + 1) * CELL_PX, 0, letterOf(row), bold), text(0, (row + 1) * CELL_PX, letterOf(row), bold));
    for (let column = 0; column < count; column += 1) {
      if (row === column) continue;
      const { value } = measureOf(page, row, column);
      const at = { x: (column + 1) * CELL_PX, y: (row + 1) * CELL_PX };
      const look = { fill: tintOf(value), "fill-opacity": shareOf(value) / 100 };
      drawn.append(s("rect", { ...at, width: CELL_PX - 2, height: CELL_PX - 2, ...look }));
      drawn.append(text(at.x - 1, at.y - 1, show(value, 2)));
    }
  }
  const size = { wide: Math.max((count + 1) * CELL_PX, 420), tall: (count + 1) * CELL_PX };
  const panels = [panelOf({ drawn, ...size })];
  return { panels, title: say("compare.agreement"), note: say("compare.agreement.about") };
}

/** @type {(page: ComparePage) => import("./downloads.js").Rows} */
const csvOf = ({ compared }) => [
  ["first", "second", "tau", "cosine", "factor"],
  ...(compared?.two ?? []).map(({ first, second, tau, cosine, factor }) => [
    ...[letterOf(first), letterOf(second), tau ?? "", cosine ?? "", factor ?? ""],
  ]),
];

// What a block of the map is, or a single cell, in words: its bands or pairs, and what it holds.

import { batchText } from "../../kit/batch_text_with_picture.js";
import { h } from "../../kit/dom.js";
import { grouped, percent, show } from "../../kit/number_format.js";
import { say } from "../../kit/translated_sentences.js";
import { textsOf } from "./pair_text_lookup.js";

/**
 * An answer with its arrays unpacked; `single`: each block is one cell.
 * @typedef {Omit<import("../../wire").DrawnBlocks, Facet> & Record<Facet, Float32Array>
 *   & { height: number, width: number, single: boolean }} UnpackedBlocks
 */
/** @typedef {"total" | "share" | "largest" | "masked"} Facet */
/** @typedef {import("../../kit/heatmap_frame.js").Cell} Cell */
/** @typedef {"rows" | "columns"} Side */

/** @type {(blocks: UnpackedBlocks, cell: Cell) => number} */
export const placeIn = (blocks, [row, column]) => row * blocks.width + column;

/** @type {(blocks: UnpackedBlocks, cell: Cell) => boolean} */
export const isEmpty = (blocks, cell) => blocks.masked[placeIn(blocks, cell)] === 1;

/** @type {(blocks: UnpackedBlocks, side: Side, index: number) => string} A band as a reader counts it: 1 to 3,907. */
export function bandOf(blocks, side, index) {
  const { edges } = blocks[side];
  const [from, to] = [edges[index] + 1, edges[index + 1]];
  return from === to ? grouped(from) : `${grouped(from)}–${grouped(to)}`;
}

/** @type {(ends: [number[], number[]], index: number) => string} */
const interval = ([lows, highs], index) =>
  lows[index] === highs[index]
    ? show(lows[index], 3)
    : say("large.from_to", { low: show(lows[index], 3), high: show(highs[index], 3) });

/** @type {(blocks: UnpackedBlocks, cell: Cell) => string[]} What it holds. */
export function factsOf(blocks, cell) {
  const { single } = blocks;
  if (isEmpty(blocks, cell)) return [say(single ? "ui.takes_no_part" : "large.all_masked")];
  const i = placeIn(blocks, cell);
  const lines = [
    say(single ? "large.term_is" : "large.total_is", { value: show(blocks.total[i]) }),
    say("large.share_is", { share: percent(blocks.share[i]) }),
  ];
  if (single) return lines;
  return [
    ...lines,
    say(blocks.bounded ? "large.none_above" : "large.largest_is", { value: show(blocks.largest[i]) }),
    blocks.masked[i] > 0 ? say("large.masked_is", { share: percent(blocks.masked[i]) }) : say("large.none_masked"),
  ];
}

/**
 * The pair of a row or column, or the band of many.
 * @type {(page: import("./state.js").LargePage, blocks: UnpackedBlocks, side: Side, index: number) => HTMLDivElement}
 */
function sideOf(page, blocks, side, index) {
  const { name, items, edges, labels, scores } = blocks[side];
  if (items.length) {
    const { entry, label, score } = items[index];
    const one = say(side === "rows" ? "ui.row" : "ui.column");
    return h(
      "div.lp-side",
      h("b", `${one} ${grouped(edges[index] + 1)}: ${say(`axis.one.${name}`)} #${grouped(entry + 1)}`),
      textsOf(page, items[index]).map((text) => h("p", batchText(h, { text, of: items[index] }))),
      h("small", say("ui.pair_facts", { label: show(label), score: show(score) })),
    );
  }
  const count = grouped(edges[index + 1] - edges[index]);
  return h(
    "div.lp-side",
    h("b", `${say(side === "rows" ? "large.rows" : "large.columns")} ${bandOf(blocks, side, index)}`),
    h("p", say("large.band_labels", { range: interval(labels, index), count })),
    h("small", say("large.band_scores", { range: interval(scores, index) })),
  );
}

/**
 * Its card, or what to do to see one.
 * @type {(card: HTMLElement, page: import("./state.js").LargePage, blocks: UnpackedBlocks | null, cell: Cell | null) => void}
 */
export function fillCard(card, page, blocks, cell) {
  if (!blocks || !cell) {
    card.replaceChildren(h("p.lp-hint", say("large.hint")));
    return;
  }
  const facts = factsOf(blocks, cell).map((fact) => h("span", fact));
  card.replaceChildren(
    h("div.lp-sides", sideOf(page, blocks, "rows", cell[0]), sideOf(page, blocks, "columns", cell[1])),
    h("div.lp-facts", facts),
  );
}

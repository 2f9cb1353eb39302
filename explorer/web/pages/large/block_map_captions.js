// Sentences around the map: which part of the matrix it is, what its sides are, what its colours say.
import { grouped, percent } from "../../kit/number_format.js";
import { say } from "../../kit/translated_sentences.js";

/** @typedef {import("./block_card.js").UnpackedBlocks} UnpackedBlocks */
/** @typedef {[number, number, number, number]} Part top, bottom, left, right */

/** @param {Part | null} part */
export const partName = (part) =>
  part
    ? say("large.part", {
        rows: `${grouped(part[0] + 1)}–${grouped(part[1])}`,
        columns: `${grouped(part[2] + 1)}–${grouped(part[3])}`,
      })
    : say("large.all");

/** @type {(blocks: UnpackedBlocks, side: import("./block_card.js").Side) => string} */
export function sideName(blocks, side) {
  const { name, edges } = blocks[side];
  const count = grouped(edges[edges.length - 1] - edges[0]);
  const role = name === "pair" ? ` · ${say(side === "rows" ? "large.lower" : "large.higher")}` : "";
  return say("ui.axis", { what: say(`axis.${name}`), count }) + role;
}

/** @type {(blocks: UnpackedBlocks) => string} What a cell compares. */
export function comparison({ of_weights: ofWeights, rows }) {
  // A sum over queries and keys judges each by itself, the query's own key too.
  const compares = ofWeights && rows.name === "query" ? "match" : rows.name;
  return say(`large.map_note.${compares}`);
}

/** @type {(blocks: UnpackedBlocks, isPart: boolean) => string} Where the weight is, as far as blocks tell. */
export function concentration({ single, concentrated }, isPart) {
  if (single || !concentrated?.share) return "";
  const [share, part] = [percent(concentrated.share), percent(concentrated.part)];
  return say(isPart ? "large.concentrated" : "large.concentrated_all", { share, part });
}

/**
 * What a block is, and what its colour says; `both`: whether the loss looks from either side.
 * @type {(blocks: UnpackedBlocks, facet: import("./block_card.js").Facet, both: boolean) => string}
 */
export function explanation({ single, exact, rows, columns, of_weights: ofWeights }, facet, both) {
  const [tall, wide] = [rows, columns].map(({ edges }) => edges[1] - edges[0]);
  const each = { rows: grouped(tall), columns: grouped(wide), cells: grouped(tall * wide) };
  const isTerm = single && facet !== "share" && facet !== "masked";
  const sentences = [
    single ? say("large.cells_note") : say(exact ? "large.blocks_note" : "large.blocks_note_near", each),
    single ? "" : say("large.enter"),
    say(isTerm ? "large.colour.term" : `large.colour.${facet}`),
    ofWeights ? say("large.of_weights") : "",
    both ? say("large.both_directions") : "",
    say("large.places_note"),
  ];
  return sentences.filter(Boolean).join(" ");
}

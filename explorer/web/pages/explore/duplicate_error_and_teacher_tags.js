// What is marked in the table of pairs: a text that another pair holds too, what an example holds on purpose, and
// what a teacher gave.
import { show } from "../../kit/number_format.js";

/** @typedef {import("../../wire").ExploredBatch} ExploredBatch */

/** Where a mark stands in its row: at the first sentence, the second one, or the score.
 * @typedef {{ cell: 0 | 1 | 2, key: string, about: string, values: { pair?: number | string, score?: string } }} Mark */

/**
 * What is marked at each pair that has something.
 * @param {Pick<ExploredBatch, "same_texts" | "planted" | "teacher">} batch
 * @param {import("../../kit/cell_card.js").Numbering} numberOf
 */
export function marksOf({ same_texts, planted, teacher }, numberOf) {
  /** @type {Map<number, Mark[]>} */
  const marks = new Map();
  /** @type {(pair: number, mark: Mark) => void} */
  const put = (pair, mark) => marks.set(pair, [...(marks.get(pair) ?? []), mark]);
  for (const { pair, side, other, other_side } of same_texts)
    put(pair, {
      cell: side === "first" ? 0 : 1,
      key: "ui.mark.same_text",
      about: `ui.mark.same_text.${other_side}`,
      values: { pair: numberOf(other) },
    });
  for (const { pair, kind, other } of planted)
    put(pair, {
      cell: kind === "hidden" ? 1 : 2,
      key: `ui.mark.${kind}`,
      about: `ui.mark.${kind}.about`,
      values: other === null ? {} : { pair: numberOf(other) },
    });
  for (const [pair, score] of (teacher ?? []).entries())
    if (score !== null)
      put(pair, {
        cell: 2,
        key: "ui.mark.teacher",
        about: "ui.mark.teacher.about",
        values: { score: show(score, 3) },
      });
  return marks;
}

/**
 * The pair of each row of its source, undefined for rows that are none: those that cannot be used, and
 * those whose pair was left out, where `places` says which were kept.
 * @type {(used: boolean[], places: number[] | null) => (number | undefined)[]}
 */
export function pairsOfRows(used, places) {
  const pairAt = places && new Map(places.map((place, pair) => [place, pair]));
  let place = -1;
  return used.map((isUsed) => {
    if (!isUsed) return undefined;
    place += 1;
    return pairAt ? pairAt.get(place) : place;
  });
}

// The texts of pairs in the tables and the card of the Large batch page.
import { grouped } from "../../kit/number_format.js";

/**
 * The texts of a pair, or the one of them that a row or column stands for; none of a pair that was drawn at random,
 * which has only its number.
 * @param {import("./state.js").LargePage} page
 * @param {Pick<import("../../wire").Pair, "first" | "second"> & { side?: "" | "first" | "second" }} pair
 */
export function textsOf({ answered }, { side = "", first, second }) {
  if (answered?.source.kind === "random") return [];
  return side ? [{ first, second }[side]] : [first, second];
}

/**
 * A pair in lines: its number, then its texts.
 * @param {import("./state.js").LargePage} page
 * @param {import("../../wire").Pair} pair
 */
export function linesOf(page, pair) {
  const number = `#${grouped(pair.entry + 1)}`;
  const [text, ...others] = textsOf(page, pair).map((one) => ({ of: pair, text: one }));
  return text === undefined ? [{ text: number }] : [{ ...text, before: `${number} · ` }, ...others];
}

// Which sentence stands beside a sweep, and beside the parts of a sum.
import { percent, read, show } from "../../kit/number_format.js";
import { say, wordOf } from "../../kit/words.js";

/** @typedef {import("../../kit/types").Span} Span */
/** @typedef {import("../../wire").Parts} Parts */

/**
 * Where both rules of the derivation hold, or that they contradict each other, or where the one does that there is.
 * @param {string} name
 * @param {Span | null} advised by the rule for λ
 * @param {Span[]} within the band of the gradient norm
 */
export function verdictOf(name, advised, within) {
  /** @param {Span} ends */
  const range = ([low, high]) => ({ low: show(low, 3), high: show(high, 3) });
  const ranges = within.map((ends) => say("sweep.range", range(ends))).join(", ");
  if (!within.length) return say("sweep.never", { name });
  if (!advised) return say("sweep.within", { name, ranges });
  const both = within
    .map(([low, high]) => /** @type {Span} */ ([Math.max(low, advised[0]), Math.min(high, advised[1])]))
    .find(([low, high]) => low <= high);
  return both ? say("sweep.agree", { name, ...range(both) }) : say("sweep.contradict", { ...range(advised), ranges });
}

/**
 * How far the gradients of two parts agree; of more a table says it.
 * @type {(parts: Parts["parts"], cosines: Parts["cosines"]) => string}
 */
export function agreementWords(parts, cosines) {
  if (parts.length !== 2) return parts.length > 2 ? say("ui.parts.cosines") : "";
  const [first, second] = parts.map(({ name }) => wordOf(name));
  const value = read(cosines[0][1]);
  if (value === null || Number.isNaN(value)) return say("ui.parts.no_cosine", { first, second });
  return say("ui.parts.cosine", { first, second, value: show(value, 3) });
}

/**
 * On how many of all pairs the parts pull against each other, and which share of their pull that undoes.
 * @type {(count: number, all: number, undone: number) => string}
 */
export const opposedWords = (count, all, undone) =>
  count ? say("ui.parts.opposed", { count, all, share: percent(undone) }) : say("ui.parts.none_opposed");

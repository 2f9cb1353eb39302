// The sentence beside a sweep: whether two rules of thumb agree.
import { show } from "../../kit/number_format.js";
import { say } from "../../kit/translated_sentences.js";

/** @typedef {import("../../kit/types").Span} Span */

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

// The sentences beside the parts of a sum of losses: how far their gradients agree.
import { percent, read, show } from "../../kit/number_format.js";
import { say, wordOf } from "../../kit/words.js";

/** @typedef {import("../../wire").Parts} Parts */

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

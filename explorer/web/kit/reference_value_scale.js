// Minimum, value at collapse and the loss itself on one line, from the least to the largest; nothing
// where only the loss is known.
import { h } from "./dom.js";
import { read, show } from "./number_format.js";
import { say } from "./translated_sentences.js";

/**
 * @param {Pick<import("../wire").Figures, "loss" | "floor" | "collapse" | "floor_is_bound">} figures
 * @returns {HTMLElement[]}
 */
export function referenceValueScale(figures) {
  const [at, floor, collapse] = [figures.loss, figures.floor, figures.collapse].map((value) => read(value) ?? NaN);
  const least = figures.floor_is_bound ? "figure.bound" : "figure.floor";
  const known = [at, floor, collapse].filter(Number.isFinite);
  if (known.length < 2) return [];
  const [low, high] = [Math.min(...known), Math.max(...known)];
  /** @param {number} value */
  const where = (value) => `${high > low ? 4 + (92 * (value - low)) / (high - low) : 50}%`;
  /** @type {(kind: string, value: number, key: string) => HTMLElement | null} */
  const mark = (kind, value, key) =>
    Number.isFinite(value)
      ? h(`i.${kind}`, { style: `left:${where(value)}`, title: `${say(key)} ${show(value)}` })
      : null;
  // What lies beyond collapse ends the line, so it is written there in words.
  const beyond = collapse > 0 && at > 1.0001 * collapse;
  // The names stand below their marks, as far as one does not push the other away.
  return [
    h(
      "div.lp-ruler",
      mark("lp-floor", floor, least),
      mark("lp-collapse", collapse, "figure.collapse"),
      mark("lp-now", at, "figure.loss"),
    ),
    h(
      "div.lp-legends",
      h(
        "span.lp-floor",
        { style: Number.isFinite(collapse) ? `flex-basis: calc(${where(collapse)} - 50px)` : "" },
        Number.isFinite(floor) ? `${say(least)} ${show(floor, 3)}` : "",
      ),
      Number.isFinite(collapse) ? h("span.lp-collapse", `${say("figure.collapse")} ${show(collapse, 4)}`) : null,
      beyond ? h("span.lp-end", show(at, 4)) : null,
    ),
    beyond ? h("p.lp-beyond", say("figure.beyond_collapse")) : null,
  ].filter((part) => part !== null);
}

// What a side is called everywhere on the page: a letter in a colour of its own, then its name.
import { h } from "../../kit/dom.js";
import { show } from "../../kit/numbers.js";
import { pageData } from "../../kit/page_data.js";
import { chosenOf } from "../../kit/sides.js";
import { has, parameterName, say, titleOf } from "../../kit/words.js";

/** @typedef {import("../../kit/sides.js").Side} Side */

/** @param {number} place */
export const letterOf = (place) => "ABCDEF"[place];
/** @param {number} place */
export const colourOf = (place) => `var(--lp-side-${place + 1})`;

/** @param {number} place */
export const chip = (place) => h("b.lp-side-chip", { style: `--lp-side: ${colourOf(place)}` }, letterOf(place));

/** @type {(parameter: import("../../wire").Parameter, value: import("../../wire").Setting) => string} */
function spoken({ name, kind }, value) {
  const called = parameterName(name);
  if (value === null) return `${called}: ${say("ui.off")}`;
  if (kind === "switch") return value ? called : `${called}: ${say("ui.no")}`;
  if (kind === "choice") return has(`choice.${value}`) ? say(`choice.${value}`) : String(value);
  const numbers = [value].flat().map((one) => show(Number(one), 3));
  return `${called} ${numbers.join(", ")}`;
}

/**
 * @param {Side} side
 */
export const nameOf = (side) =>
  [titleOf(side.loss), side.convention, ...chosenOf(pageData.losses, side, spoken)].filter(Boolean).join(" · ");

/**
 * "A CoSENT · scale 50", for a label that is read aloud or written into a file.
 * @param {Side[]} sides
 * @param {number} place
 */
export const labelOf = (sides, place) => `${letterOf(place)} ${nameOf(sides[place])}`;

/**
 * A side in words on the page.
 * @param {Side[]} sides
 * @param {number} place
 */
export const named = (sides, place) =>
  h("span.lp-side-name", {}, chip(place), " ", h("span", {}, nameOf(sides[place])));

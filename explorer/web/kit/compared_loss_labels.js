// What a loss is called everywhere on the page: a letter in a colour of its own, then its name.
import { formOf } from "./loss_convention_lookup.js";
import { show } from "./number_format.js";
import { pageData } from "./page_data.js";
import { h } from "./preact_view.js";
import { has, parameterName, say, titleOf } from "./translated_sentences.js";

/** @typedef {import("./state_link.js").Side} Side */

/** @param {number} place */
export const letterOf = (place) => "ABCDEF"[place];
/** @param {number} place */
export const colourOf = (place) => `var(--lp-side-${place + 1})`;

/** @type {(parameter: import("../wire").Parameter, value: import("../wire").Setting) => string} */
function settingWords({ name, kind }, value) {
  const title = parameterName(name);
  if (value === null) return `${title}: ${say("ui.off")}`;
  if (kind === "switch") return value ? title : `${title}: ${say("ui.no")}`;
  if (kind === "choice") return has(`choice.${value}`) ? say(`choice.${value}`) : String(value);
  const numbers = [value].flat().map((one) => show(Number(one), 3));
  return `${title} ${numbers.join(", ")}`;
}

/** @type {(side: Side) => string} Its title, its convention and what was chosen for it: "CoSENT · scale 50". */
export function nameOf({ loss, convention, parameters: chosen }) {
  const parameters = formOf(pageData.losses, { loss, convention })?.parameters ?? [];
  const settings = parameters.filter(({ name }) => name in chosen).map((one) => settingWords(one, chosen[one.name]));
  return [titleOf(loss), convention, ...settings].filter(Boolean).join(" · ");
}

/**
 * "A CoSENT · scale 50", for a label that is read aloud or written into a file.
 * @type {(sides: Side[], place: number) => string}
 */
export const labelOf = (sides, place) => `${letterOf(place)} ${nameOf(sides[place])}`;

/** @param {{ place: number }} properties */
export const Chip = ({ place }) => h("b.lp-side-chip", { style: `--lp-side: ${colourOf(place)}` }, letterOf(place));

/** @param {{ sides: Side[], place: number }} properties */
export const Named = ({ sides, place }) =>
  h("span.lp-side-name", h(Chip, { place }), " ", h("span", sides[place] ? nameOf(sides[place]) : ""));

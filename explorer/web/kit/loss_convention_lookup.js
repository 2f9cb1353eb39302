// The form of a loss in one convention, and its formula at the values of its parameters.
import { parameterValue } from "./main_parameter.js";
import { read } from "./state_link.js";

/** @typedef {import("../wire").Setting} Setting */
/** @typedef {import("./state_link.js").Side} Side */
/** @typedef {Record<string, import("../wire").Loss>} Losses */

/**
 * A side by the name that its convention has now.
 * @template {Pick<Side, "loss" | "convention">} One
 * @param {Losses} losses
 * @param {One} side
 * @returns {One}
 */
function renamed(losses, side) {
  const { loss, convention } = side;
  return { ...side, convention: losses[loss]?.former[convention] ?? convention };
}

/**
 * Read a state with losses, `sides`, from an address: each convention by the name that it has now.
 * @type {(losses: Losses, table: Map<string, import("../wire").StateEntry>, text: string) => Record<string, any>}
 */
export function readWithLosses(losses, table, text) {
  const { sides, ...others } = read(table, text, (of) => {
    const form = formOf(losses, renamed(losses, of));
    return form ? Object.fromEntries(form.parameters.map((one) => [one.name, one])) : null;
  });
  return { ...others, sides: sides.map((/** @type {Side} */ side) => renamed(losses, side)) };
}

/**
 * A loss in one convention, its own where that is not known; undefined where there is no such loss.
 * @param {Losses} losses
 * @param {Pick<Side, "loss" | "convention">} side
 */
export function formOf(losses, { loss, convention }) {
  const conventions = losses[loss]?.conventions;
  return conventions && (conventions[convention] ?? conventions[""]);
}

/**
 * Some choices have a formula of their own; candidates that are left out are named below it.
 * @type {(form: import("../wire").Form, chosen: Record<string, Setting>, twins: string) => string}
 */
export function formulaOf({ formula, variants, parameters, counted }, chosen, twins) {
  const at = parameters.map((one) => variants[`${one.name}=${parameterValue(one, chosen)}`]).find(Boolean);
  const whole = `\\mathcal L = ${at ?? formula}`;
  return counted && twins === "leave_out" ? `\\begin{gathered}${whole}\\\\[2pt] ${counted}\\end{gathered}` : whole;
}

// The formula of a loss at the chosen values of its parameters.
import { parameterValue } from "./parameter_value_or_default.js";

/** @typedef {import("../wire").Setting} Setting */

/**
 * Some choices have a formula of their own; candidates that are left out are named below it.
 * @type {(form: import("../wire").Form, chosen: Record<string, Setting>, twins: string) => string}
 */
export function formulaOf({ formula, variants, parameters, counted }, chosen, twins) {
  const at = parameters.map((one) => variants[`${one.name}=${parameterValue(one, chosen)}`]).find(Boolean);
  const whole = `\\mathcal L = ${at ?? formula}`;
  return counted && twins === "leave_out" ? `\\begin{gathered}${whole}\\\\[2pt] ${counted}\\end{gathered}` : whole;
}

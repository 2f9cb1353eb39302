// What was chosen for a loss's parameters: each value, and the formula at them.

/** @typedef {import("../wire").Parameter} Parameter */
/** @typedef {import("../wire").Setting} Setting */

/**
 * The value of a parameter: as it was chosen, else its default; null is off.
 * @param {Pick<Parameter, "name" | "default">} parameter
 * @param {Record<string, Setting>} chosen
 */
export const parameterValue = ({ name, default: usual }, chosen) => (name in chosen ? chosen[name] : usual);

/**
 * Whether a parameter has another value than its default.
 * @param {Pick<Parameter, "name" | "default">} parameter
 * @param {Record<string, Setting>} chosen
 */
export const isChosen = (parameter, chosen) => String(parameterValue(parameter, chosen)) !== String(parameter.default);

/**
 * Some choices have a formula of their own; candidates that are left out are named below it.
 * @type {(form: import("../wire").Form, chosen: Record<string, Setting>, twins: string) => string}
 */
export function formulaOf({ formula, variants, parameters, counted }, chosen, twins) {
  const at = parameters.map((one) => variants[`${one.name}=${parameterValue(one, chosen)}`]).find(Boolean);
  const whole = `\\mathcal L = ${at ?? formula}`;
  return counted && twins === "leave_out" ? `\\begin{gathered}${whole}\\\\[2pt] ${counted}\\end{gathered}` : whole;
}

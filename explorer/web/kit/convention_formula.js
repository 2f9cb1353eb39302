// The formula of a loss in one convention, at the parameters and under the rule that are in force.

/**
 * The value of a parameter: as it was chosen, else its default; null is off.
 * @param {Pick<import("../wire").Parameter, "name" | "default">} parameter
 * @param {Record<string, import("../wire").Setting>} chosen
 */
export const parameterValue = ({ name, default: usual }, chosen) => (name in chosen ? chosen[name] : usual);

/**
 * Whether a parameter has another value than its default.
 * @param {Pick<import("../wire").Parameter, "name" | "default">} parameter
 * @param {Record<string, import("../wire").Setting>} chosen
 */
export const isChosen = (parameter, chosen) => String(parameterValue(parameter, chosen)) !== String(parameter.default);

/**
 * Some choices have a formula of their own; candidates that are left out are named below it.
 * @type {(form: import("../wire").Form, chosen: Record<string, import("../wire").Setting>, twins: string) => string}
 */
export function formulaOf({ formula, variants, parameters, counted }, chosen, twins) {
  const at = parameters.map((one) => variants[`${one.name}=${parameterValue(one, chosen)}`]).find(Boolean);
  const whole = `\\mathcal L = ${at ?? formula}`;
  return counted && twins === "leave_out" ? `\\begin{gathered}${whole}\\\\[2pt] ${counted}\\end{gathered}` : whole;
}

const LEVERS = ["scale", "temperature", "sharpness", "margin"]; // roles of a parameter

/**
 * The parameter that a reader moves first: a scale, temperature or margin, else the first number; null where a loss
 * has none.
 * @param {import("../wire").Parameter[]} parameters
 */
export function leverOf(parameters) {
  const numbers = parameters.filter(({ kind, on_value }) => kind === "number" && on_value === null);
  return numbers.find(({ role }) => LEVERS.includes(role)) ?? numbers[0] ?? null;
}

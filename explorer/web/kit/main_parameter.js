// The values of a loss's parameters: chosen or by default, and the one that a reader moves first.

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

const LEVERS = ["scale", "temperature", "sharpness", "margin"]; // roles of a parameter

/**
 * The parameter that a reader moves first: a scale, temperature or margin, else the first number; null where a loss
 * has none.
 * @param {Parameter[]} parameters
 */
export function leverOf(parameters) {
  const numbers = parameters.filter(({ kind, on_value }) => kind === "number" && on_value === null);
  return numbers.find(({ role }) => LEVERS.includes(role)) ?? numbers[0] ?? null;
}

// The parameter of a loss that a reader moves first.

/** @typedef {import("../wire").Parameter} Parameter */

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

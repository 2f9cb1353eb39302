// The value of a loss's parameter: as it was chosen, or its default.

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

// The formula of a loss in one convention, at the parameters and under the rule that are in force.

/**
 * Some choices have a formula of their own; candidates that are left out are named below it.
 * @param {import("../wire").Form} form
 * @param {Record<string, import("../wire").Setting>} chosen
 * @param {string} twins
 */
export function formulaOf({ formula, variants, parameters, counted }, chosen, twins) {
  const at = parameters.map(({ name, default: usual }) => variants[`${name}=${chosen[name] ?? usual}`]).find(Boolean);
  const whole = `\\mathcal L = ${at ?? formula}`;
  return counted && twins === "leave_out" ? `\\begin{gathered}${whole}\\\\[2pt] ${counted}\\end{gathered}` : whole;
}

// Losses beside each other, and the scenario that another page leaves for Compare.
import { numbered } from "./state_link.js";
import { store, stored } from "./storage.js";

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
export function renamed(losses, side) {
  const { loss, convention } = side;
  return { ...side, convention: losses[loss]?.former[convention] ?? convention };
}

/**
 * The parameters of a loss, as an address is read by.
 * @type {(losses: Losses) => import("./state_link.js").Parameters}
 */
export const parametersIn = (losses) => (of) => {
  const form = formOf(losses, renamed(losses, of));
  return form ? Object.fromEntries(form.parameters.map((one) => [one.name, one])) : null;
};

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
 * What is chosen for a side besides its loss, as short as it tells it from the others: "τ 0.05".
 * `spoken(parameter, value)` writes one of them.
 * @param {Losses} losses
 * @param {Side} side
 * @param {(parameter: import("../wire").Parameter, value: Setting) => string} spoken
 */
export function chosenOf(losses, side, spoken) {
  const form = formOf(losses, side);
  const parameters = form?.parameters ?? [];
  return parameters.filter(({ name }) => name in side.parameters).map((one) => spoken(one, side.parameters[one.name]));
}

/**
 * Where the step of either side that a formula part belongs to is chosen for these places; `at` is as
 * long as there are sides, −1 for the terms.
 * @param {number[]} at
 * @param {number} count of the sides
 * @param {[number, number | null | undefined][]} chosen
 */
export function stepsAt(at, count, chosen) {
  const next = Array.from({ length: count }, (_, place) => at[place] ?? -1);
  for (const [place, step] of chosen) if (step !== null && step !== undefined) next[place] = step;
  return next;
}

// ---- The scenario ---------------------------------------------------------------------------------

export const KEPT = "kept"; // in place of a scenario that is too large for an address

/** @typedef {Pick<import("../wire").Scenario, "data" | "rules">} BatchScenario */

/**
 * The address of Compare, from the first page, with these losses on the batch of a scenario; `link` is the
 * text of the scenario's link, which this browser keeps beside the address where that is too long for it.
 * @type {(sides: Side[], of: { link: string, most: number, scenario: BatchScenario }) => string}
 */
export function addressFor(sides, { link, most, scenario }) {
  const query = new URLSearchParams(numbered(sides));
  query.set("scene", link.length > most ? carry(scenario) : link);
  return `compare#${query}`;
}

/** @type {(scenario: BatchScenario) => string} Keep a scenario in this browser for Compare; what its address says in place of it. */
export function carry({ data, rules }) {
  store("carried", JSON.stringify({ data, rules }));
  return KEPT;
}

/** @type {() => BatchScenario | null} The scenario that was left here, null for none. */
export function carried() {
  try {
    return JSON.parse(stored("carried") ?? "null");
  } catch {
    return null;
  }
}

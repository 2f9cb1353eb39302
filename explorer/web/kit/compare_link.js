// The link that leads to Compare, with losses and the batch that another page leaves for it.
import { numbered } from "./state_link.js";
import { store, stored } from "./storage.js";

/** @typedef {import("./state_link.js").Side} Side */

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

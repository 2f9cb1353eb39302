// A loss in one of its conventions, also by the name that the convention had in an older address.
import { read } from "./state_link.js";

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

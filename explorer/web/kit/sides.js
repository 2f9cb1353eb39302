// Losses beside each other as they stand in the address of Compare, 1=cosent&2=info_nce&2.temperature=0.1,
// and the scene that another page leaves for it.
import { store, stored } from "./storage.js";

/** @typedef {import("../wire").Setting} Setting */
/** @typedef {{ loss: string, convention: string, parameters: Record<string, Setting> }} Side */
/** @typedef {Record<string, import("../wire").Loss>} Losses */

const MOST = 6;

/**
 * The entries of an address for these sides, in their order.
 * @param {Side[]} sides
 * @returns {[string, string][]}
 */
export function written(sides) {
  return sides.flatMap(({ loss, convention, parameters }, place) => {
    const at = String(place + 1);
    /** @type {[string, string][]} */
    const chosen = Object.entries(parameters).map(([name, value]) => [`${at}.${name}`, [value].flat().join("_")]);
    /** @type {[string, string][]} */
    const own = [[at, loss]];
    if (convention) own.push([`${at}@`, convention]);
    return [...own, ...chosen];
  });
}

/**
 * The losses that an address names.
 * @param {URLSearchParams} said
 */
export const lossesIn = (said) => [...said].filter(([key]) => /^\d+$/.test(key)).map(([, loss]) => loss);

/**
 * The sides that an address names; a parameter that its loss does not have is let go.
 * @param {URLSearchParams} said
 * @param {Losses} losses
 * @returns {Side[]}
 */
export function read(said, losses) {
  /** @type {Side[]} */
  const found = [];
  for (let at = 1; at <= MOST && said.has(String(at)); at += 1) {
    const loss = said.get(String(at)) ?? "";
    const named = said.get(`${at}@`) ?? "";
    const convention = losses[loss]?.former[named] ?? named;
    const form = formOf(losses, { loss, convention });
    const kinds = new Map(form?.parameters.map(({ name, kind }) => [name, kind]));
    const chosen = [...said]
      .filter(([key]) => key.startsWith(`${at}.`))
      .map(([key, value]) => [key.slice(key.indexOf(".") + 1), value])
      .filter(([name]) => !form || kinds.has(name))
      .map(([name, value]) => [name, settingOf(kinds.get(name), value)]);
    found.push({ loss, convention, parameters: Object.fromEntries(chosen) });
  }
  return found;
}

/**
 * @param {string | undefined} kind of the parameter
 * @param {string} text
 * @returns {Setting}
 */
function settingOf(kind, text) {
  if (kind === "choice") return text;
  if (kind === "switch") return text === "true";
  return kind === "list" ? text.split("_").map(Number) : Number(text);
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

// ---- The scene ---------------------------------------------------------------------------------

export const KEPT = "kept"; // in place of a scene that is too large for an address

/** @typedef {Pick<import("../wire").Scenario, "data" | "rules">} Scene */

/**
 * The address of Compare, from the first page, with these losses on the batch of a scene; `link` is the
 * text of the scene's link, which this browser keeps beside the address where that is too long for it.
 * @param {Side[]} sides
 * @param {{ link: string, most: number, scene: Scene }} of
 */
export function addressFor(sides, { link, most, scene }) {
  const said = new URLSearchParams(written(sides));
  if (link.length > most) store("carried", JSON.stringify({ data: scene.data, rules: scene.rules }));
  said.set("scene", link.length > most ? KEPT : link);
  return `compare#${said}`;
}

/**
 * The scene that was left here, null for none.
 * @returns {Scene | null}
 */
export function carried() {
  try {
    return JSON.parse(stored("carried") ?? "null");
  } catch {
    return null;
  }
}

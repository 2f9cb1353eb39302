// Runs that differ in nothing but their seed, a colour for each group.
import { say } from "../../kit/translated_sentences.js";
import { distinctNames } from "./plan_names.js";

/** @typedef {import("../../wire").RecordedPlan} Plan */

/**
 * `name` tells the group from the others, `label` says also of how many seeds it is, or of which.
 * @typedef {{ plan: Plan, names: string[], colour: string, name: string, label: string }} RunGroup
 */

const COLOURS = ["accent", "up", "floor", "collapse", "down", "faint"];

/** @type {(runs: { id: string, plan: Plan }[]) => RunGroup[]} The groups of these runs, in the order they come. */
export function groupsOf(runs) {
  /** @type {Map<string, { plan: Plan, names: string[], colour: string }>} */
  const found = new Map();
  for (const { id, plan } of runs) {
    const key = JSON.stringify({ ...plan, seed: 0 });
    const group = found.get(key) ?? { plan, names: [], colour: COLOURS[found.size % COLOURS.length] };
    group.names.push(id);
    found.set(key, group);
  }
  const all = [...found.values()];
  const hasSeeds = new Set(all.map(({ plan }) => plan.seed)).size > 1;
  const titles = distinctNames(all.map(({ plan }) => plan));
  return all.map((group, place) => {
    const { plan, names } = group;
    const one = hasSeeds ? say("finetune.seed_is", { seed: plan.seed }) : "";
    const seed = names.length > 1 ? say("finetune.mean_of", { count: names.length }) : one;
    const name = titles[place];
    return { ...group, name, label: [name, seed].filter(Boolean).join(" · ") };
  });
}

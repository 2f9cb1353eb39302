// The choice of an example batch, or of the batch that was left on Explore.
import { Select } from "./components.js";
import { group, h } from "./preact_view.js";
import { stored } from "./storage.js";
import { say } from "./translated_sentences.js";

export const EXPLORE_BATCH = "mine"; // in place of an example: the batch that was left on Explore

/** @type {(names: string[]) => [string, string][]} The options of a choice of examples. */
export const exampleOptions = (names) => names.map((name) => [name, say(`example.${name}.title`)]);

/**
 * The options of a choice of examples and, where there is one or it is `chosen`, of the batch that was left on Explore.
 * @type {(names: string[], chosen: string) => [string, string][]}
 */
export const batchOptions = (names, chosen) =>
  exampleOptions(stored("scene") || chosen === EXPLORE_BATCH ? [...names, EXPLORE_BATCH] : names);

/**
 * A choice of an example, with what it is about.
 * @param {{ id: string, examples: Record<string, import("../wire").Example>, chosen: string,
 *   change: (example: string) => void }} properties
 */
export function ExampleChoice({ id, examples, chosen, change }) {
  const note = examples[chosen]?.note;
  return group(
    h(Select, { id, name: say("ui.example"), value: chosen, options: exampleOptions(Object.keys(examples)), change }),
    h("p.lp-note", [say(`example.${chosen}.about`), note ? say(note) : ""].join(" ").trim()),
  );
}

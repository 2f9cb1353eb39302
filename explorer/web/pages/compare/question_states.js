// The questions of the page: which state of the page each one is.

import { pageData } from "../../kit/page_data.js";
import { exampleInLanguage } from "../../kit/replacement_example_for_language.js";

/** @typedef {import("../../wire").Scenario} Scenario */

/** @type {(question: string) => string} The example of a question in the reader's language. */
export const exampleOf = (question) => exampleInLanguage(pageData.compare.questions[question].example);

/**
 * The state of a question that is asked of its example.
 * @param {string} question
 */
export function stateOnExample(question) {
  const { data, rules } = pageData.defaults;
  return stateOnBatch(question, { data: { ...data, source: "example", example: exampleOf(question) }, rules });
}

/**
 * The state of a question that is asked of a batch.
 * @param {string} question
 * @param {Pick<Scenario, "data" | "rules">} batch
 */
export function stateOnBatch(question, { data, rules }) {
  const { extra_negatives, sides, picture, state } = pageData.compare.questions[question];
  return { data, rules: { ...rules, extra_negatives }, question, sides, picture, ...state };
}

/**
 * Whether there is such a question, and the page shows its experiment.
 * @type {(question: string, state: Record<string, unknown>) => boolean}
 */
export function showsQuestion(question, state) {
  const own = pageData.compare.questions[question]?.state;
  return own !== undefined && Object.entries(own).every(([name, value]) => state[name] === value);
}

/** @type {(entries: URLSearchParams) => string} The picture of an address that names none, as addresses once did. */
export function pictureOfOldLink(entries) {
  const question = pageData.compare.questions[entries.get("q") ?? ""];
  return question?.picture ?? (entries.has("vary") ? "vary" : "gradients");
}

// What a finding of a data set or of a run is told by.
import { h, worded } from "../../kit/dom.js";
import { say } from "../../kit/words.js";

/**
 * A finding: how bad it is, its name, its sentence, and whatever follows.
 * @param {{ name: string, severity: string, said: string }} finding
 * @param {...import("../../kit/types").Child} more
 */
export function findingCard({ name, severity, said }, ...more) {
  return h(
    "li.lp-finding",
    { "data-finding": name },
    h(
      "div.lp-finding-head",
      {},
      h(`span.lp-kind.lp-severity-${severity}`, {}, say(`doctor.severity.${severity}`)),
      h("small", {}, name),
    ),
    h("p.lp-finding-said", {}, said),
    ...more,
  );
}

/**
 * What to do: a sentence, and arguments to paste.
 * @param {string[]} advice
 */
export const adviceOf = ([told, ...pastes]) => [h("p.lp-finding-do", {}, told), ...pastes.map(pasteOf)];

/**
 * An argument to paste.
 * @param {string} text
 */
export function pasteOf(text) {
  return h(
    "div.lp-row.lp-paste",
    {},
    h("code", {}, text),
    worded("button.lp-button", "ui.copy", { type: "button", onclick: () => navigator.clipboard.writeText(text) }),
  );
}

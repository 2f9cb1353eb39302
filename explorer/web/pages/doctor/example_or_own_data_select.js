// Where the rows of a dataset or the log of a run come from: an example, or the reader's own.
import { h } from "../../kit/preact_view.js";
import { say } from "../../kit/translated_sentences.js";

/**
 * @typedef {object} SourceProperties
 * @property {string} id
 * @property {string} word the catalogue's word for the choice, and the beginning of those for its kinds
 * @property {readonly string[]} kinds "example" first
 * @property {string[][]} examples names, each with its title
 * @property {{ kind: string, example: string }} state
 * @property {(source: { kind: string, example?: string }) => void} choose
 */

/** @param {SourceProperties} properties */
export function SourceSelect({ id, word, kinds: [first, ...own], examples, state, choose }) {
  /** @type {(options: string[][]) => import("preact").VNode[]} */
  const options = (names) => names.map(([value, title]) => h("option", { key: value, value }, title));
  return h(
    "select",
    {
      id,
      "aria-label": say(word),
      value: state.kind === first ? state.example : state.kind,
      onChange: ({ currentTarget: { value } }) =>
        choose(own.includes(value) ? { kind: value } : { kind: first, example: value }),
    },
    h("optgroup", { label: say(`${word}.example`) }, options(examples)),
    h("optgroup", { label: say("doctor.own") }, options(own.map((kind) => [kind, say(`${word}.${kind}`)]))),
  );
}

// A finding of a number, a dataset or a run: its verdict, with what is to be known beside it behind ⓘ.
import { Fold, Notes, Paste } from "../../kit/components.js";
import { group, h } from "../../kit/view.js";
import { say, sentences } from "../../kit/words.js";

/** @typedef {import("preact").ComponentChildren} Children */

/**
 * A card that begins with the first sentence of `text`, which is the verdict; the other sentences and
 * `more` are notes.
 * @param {{ text: string, more?: string[], head?: Children, name?: string, children?: Children }} properties
 */
export function Card({ text, more = [], head, name, children }) {
  const [verdict, ...notes] = sentences(text);
  return h(
    "li.lp-finding",
    { "data-finding": name },
    h("div.lp-finding-head", null, head),
    h("p.lp-finding-said", null, verdict),
    children,
    h(Notes, { notes: [...notes, ...more] }),
  );
}

/**
 * What is wrong with a dataset or a run: how bad it is, and what to do and paste.
 * @param {{ finding: { name: string, severity: string, said: string, advice: string[] }, children?: Children }} properties
 */
export function Fault({ finding: { name, severity, said, advice }, children }) {
  const [action, ...pastes] = advice;
  return h(
    Card,
    {
      text: said,
      name,
      head: h(`span.lp-kind.lp-severity-${severity}`, null, say(`doctor.severity.${severity}`)),
    },
    action ? h("p.lp-finding-do", null, action) : null,
    pastes.map((text) => h(Paste, { text })),
    children,
  );
}

/**
 * The findings of a check, the worst first; mere notes stand folded where there is anything worse.
 * @template {{ severity: string }} Finding
 * @param {Finding[]} findings
 * @param {(finding: Finding) => import("preact").VNode} draw
 */
export function listed(findings, draw) {
  const isWorse = findings.some(({ severity }) => severity !== "note");
  const shown = findings.filter(({ severity }) => !isWorse || severity !== "note");
  const notes = findings.filter((finding) => !shown.includes(finding));
  return group(
    h("ol.lp-findings.lp-faults", null, shown.map(draw)),
    notes.length
      ? h(
          Fold,
          { title: say("doctor.notes_too", { count: notes.length }) },
          h("ol.lp-findings.lp-faults", null, notes.map(draw)),
        )
      : null,
  );
}

/** @param {{ lines: string[] }} properties */
export const Lines = ({ lines }) =>
  lines.length
    ? h(
        "ul.lp-remarks",
        null,
        lines.map((line) => h("li", null, line)),
      )
    : null;

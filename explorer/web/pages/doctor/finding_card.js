// A finding of a number, a dataset or a run: its verdict, with what is to be known beside it behind ⓘ.
import { Fold, Notes, Paste } from "../../kit/components.js";
import { group, h } from "../../kit/preact_view.js";
import { say, sentences } from "../../kit/translated_sentences.js";

/** @typedef {import("../../kit/types").Children} Children */

/**
 * A card that begins with the first sentence of `text`, which is the verdict; the other sentences, `more` and
 * `details` stand behind ⓘ. With `isAdvised` the second sentence, which says what to do, stands below the first.
 * @param {{ text: string, more?: string[], head?: Children, name?: string, details?: Children[],
 *   isAdvised?: boolean, children?: Children }} properties
 */
export function Card({ text, more = [], head, name, details, isAdvised = false, children }) {
  const [verdict, ...notes] = sentences(text);
  const action = isAdvised && notes.shift();
  return h(
    "li.lp-finding",
    { "data-finding": name },
    h("div.lp-finding-head", head),
    h("p.lp-finding-sentence", verdict),
    action ? h("p.lp-finding-do", action) : null,
    children,
    h(Notes, { notes: [...notes, ...more] }, details),
  );
}

/**
 * What is wrong with a dataset or a run: how bad it is, what to do first and what to paste for it. `evidence` is
 * shown at once where it is severe, and else behind ⓘ, as other things to paste are.
 * @param {{ finding: { name: string, severity: string, said: string, advice: string[] },
 *   evidence?: import("preact").VNode | null }} properties
 */
export function Fault({ finding: { name, severity, said, advice }, evidence = null }) {
  const [remedy = "", paste, ...pastes] = advice;
  const [action, ...caveats] = sentences(remedy);
  const isSevere = severity === "severe";
  return h(
    Card,
    {
      text: said,
      more: caveats,
      name,
      head: h(`span.lp-kind.lp-severity-${severity}`, say(`doctor.severity.${severity}`)),
      details: [...pastes.map((text) => h(Paste, { text })), ...(evidence && !isSevere ? [evidence] : [])],
    },
    action ? h("p.lp-finding-do", action) : null,
    paste ? h(Paste, { text: paste }) : null,
    isSevere ? evidence : null,
  );
}

/**
 * The findings of a check: the worst, and the others folded.
 * @template {{ severity: string }} Finding
 * @param {Finding[]} findings the worst first
 * @param {(finding: Finding) => import("preact").VNode} draw
 */
export function listed([worst, ...others], draw) {
  if (!worst) return null;
  const severe = others.filter(({ severity }) => severity === "severe").length;
  const title = say(`doctor.other_findings${severe ? "_severe" : ""}`, { count: others.length, severe });
  return group(
    h("ol.lp-findings.lp-faults", draw(worst)),
    others.length ? h(Fold, { title }, h("ol.lp-findings.lp-faults", others.map(draw))) : null,
  );
}

/** @param {{ lines: string[] }} properties */
export const Lines = ({ lines }) =>
  lines.length
    ? h(
        "ul.lp-remarks",
        lines.map((line) => h("li", line)),
      )
    : null;

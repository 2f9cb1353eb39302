// Pairs that the reader relabels or leaves out where they are judged, and the list of what was changed.
import { h, setText, worded } from "./dom.js";
import { grouped, show } from "./number_format.js";
import { say } from "./translated_sentences.js";

/** A pair by its two sentences, and its label as text, "" where it is left out.
 * @typedef {[string, string, string]} Correction */

/**
 * Corrections with another label for a pair: "" leaves it out, null takes it as it came.
 * @type {(corrections: Correction[], first: string, second: string, label: string | null) => Correction[]}
 */
export function corrected(corrections, first, second, label) {
  const others = corrections.filter(([one, other]) => one !== first || other !== second);
  return label === null ? others : [...others, [first, second, label]];
}

/**
 * How many suspects data without a wrong label would list, and that fewer of them are no good sign.
 * @type {(count: number, usual: import("../wire").Disagreement) => string}
 */
export function expectedWords(count, { expected, low, high }) {
  const values = { count: grouped(count), expected: show(expected, 2), low: grouped(low), high: grouped(high) };
  const sentence = say("ui.suspects_expected", values);
  return count < low ? `${sentence} ${say("ui.suspects_fewer")}` : sentence;
}

/**
 * Why no pair is listed, by its key: none contradicts its label far more than is `usual`, or the
 * comparisons are none, or so often violated that none could.
 * @param {{ ordered: number, violated: number }} of
 * @param {"ui.no_suspects" | "large.no_suspects"} usual
 */
export function whyNone(of, usual) {
  const { ordered, violated } = of;
  if (!ordered) return "ui.suspects_equal";
  return 2 * violated > ordered ? "ui.suspects_against" : usual;
}

/**
 * Another label, the one that would fit, or out: for the pair of whatever row stands there.
 * @param {{ pair: () => [string, string], label: () => number, fitting: () => number,
 *   editable: () => boolean, correct: (first: string, second: string, label: string) => void }} of
 */
export function verdictOf({ pair, label: labelOf, fitting, editable, correct }) {
  /** @param {string} label */
  const decide = (label) => correct(...pair(), label);
  const label = h("input.lp-number", {
    type: "number",
    step: "any",
    onchange: () => {
      if (label.value.trim() !== "") decide(label.value.trim());
    },
  });
  const fit = h("button.lp-button", { onclick: () => decide(String(fitting())) });
  const out = h("button.lp-button", { onclick: () => decide("") });
  const box = h("div.lp-row.lp-wrap.lp-verdict-of-pair", label, fit, out);
  box.addEventListener("lp-row", () => {
    label.value = String(labelOf());
    label.setAttribute("aria-label", say("ui.correct_label"));
    setText(fit, say("ui.correct_fit", { value: show(fitting()) }));
    setText(out, say("ui.correct_out"));
    box.hidden = !editable();
  });
  return box;
}

/**
 * What was corrected, each to be undone, and both files that follow from it. `note` is the key of what
 * corrections hold for; `take` hears which file is wanted.
 * @param {{ note: string, undo: (first: string, second: string) => void,
 *   take: (what: "corrected_csv" | "changes_csv") => void }} options
 */
export function correctionsList({ note, undo, take }) {
  const count = h("h3");
  const list = h("ul.lp-corrections");
  const element = h(
    "div",
    { hidden: true },
    count,
    worded("p.lp-note", note),
    list,
    h(
      "div.lp-row.lp-wrap",
      worded("button.lp-button", "ui.take_corrected", { onclick: () => take("corrected_csv") }),
      worded("button.lp-button", "ui.take_corrections", { onclick: () => take("changes_csv") }),
    ),
  );

  /** @param {Correction[]} made */
  function fill(made) {
    element.hidden = !made.length;
    setText(count, say("ui.corrections", { count: made.length }));
    list.replaceChildren(
      ...made.map(([a, b, label]) =>
        h(
          "li",
          h("strong", label === "" ? say("ui.correction_out") : `${say("ui.label")} ${label}`),
          " ",
          h("span", `${a} | ${b}`),
          " ",
          worded("button.lp-crumb", "ui.undo", { onclick: () => undo(a, b) }),
        ),
      ),
    );
  }

  return { element, fill };
}

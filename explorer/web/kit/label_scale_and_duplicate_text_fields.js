// The fields of the rules of a batch: how labels are read, and what becomes of texts that stand there twice.
import { Select, useLatest } from "./components.js";
import { labelled, h as make, worded } from "./dom.js";
import { show } from "./number_format.js";
import { h, hosted } from "./preact_view.js";
import { say } from "./translated_sentences.js";

/** @typedef {[number, number]} Ends */
/** @typedef {{ threshold: number | null, label_range: Ends | null }} Chosen */
/** @typedef {{ threshold: number, label_range: Ends }} InForce */

/**
 * The ends of the labels' scale, and from where on a pair is positive. What is left empty follows from the labels, and
 * a line says how. The ids of the fields begin with `id`; `change` gets what was typed, once it is a scale.
 * @param {string} id
 * @param {(rules: Partial<Chosen>) => void} change
 */
function labelFields(id, change) {
  /** @type {InForce | null} */
  let known = null;
  const summary = make("p.lp-note.lp-labels-read", { "aria-live": "polite" });
  const wrong = make("p.lp-wrong", { role: "alert", hidden: true });
  /** @type {(name: string, title: string | null, typed: () => void) => HTMLInputElement} */
  const box = (name, title, typed) =>
    make("input.lp-number", { type: "number", step: "any", id: `${id}${name}`, "data-title": title, oninput: typed });
  const threshold = box("threshold", null, () => change({ threshold: numberIn(threshold) }));
  const ends = [box("label-low", "ui.label_low", () => typed(0)), box("label-high", "ui.label_high", () => typed(1))];

  /**
   * An end that stands alone has the one in force beside it; one that is emptied gives both free.
   * @param {0 | 1} place
   */
  function typed(place) {
    const own = numberIn(ends[place]);
    const other = numberIn(ends[1 - place]) ?? known?.label_range[1 - place] ?? null;
    const [low, high] = place ? [other, own] : [own, other];
    const crossed = low !== null && high !== null && low >= high;
    ends[place].classList.toggle("lp-bad", crossed);
    wrong.hidden = !crossed;
    wrong.textContent = crossed ? say("problem.label_range", { low, high }) : "";
    if (crossed) return;
    if (own === null) for (const end of ends) end.value = "";
    change({ label_range: own === null || low === null || high === null ? null : [low, high] });
  }

  return {
    element: make(
      "div.lp-label-rules",
      summary,
      make(
        "div.lp-field",
        worded("span", "ui.label_range"),
        make("div.lp-row", ends[0], worded("span", "ui.range_to"), ends[1]),
      ),
      wrong,
      labelled("ui.threshold", threshold),
    ),
    focus: () => threshold.focus(),
    /** @type {(rules: Chosen) => void} What was chosen. What is being typed stays as it is typed. */
    set({ threshold: bound, label_range: range }) {
      put(threshold, bound);
      if (!wrong.hidden) return;
      ends.forEach((end, i) => {
        put(end, range?.[i] ?? null);
      });
    },
    /** @type {(rules: InForce) => void} What is in force. */
    showInForce(rules) {
      known = rules;
      const [low, high] = rules.label_range.map((end) => show(end));
      summary.textContent = say("rule.labels", { low, high, threshold: show(rules.threshold) });
      threshold.placeholder = show(rules.threshold);
      ends.forEach((end, i) => {
        end.placeholder = show(rules.label_range[i]);
      });
    },
  };
}

/** @type {(ends: Ends) => string} What a loss that regresses on labels of this scale draws a pair to. */
export function targetsOf([low, high]) {
  const asTheyAre = high === 1 && (low === 0 || low === -1);
  return asTheyAre ? say("rule.targets_same") : say("rule.targets", { low: show(low), high: show(high) });
}

/** @type {(box: HTMLInputElement) => number | null} */
const numberIn = (box) => (box.value.trim() === "" ? null : Number(box.value));

/** @type {(box: HTMLInputElement, value: number | null) => void} */
function put(box, value) {
  if (document.activeElement !== box) box.value = String(value ?? "");
}

/**
 * The ends of the labels' scale, and from where on a pair is positive: as chosen, and as `inForce`.
 * @param {{ id: string, chosen: Chosen,
 *   inForce: InForce | undefined,
 *   change: (rules: Partial<Chosen>) => void }} properties
 */
export function LabelRules({ id, chosen, inForce, change }) {
  const changing = useLatest(change);
  return hosted({
    make: (root) => {
      const fields = labelFields(id, changing);
      root.append(fields.element);
      return fields;
    },
    update: (fields) => {
      fields.set(chosen);
      if (inForce) fields.showInForce(inForce);
    },
  });
}

/**
 * What becomes of a text that stands in a batch twice; `names` are the choices that there are.
 * @param {{ id: string, value: string, names?: string[], change: (value: string) => void }} properties
 */
export const SameTexts = ({ id, value, names = ["keep", "leave_out"], change }) =>
  h(
    "div.lp-twins",
    h(Select, {
      id,
      name: say("ui.twins"),
      value,
      options: names.map((name) => [name, say(`ui.twins.${name}`)]),
      change,
    }),
    h("p.lp-note", say(`ui.twins.${value}.about`)),
  );

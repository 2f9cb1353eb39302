// A row of the table of pairs: its cells, what is wrong with them, and what is marked at them.

import { pictureOf } from "../../kit/batch_text_with_picture.js";
import { h } from "../../kit/dom.js";
import { say } from "../../kit/translated_sentences.js";

/** @typedef {import("../../kit/types").Row} Row */

const COLUMNS = ["sentence1", "sentence2", "score"];

/** @param {HTMLElement} line */
export function inputsOf(line) {
  /** @type {NodeListOf<HTMLTextAreaElement | HTMLInputElement>} */
  const found = line.querySelectorAll("textarea, input");
  return Array.from(found);
}

/** @type {(line: HTMLElement) => Row} */
export function cellsOf(line) {
  const [first = "", second = "", score = ""] = inputsOf(line).map((input) => input.value);
  return [first, second, score];
}

/**
 * @param {Row} cells
 * @param {{ isEditable: boolean, remove: (line: HTMLElement) => void, point: (pairs: number[]) => void }} options
 * @returns {HTMLElement}
 */
export function pairRow(cells, { isEditable, remove, point }) {
  const [value, other, score] = cells;
  const inputs = [
    h("textarea", { rows: 1, value, readOnly: !isEditable, "data-title": "column.first" }),
    h("textarea", { rows: 1, value: other, readOnly: !isEditable, "data-title": "column.second" }),
    h("input", {
      type: "text",
      inputMode: "decimal",
      value: score,
      readOnly: !isEditable,
      "data-title": "column.score",
    }),
  ];
  const button = h(
    "button.lp-square",
    { hidden: !isEditable, "data-title": "ui.delete_row", onclick: () => remove(line) },
    "×",
  );
  const line = h(
    "tr",
    h("td.lp-index"),
    inputs.map((input) => h("td", input)),
    h("td.lp-similarity"),
    h("td", button),
  );
  line.addEventListener("mouseenter", () => point(line.pair === undefined ? [] : [line.pair]));
  line.addEventListener("mouseleave", () => point([]));
  return line;
}

/**
 * Show what is marked at a pair, each below the cell that it is about.
 * @type {(line: HTMLElement, marks: import("./duplicate_error_and_teacher_tags.js").Mark[]) => void}
 */
export function showMarks(line, marks) {
  for (const old of line.querySelectorAll(".lp-tag")) old.remove();
  const inputs = inputsOf(line);
  for (const { cell, key, about, values } of marks)
    inputs[cell].after(h("span.lp-tag", { title: say(about, values) }, say(key, values)));
}

/**
 * Show the picture that a cell names before it.
 * @type {(line: HTMLElement, of: import("../../wire").ExploredBatch | null) => void}
 */
export function showPictures(line, of) {
  for (const old of line.querySelectorAll("img")) old.remove();
  for (const input of inputsOf(line).slice(0, 2)) input.before(...pictureOf(h, { text: input.value, of }));
}

/**
 * Mark the cell that cannot be read, with the reason below it; a fault that names no column is the whole row's.
 * @type {(line: HTMLElement, fault: import("../../wire").SkippedRow | undefined) => void}
 */
export function showFault(line, fault) {
  line.classList.toggle("lp-bad-row", Boolean(fault));
  for (const reason of line.querySelectorAll(".lp-wrong")) reason.remove();
  const inputs = inputsOf(line);
  const named = COLUMNS.indexOf(String(fault?.values.column));
  const wrong = !fault ? [] : named < 0 ? inputs : [inputs[named]];
  for (const input of inputs) {
    input.classList.toggle("lp-bad", wrong.includes(input));
    input.toggleAttribute("aria-invalid", wrong.includes(input));
  }
  if (fault) wrong.at(-1)?.after(h("div.lp-wrong", say(fault.key, fault.values)));
}

// What was read of a file, and which of its rows were left out.
import { h } from "./preact_view.js";
import { say } from "./translated_sentences.js";

/** @typedef {Pick<import("../wire").SkippedRow, "row" | "key" | "values">} LeftOut */

const MOST_ROWS = 20; // of those left out that are listed

/**
 * The rows that were left out: how many, and why of the first ones.
 * @param {{ count: number, reasons: LeftOut[] }} properties
 */
export function SkippedRows({ count, reasons }) {
  const listed = reasons.slice(0, MOST_ROWS);
  return h(
    "ul.lp-skipped",
    { hidden: count === 0 },
    h("li", h("b", say("ui.skipped", { count }))),
    listed.map(({ row, key, values }) => h("li", say("ui.row_skipped", { row, reason: say(key, values) }))),
    count > listed.length ? h("li", say("ui.more_skipped", { count: count - listed.length })) : null,
  );
}

/** @typedef {{ key: string, values: Record<string, string> }} ReadingNote how a table was read */

// What the fields below a file show: one column for each role.
const IN_FIELDS = ["first", "second", "score", "anchor", "teacher", "text", "class"].map((role) => `reading.${role}`);

/**
 * Which columns were read besides those in the fields, which were not, and in which order a library
 * would read them.
 * @param {ReadingNote[] | undefined} notes
 * @param {boolean} hasFields whether fields say which columns are the texts and the score
 */
export function readingNotes(notes, hasFields = true) {
  const shown = (notes ?? []).filter(({ key }) => !hasFields || !IN_FIELDS.includes(key));
  return shown.map(({ key, values }) => say(key, values));
}

/**
 * What was read of a file, and of what kind its labels are, where they are no plain scores.
 * @param {string} read
 * @param {{ labelled?: boolean, inference?: boolean, notes?: ReadingNote[] } | null | undefined} file
 * @param {boolean} hasFields as of `readingNotes`
 */
export function withLabels(read, file, hasFields = true) {
  const sentences = [read, ...readingNotes(file?.notes, hasFields)];
  if (file?.labelled === false) sentences.push(say("ui.all_positives"));
  else if (file?.inference) sentences.push(say("ui.inference"));
  return sentences.join(" ");
}

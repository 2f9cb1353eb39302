// How the rows of a file are read: its encoding, which column plays which role, whether the first row names them; and
// what was read and left out.
import { Checkbox, Select } from "./components.js";
import { group, h } from "./preact_view.js";
import { say } from "./words.js";

const NO_SCORE = "none"; // in place of a column: for the score, all pairs are positives
const OPTIONAL = ["score", "teacher", "guide", "vectors"]; // what a file may do without; the last two have a role for each text

/**
 * `roles` are the columns in force by role, "" where one is yet to be chosen; with `none`, its title, where no column
 * plays it.
 * @param {{ columns: string[], roles: Record<string, string>, none?: string,
 *   change: (role: string, column: string) => void }} properties
 */
export function ColumnFields({ columns, roles, none, change }) {
  return group(
    Object.entries(roles).map(([role, chosen]) => {
      const [kind] = role.split("_");
      const options = columns.map((column) => [column, column]);
      if (none || !chosen) options.unshift(["", none ?? ""]);
      if (OPTIONAL.includes(kind)) options.push([NO_SCORE, say(`column.no_${kind}`)]);
      const take = (/** @type {string} */ column) => change(role, column);
      return h(Select, { key: role, role, name: say(`column.${role}`), value: chosen, options, change: take });
    }),
  );
}

/**
 * In which encoding a text is, each with how its first words would read; nothing where that is plain.
 * @param {{ encoding: string, encodings: [string, string][], change: (encoding: string) => void }} properties
 */
export function EncodingField({ encoding, encodings, change }) {
  if (!encodings.length) return null;
  const options = encodings.map(([name, words]) => [name, `${name} · ${words}`]);
  if (!encoding) options.unshift(["", say("ui.encoding_open")]);
  return h(Select, { role: "encoding", name: say("ui.encoding"), value: encoding, options, change });
}

/** @param {{ header: boolean, change: (header: boolean) => void }} properties */
export const HeaderField = ({ header, change }) => h(Checkbox, { name: say("ui.has_header"), checked: header, change });

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

// How the rows of a table are read: encoding, pairs or texts with their classes, columns, the first row.
import { Select, useDraft } from "../../../kit/components.js";
import { ColumnFields, EncodingField, HeaderField } from "../../../kit/file_reading_fields.js";
import { SkippedRows } from "../../../kit/file_reading_results.js";
import { group, h } from "../../../kit/preact_view.js";
import { say } from "../../../kit/translated_sentences.js";

/** @typedef {import("../../../wire").LargeFile | import("../../../wire").UndecidedData} File */

/**
 * The columns to begin with where the rows are taken for texts with classes, or for pairs again.
 * @type {(ofClasses: boolean, chosen: Record<string, string>, names: string[]) => Record<string, string>}
 */
function guessed(ofClasses, chosen, names) {
  const known = (/** @type {string | undefined} */ name) => (name && names.includes(name) ? name : "");
  const other = (/** @type {string} */ name) => names.find((one) => one !== name) ?? "";
  const text = known(chosen.text) || known(chosen.first) || known(chosen.anchor);
  if (ofClasses) {
    const kind = known(chosen.score) || names[names.length - 1];
    return { text: text && text !== kind ? text : other(kind), class: kind };
  }
  const first = text || names[0];
  const pair = { first, second: other(first) };
  return names.length === 2 ? { ...pair, score: "none" } : pair; // nothing is left to be a label
}

/** @param {{ file: File, check: import("./check_state_and_requests.js").DataCheck }} properties */
export function Columns({ file, check }) {
  const { columns, header, encoding, encodings } = file;
  const draft = useDraft(file.chosen);
  /** @param {string} role @param {string} column */
  const choose = (role, column) => {
    draft.now = { ...draft.now, [role]: column };
    const chosen = Object.fromEntries(Object.entries(draft.now).filter(([, one]) => one));
    if ("anchor" in draft.now || (chosen.first && chosen.second) || (chosen.text && chosen.class))
      check.set({ columns: chosen });
  };
  return group(
    h(
      "div.lp-columns",
      h(EncodingField, {
        encoding,
        encodings,
        change: (now) => check.set({ encoding: now, header: null, columns: {} }),
      }),
      columns.length > 1 ? h(KindField, { file, check }) : null,
      columns.length
        ? group(
            h(ColumnFields, { columns, roles: draft.now, change: choose }),
            h(HeaderField, { header, change: (now) => check.set({ header: now, columns: {} }) }),
          )
        : null,
    ),
    h(SkippedRows, { count: file.skipped, reasons: file.reasons }),
  );
}

/**
 * Whether the rows are pairs, or texts with their classes: of a table that can be either.
 * @param {{ file: File, check: import("./check_state_and_requests.js").DataCheck }} properties
 */
function KindField({ file: { chosen, columns, header }, check }) {
  return h(Select, {
    role: "kind",
    name: say("doctor.rows_are"),
    value: "class" in chosen ? "classes" : "pairs",
    options: ["pairs", "classes"].map((kind) => [kind, say(`doctor.rows_are.${kind}`)]),
    // Read otherwise, the first row might no longer be taken for the names that were chosen from.
    change: (kind) => check.set({ columns: guessed(kind === "classes", chosen, columns), header }),
  });
}

// How the rows of a table are read: encoding, pairs or texts with their classes, columns, the first row.
import { h as element } from "../../../kit/dom.js";
import { group, hosted } from "../../../kit/preact_view.js";
import { check, columnFields, encodingField, tellSkipped } from "../../../kit/sidebar.js";
import { labelled } from "../../../kit/sidebar_fields.js";
import { say } from "../../../kit/words.js";

/** @typedef {import("../../../wire").LargeFile | import("../../../wire").UndecidedData} File */

/**
 * The columns to begin with where the rows are taken for texts with classes, or for pairs again.
 * @param {boolean} ofClasses
 * @param {Record<string, string>} chosen
 * @param {string[]} names
 * @returns {Record<string, string>}
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

/** @param {{ file: File, check: import("./check.js").DataCheck }} properties */
export const Columns = ({ file, check: data }) =>
  group(
    hosted({
      kind: "div.lp-columns",
      make: (root) => root,
      update: (root) => root.replaceChildren(...fieldsOf(file, (change) => data.set(change))),
    }),
    hosted({
      kind: "ul.lp-skipped",
      make: (list) => list,
      update: (list) => tellSkipped(list, file.skipped, file.told),
    }),
  );

/**
 * @param {File} file
 * @param {(change: Record<string, any>) => void} set
 */
function fieldsOf(file, set) {
  const chosen = { ...file.chosen };
  /** @type {(role: string, column: string) => void} */
  const take = (role, column) => {
    chosen[role] = column;
    if ("anchor" in chosen || (chosen.first && chosen.second) || (chosen.text && chosen.class))
      set({ columns: Object.fromEntries(Object.entries(chosen).filter(([, one]) => one)) });
  };
  const { columns, header } = file;
  return [
    ...encodingField(file, (encoding) => set({ encoding, header: null, columns: {} })),
    ...(columns.length > 1 ? [kindField(file, set)] : []),
    ...(columns.length ? columnFields({ ...file, chosen }, take) : []),
    ...(columns.length ? [check("ui.has_header", header, (now) => set({ header: now, columns: {} }))] : []),
  ];
}

/**
 * Whether the rows are pairs, or texts with their classes: of a table that can be either.
 * @param {File} file
 * @param {(change: Record<string, any>) => void} set
 */
function kindField({ chosen, columns: names, header }, set) {
  // Read otherwise, the first row might no longer be taken for the names that were chosen from.
  const turn = () => set({ columns: guessed(select.value === "classes", chosen, names), header });
  const select = element(
    "select",
    { name: "kind", onchange: turn },
    ["pairs", "classes"].map((kind) => element("option", { value: kind }, say(`doctor.rows_are.${kind}`))),
  );
  select.value = "class" in chosen ? "classes" : "pairs";
  return labelled("doctor.rows_are", select);
}

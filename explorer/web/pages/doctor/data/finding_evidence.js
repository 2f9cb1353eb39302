// What is wrong with a dataset, with the rows that show it, and what was looked for.
import { Fold, StackedTable } from "../../../kit/components.js";
import { grouped, show } from "../../../kit/number_format.js";
import { group, h } from "../../../kit/preact_view.js";
import { say } from "../../../kit/translated_sentences.js";
import { Fault, Lines } from "../finding_card.js";

/** @typedef {import("../../../wire").EvidentRow} Row */
/** @typedef {import("../../../wire").Cell} Cell */
/** @typedef {import("../../../wire").ClassRow} ClassRow */
/** @typedef {{ name: string, severity: string, said: string, advice: string[], scene?: string,
 *   rows?: (Row | ClassRow)[], cells?: Cell[] }} Finding */

const TEXTS = ["first", "second", "text", "other_text", "called"]; // columns that hold sentences

/** @param {{ finding: Finding }} properties */
export function DataFault({ finding }) {
  const { rows = [], cells = [], scene } = finding;
  const evidence = rows.length || cells.length || scene ? h(Evidence, { finding }) : null;
  return h(Fault, { finding, evidence });
}

/**
 * What was looked for, and what was not.
 * @param {{ looked: string[], unlooked?: string[], open: boolean, children?: import("../../../kit/types").Children }} properties
 */
export const Searched = ({ looked, unlooked = [], open, children }) =>
  h(
    "div.lp-looked",
    children,
    h(
      Fold,
      { title: say("doctor.looked_for"), open },
      h(Lines, { lines: looked }),
      unlooked.length ? h("p", say("doctor.not_looked_for")) : null,
      h(Lines, { lines: unlooked }),
    ),
  );

/** @param {{ finding: Finding }} properties */
const Evidence = ({ finding: { scene, rows = [], cells = [] } }) =>
  group(
    cells.length ? h(CellTable, { cells }) : rows.length ? h(RowTable, { rows }) : null,
    scene ? h("div.lp-row.lp-wrap", h("a.lp-button", { href: `./#${scene}` }, say("doctor.open.rows"))) : null,
  );

/** @param {{ rows: (Row | ClassRow)[] }} properties */
export function RowTable({ rows }) {
  const pairs = /** @type {Row[]} */ (rows.filter((row) => "first" in row));
  if (!pairs.length) {
    const texts = /** @type {ClassRow[]} */ (rows);
    return h(Table, {
      names: ["row", "text", "called"],
      rows: texts.map(({ row, text, called }) => [grouped(row), text, called]),
    });
  }
  const isLabelled = pairs.some(({ label }) => label !== null);
  return h(Table, {
    names: ["row", "first", "second", ...(isLabelled ? ["label"] : [])],
    rows: pairs.map(({ row, first, second, label }) => [
      grouped(row),
      first,
      second,
      ...(isLabelled ? [written(label)] : []),
    ]),
  });
}

/** @param {{ cells: Cell[] }} properties */
function CellTable({ cells }) {
  const hasOwn = cells.some(({ own }) => own !== null);
  return h(Table, {
    names: ["row", "text", "other_row", "other_text", "cosine", ...(hasOwn ? ["own"] : [])],
    rows: cells.map(({ row, first, other, second, cosine, own }) => [
      grouped(row),
      first,
      grouped(other),
      second,
      show(cosine, 3),
      ...(hasOwn ? [written(own, 3)] : []),
    ]),
  });
}

/** @type {(value: Row["label"], digits?: number) => string} */
const written = (value, digits) => (value === null ? "" : show(value, digits));

/** @param {{ names: string[], rows: string[][] }} properties */
const Table = ({ names, rows }) =>
  h(StackedTable, {
    label: say("doctor.evidence"),
    columns: names.map((name) => ({ title: say(`doctor.column.${name}`), text: TEXTS.includes(name) })),
    rows,
  });

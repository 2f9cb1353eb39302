// Formula = autograd = library: the losses of the page in our function and in every installed library, beside
// their definition. Computed when the section is opened.
import { show } from "../../kit/number_format.js";
import { group, h } from "../../kit/preact_view.js";
import { say, titleOf } from "../../kit/translated_sentences.js";
import { useEffect, useState } from "../../kit/vendor/preact/hooks.js";
import { Downloads } from "./downloads.js";
import { Table } from "./scrolling_table.js";

/** @typedef {import("../../wire").ParityRow} Row */
/** @typedef {import("../../wire").Gap} Gap */
/** @typedef {import("./state.js").ComparePage} ComparePage */

/** @type {Record<Row["status"], string>} */
const MARKS = {
  equal: "=",
  explained: "≈",
  differs: "✗",
  alone: "·",
  not_installed: "–",
  not_called: "?",
  failed: "!",
};
const PRECISIONS = ["float64", "float32"];

/** @param {{ page: ComparePage }} properties */
export function Parity({ page }) {
  page.observe("compared", "batch", "problem");
  const [parity, setParity] = useState(/** @type {import("../../wire").Parity | null} */ (null));
  const losses = [...new Set(page.sides.map(({ loss }) => loss))].join();
  useEffect(() => {
    let isCurrent = true;
    askParity(page).then((found) => isCurrent && setParity(found));
    return () => {
      isCurrent = false;
    };
  }, [page.batch?.key, losses, Boolean(page.problem)]);
  const { seeded, first } = parity ?? {};
  const note = seeded ? "seeded" : first ? "first" : "here";
  return group(
    h("p.lp-note", say("compare.parity.about")),
    h("p.lp-note", { role: "status" }, parity ? say(`compare.parity.${note}`, { count: first }) : say("ui.working")),
    parity ? h(ParityTable, { rows: parity.rows }) : null,
    parity ? h(Downloads, { page, name: "parity", csv: () => csvOf(parity.rows) }) : null,
  );
}

/** @type {(page: ComparePage) => Promise<import("../../wire").Parity | null>} */
async function askParity(page) {
  if (!page.batch || page.problem) return null;
  /** @type {import("../../kit/types").Answer<import("../../wire").CompareServer, "parity"> | undefined} */
  const answer = await page.askServer("parity", {});
  if (answer && !answer.error && !answer.send_rows) return answer;
  if (answer?.error) page.warn(answer.error);
  return null;
}

/** @param {{ rows: Row[] }} properties */
function ParityTable({ rows }) {
  const heads = ["loss", "convention", "library", "status", "value"].map((name) => say(`parity.column.${name}`));
  const gaps = ["ours", "theirs"].flatMap((whose) =>
    PRECISIONS.map((precision) => `${say(`compare.parity.${whose}`)} ${precision}`),
  );
  return h(
    Table,
    { label: say("compare.parity"), kind: "lp-parity", heads: [...heads, ...gaps] },
    rows.map((row, at) => h(ParityLine, { key: at, row })),
  );
}

/** @param {{ row: Row }} properties */
function ParityLine({ row }) {
  const { loss, convention, library, called, fed, version, status, value, ours, theirs } = row;
  const why = reasonsOf(row);
  return h(
    `tr.lp-parity-${status}`,
    h("th", { scope: "row" }, titleOf(loss)),
    h("td", convention || say("parity.own")),
    h(
      "td",
      { title: [called, fed].filter(Boolean).join(": ") },
      [library, version].filter(Boolean).join(" ") || say("parity.no_library"),
    ),
    h(
      "td",
      h("b", { "aria-hidden": "true" }, MARKS[status]),
      " ",
      say(`parity.status.${status}`),
      why ? h("p.lp-note", why) : null,
      row.odd.length ? h(OddBatches, { row }) : null,
    ),
    h("td", show(value, 5)),
    [...ours, ...theirs].map((gap) => h("td.lp-gap", gapWords(gap))),
  );
}

/** @type {(gap: Gap | null) => string} */
const gapWords = (gap) => (gap ? `${show(gap.value, 2)} / ${show(gap.gradient, 2)}` : "");

/** @type {(row: Row) => string} */
const reasonsOf = ({ because, left_out: left }) =>
  [...because, ...(left ? [left] : [])].map(({ key, values }) => say(key, values)).join(" ");

/**
 * The library on batches of odd labels, each with its input.
 * @param {{ row: Row }} properties
 */
const OddBatches = ({ row: { odd } }) =>
  h(
    "p.lp-note",
    `${say("parity.odd")}: `,
    odd.map(({ name, status, because, fed }) => {
      const why = because.map(({ key, values }) => say(key, values)).join(" ");
      const title = [fed, why].filter(Boolean).join(". ");
      return h("span", { title }, `${say(`parity.odd.${name}`)} ${MARKS[status]} `);
    }),
  );

/** @type {(rows: Row[]) => import("./downloads.js").Rows} */
function csvOf(rows) {
  const gaps = ["ours64", "ours32", "theirs64", "theirs32"].flatMap((name) => [`${name}_value`, `${name}_gradient`]);
  return [
    ["loss", "convention", "library", "version", "status", "value", ...gaps, "because", "odd"],
    ...rows.map((row) => [
      ...[row.loss, row.convention, row.library, row.version ?? "", row.status, row.value ?? ""],
      ...[...row.ours, ...row.theirs].flatMap((gap) => [gap?.value ?? "", gap?.gradient ?? ""]),
      reasonsOf(row),
      row.odd.map(({ name, status }) => `${say(`parity.odd.${name}`)}: ${say(`parity.status.${status}`)}`).join("; "),
    ]),
  ];
}

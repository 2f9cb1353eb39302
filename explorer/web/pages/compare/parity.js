// Formula = autograd = library: the losses of the page in our function and in every installed library,
// beside their definition. Worked out when it is opened.
import { h, reword, worded } from "../../kit/dom.js";
import { show } from "../../kit/numbers.js";
import { GONE } from "../../kit/server.js";
import { say, titleOf } from "../../kit/words.js";
import { downloads } from "./taking.js";

/** @typedef {import("../../wire").ParityRow} Row */
/** @typedef {import("../../wire").Gap} Gap */

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

/**
 * @param {HTMLElement} root
 * @param {import("./state.js").ComparePage} channel
 * @param {import("../../kit/types").Asking<import("../../wire").CompareServer>} server
 */
export default function parity(root, channel, server) {
  const table = h("table.lp-parity");
  const note = h("p.lp-note", { role: "status" });
  const taking = downloads(channel, { name: "parity", csv: asCsv });
  const details = h(
    "details.lp-more",
    { ontoggle: ask },
    worded("summary", "compare.parity"),
    worded("p.lp-note", "compare.parity.about"),
    note,
    h("div.lp-scroll", { role: "region", tabIndex: 0, "data-title": "compare.parity" }, table),
    taking.element,
  );
  root.append(details);
  reword(root);

  /** @type {Row[]} */
  let rows = [];
  let found = "";

  const about = () => JSON.stringify([channel.batch?.key, [...new Set(channel.sides.map(({ loss }) => loss))]]);

  async function ask() {
    if (!details.open || !channel.batch || channel.problem || found === about()) return;
    const asked = about();
    found = asked;
    note.textContent = say("ui.working");
    const answer = await channel.rows.asked(channel.asked({}), (request) => channel.work(server, "parity", request));
    if (asked !== about()) {
      found = "";
      ask();
      return;
    }
    if (!answer || answer.error || answer.send_rows) {
      found = "";
      note.textContent = "";
      if (answer !== undefined) channel.warn(answer?.error ?? GONE);
      return;
    }
    rows = answer.rows;
    const where = answer.first ? "first" : "here";
    note.textContent = say(`compare.parity.${answer.seeded ? "seeded" : where}`, { count: answer.first });
    draw();
  }

  /** @type {(gap: Gap | null) => string} */
  const gapOf = (gap) => (gap ? `${show(gap.value, 2)} / ${show(gap.gradient, 2)}` : "");

  function draw() {
    const heads = ["loss", "convention", "library", "status", "value"].map((name) =>
      worded("th", `parity.column.${name}`, { scope: "col" }),
    );
    const precise = ["ours", "theirs"].flatMap((whose) =>
      PRECISIONS.map((precision) => h("th", { scope: "col" }, `${say(`compare.parity.${whose}`)} ${precision}`)),
    );
    table.replaceChildren(h("thead", {}, h("tr", {}, heads, precise)), h("tbody", {}, rows.map(lineOf)));
  }

  /** @type {(row: Row) => string} */
  const saysOf = ({ because, left_out: left }) =>
    [...because, ...(left ? [left] : [])].map(({ key, values }) => say(key, values)).join(" ");

  /** @type {(row: Row) => Node[]} the library on batches of odd labels, each with what it was given */
  const oddOf = ({ odd }) => [
    document.createTextNode(`${say("parity.odd")}: `),
    ...odd.map(({ name, status, because, fed }) => {
      const why = because.map(({ key, values }) => say(key, values)).join(" ");
      const title = [fed, why].filter(Boolean).join(". ");
      return h("span", { title }, `${say(`parity.odd.${name}`)} ${MARKS[status]} `);
    }),
  ];

  /** @param {Row} row */
  function lineOf(row) {
    const { loss, convention, library, called, fed, version, status, value, ours, theirs } = row;
    const says = saysOf(row);
    return h(
      `tr.lp-parity-${status}`,
      {},
      h("th", { scope: "row" }, titleOf(loss)),
      h("td", {}, convention || say("parity.own")),
      h(
        "td",
        { title: [called, fed].filter(Boolean).join(": ") },
        [library, version].filter(Boolean).join(" ") || say("parity.no_library"),
      ),
      h(
        "td",
        {},
        h("b", { "aria-hidden": "true" }, MARKS[status]),
        " ",
        say(`parity.status.${status}`),
        says ? h("p.lp-note", {}, says) : null,
        row.odd.length ? h("p.lp-note", {}, oddOf(row)) : null,
      ),
      h("td", {}, show(value, 5)),
      [...ours, ...theirs].map((gap) => h("td.lp-gap", {}, gapOf(gap))),
    );
  }

  function asCsv() {
    const gaps = ["ours64", "ours32", "theirs64", "theirs32"].flatMap((name) => [`${name}_value`, `${name}_gradient`]);
    /** @type {(string | number)[][]} */
    const lines = [["loss", "convention", "library", "version", "status", "value", ...gaps, "because", "odd"]];
    for (const row of rows)
      lines.push([
        ...[row.loss, row.convention, row.library, row.version ?? "", row.status, row.value ?? ""],
        ...[...row.ours, ...row.theirs].flatMap((gap) => [gap?.value ?? "", gap?.gradient ?? ""]),
        saysOf(row),
        row.odd.map(({ name, status }) => `${say(`parity.odd.${name}`)}: ${say(`parity.status.${status}`)}`).join("; "),
      ]);
    return lines;
  }

  channel.on("batch", ask);
  channel.on("compared", ask);
  channel.on("language", () => {
    if (rows.length) draw();
  });
}

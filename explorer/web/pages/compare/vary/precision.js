// Every loss in four types of numbers and every form in which it is written.
import { h, worded } from "../../../kit/dom.js";
import { read, show } from "../../../kit/numbers.js";
import { say } from "../../../kit/words.js";
import { labelOf } from "../legend.js";
import { downloads } from "../taking.js";
import { experiment, headOf, refusedCell } from "./experiment.js";

/** @typedef {import("./experiment.js").Side} Side */
/** @typedef {import("../../../wire").PreciseRow} Row */

const TYPES = ["float64", "float32", "bfloat16", "float16"];

/**
 * @param {import("./experiment.js").ComparePage} channel
 * @param {import("../../../kit/types").Asking<import("./experiment.js").CompareServer>} server
 * @returns {import("./experiment.js").Tool}
 */
export function precisionTool(channel, server) {
  const body = h("tbody");
  const table = h(
    "table.lp-vary-table.lp-precision",
    {},
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        worded("th", "ui.loss", { scope: "col" }),
        worded("th", "compare.vary.form", { scope: "col" }),
        TYPES.map((type) => h("th", { scope: "col" }, type)),
      ),
    ),
    body,
  );
  const taking = downloads(channel, { name: "precision", csv: asCsv });
  const box = h("div", {}, h("div.lp-scroll", { tabIndex: 0, "data-title": "compare.vary.precision" }, table));
  const asking = experiment(channel, server, { name: "precision", box, take });
  const element = h(
    "div",
    {},
    h("div.lp-bar", {}, worded("p.lp-note.lp-vary-about", "compare.vary.precision.about"), taking.element),
    asking.note,
    box,
  );

  /** @type {import("../../../wire").PreciseSide[]} */
  let found = [];
  /** @type {Side[]} */
  let of = [];

  /**
   * @param {import("../../../wire").PreciseSides} answer
   * @param {Side[]} sides
   */
  function take({ sides: told }, sides) {
    found = told;
    of = sides;
    draw();
  }

  function draw() {
    body.replaceChildren(
      ...found.flatMap(({ found: precise, problem }, place) => {
        if (!precise) return [h("tr", {}, headOf(of, place), problem && refusedCell(problem, TYPES.length + 1))];
        const forms = formsOf(precise.rows);
        return forms.map((rows, i) => {
          const head = headOf(of, place);
          head.rowSpan = forms.length;
          const { form, convention } = rows[0];
          const name = [say(`compare.vary.form.${form}`), form.startsWith("printed") ? convention : ""];
          return h(
            "tr",
            {},
            i === 0 ? head : null,
            h("th.lp-vary-form", { scope: "row" }, name.filter(Boolean).join(": ")),
            TYPES.map((type) => cellOf(rows.find((row) => row.type === type))),
          );
        });
      }),
    );
  }

  /**
   * The rows of each form, in the order they came.
   * @param {Row[]} rows
   */
  function formsOf(rows) {
    /** @type {Map<string, Row[]>} */
    const forms = new Map();
    for (const row of rows) {
      const name = `${row.form}|${row.convention}`;
      forms.set(name, [...(forms.get(name) ?? []), row]);
    }
    return [...forms.values()];
  }

  /** @param {Row | undefined} row */
  function cellOf(row) {
    if (!row) return h("td", {}, "—");
    const { loss, difference, gradient_difference, broken, refused, type, form } = row;
    if (refused) return h("td.lp-faint", { title: refused }, say("compare.vary.refused"));
    const wrong = loss !== null && !Number.isFinite(read(loss));
    const exact = type === "float64" && form === "stable";
    return h(
      wrong || broken ? "td.lp-vary-broken" : "td",
      {},
      h("b", {}, show(loss, 6)),
      exact ? null : h("div.lp-note", {}, `Δ ${show(difference, 2)} · ∇ ${show(gradient_difference, 2)}`),
      broken ? h("div", {}, say("compare.vary.breaks", { step: broken.replace(/_/g, " ") })) : null,
    );
  }

  function asCsv() {
    /** @type {(string | number)[][]} */
    const lines = [
      ["loss", "form", "convention", "type", "value", "difference", "gradient_difference", "broken", "refused"],
    ];
    for (const [place, { found: precise }] of found.entries())
      for (const row of precise?.rows ?? [])
        lines.push([
          ...[labelOf(of, place), row.form, row.convention, row.type, row.loss ?? "", row.difference ?? ""],
          ...[row.gradient_difference ?? "", row.broken, row.refused],
        ]);
    return lines;
  }

  return { element, look: asking.look, update: asking.ask, reword: draw };
}

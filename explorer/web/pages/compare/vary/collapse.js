// How far collapsed: all vectors moved towards one point, and what each loss is on the way.
import { floats } from "../../../kit/arrays.js";
import { h, worded } from "../../../kit/dom.js";
import { percent, read, show } from "../../../kit/numbers.js";
import { say } from "../../../kit/words.js";
import { labelOf } from "../legend.js";
import { downloads } from "../taking.js";
import { nearest } from "./along.js";
import { curvePanel, sheet } from "./curves.js";
import { experiment, headOf, refusedCell, varyTable } from "./experiment.js";
import { fallingWords } from "./wording.js";

/** @typedef {import("./experiment.js").Side} Side */

const POINTS = 41;

/**
 * @param {import("./experiment.js").ComparePage} channel
 * @param {import("../../../kit/types").Asking<import("./experiment.js").CompareServer>} server
 * @returns {import("./experiment.js").Tool}
 */
export function collapseTool(channel, server) {
  const grid = h("div.lp-vary-panels");
  const falling = h("ul.lp-remarks.lp-falling");
  const track = h("input", {
    type: "range",
    min: 0,
    max: 100,
    step: 1,
    value: 0,
    "data-title": "compare.vary.collapsed",
    oninput: () => {
      share = Number(track.value) / 100;
      tellValues();
    },
  });
  const here = h("output.lp-vary-here");
  const heads = ["ui.loss", "compare.vary.start", "compare.vary.here", "compare.vary.reached", "figure.collapse"];
  const { table, body } = varyTable(heads);
  const taking = downloads(channel, { name: "collapse", figure: picture, csv: asCsv });
  const instead = worded("p.lp-note", "compare.vary.by_cosines", { hidden: true });
  const box = h(
    "div",
    {},
    instead,
    falling,
    grid,
    h("div.lp-row.lp-wrap.lp-vary-scrub", {}, h("div.lp-slider", {}, track), here),
    h("div.lp-scroll", { tabIndex: 0, "data-title": "compare.vary.collapse" }, table),
  );
  const asking = experiment(channel, server, { name: "collapse", box, asked: () => ({ points: POINTS }), take });
  const element = h(
    "div",
    {},
    h("div.lp-bar", {}, worded("p.lp-note.lp-vary-about", "compare.vary.collapse.about"), taking.element),
    asking.note,
    box,
  );

  /** @type {{ shares: number[], spread: Float32Array, sides: import("../../../wire").CollapsingSide[] } | null} */
  let found = null;
  /** @type {Side[]} */
  let of = [];
  /** @type {Float32Array[]} */
  let values = [];
  let share = 0;
  /** @type {number | null} */
  let reached = null;
  /** @type {import("./curves.js").Panel[]} */
  const panels = [];

  /**
   * @param {import("../../../wire").CollapsingSides} answer
   * @param {Side[]} sides
   */
  function take({ shares, spread, by_cosines, sides: told }, sides) {
    of = sides;
    instead.hidden = !by_cosines;
    const known = Array.from(floats(shares), (v) => Number(v.toPrecision(6)));
    found = { shares: known, spread: floats(spread), sides: told };
    values = told.map(({ found: way }) => (way ? floats(way.values) : new Float32Array()));
    draw();
  }

  function draw() {
    if (!found) return;
    const { shares, sides } = found;
    while (panels.length < sides.length) panels.push(curvePanel({ key: "", hear }));
    const shown = panels.slice(0, sides.length);
    if (grid.children.length !== sides.length) grid.replaceChildren(...shown.map(({ element: panel }) => panel));
    for (const [place, panel] of shown.entries()) {
      const way = sides[place].found;
      const curve = { place, x: shares, y: values[place], limit: way && way.line !== null ? read(way.line) : null };
      panel.draw({ axis: { span: [0, 1], logarithmic: false }, curves: way ? [curve] : [] }, labelOf(of, place));
    }
    nameFalling();
    tellValues();
  }

  function nameFalling() {
    const told = fallingWords(found?.sides.map((side) => side.found) ?? []);
    falling.replaceChildren(...told.map(({ falls, text }) => h(falls ? "li.lp-falls" : "li", {}, text)));
  }

  function tellValues() {
    if (!found) return;
    const { shares, spread, sides } = found;
    const at = nearest(shares, reached ?? share);
    for (const [place, panel] of panels.slice(0, sides.length).entries()) panel.mark(sides[place].found ? [at] : []);
    if (reached === null) track.value = String(Math.round(100 * share));
    track.style.setProperty("--lp-fill", `${100 * shares[at]}%`);
    here.textContent = say("compare.vary.moved", { share: percent(shares[at]), spread: show(spread[at], 3) });
    body.replaceChildren(
      ...sides.map(({ found: way, problem }, place) =>
        h(
          "tr",
          {},
          headOf(of, place),
          way
            ? [
                h("td", {}, show(way.start)),
                h("td", {}, h("b", {}, show(values[place][at]))),
                h("td", {}, show(way.reached)),
                h("td", {}, way.line === null ? say("compare.vary.unknown") : show(way.line)),
              ]
            : problem && refusedCell(problem, heads.length - 1),
        ),
      ),
    );
  }

  /**
   * @param {"reach" | "press"} what
   * @param {number | null} value
   */
  function hear(what, value) {
    if (what === "press" && value !== null) share = value;
    else reached = value;
    tellValues();
  }

  function picture() {
    if (!found) return null;
    const shown = panels.slice(0, found.sides.length);
    return { ...sheet(shown), title: say("compare.vary.collapse"), note: say("compare.vary.collapse.about") };
  }

  function asCsv() {
    const names = values.map((_one, place) => labelOf(of, place));
    /** @type {(string | number)[][]} */
    const rows = [["share", "spread", ...names]];
    for (const [i, one] of (found?.shares ?? []).entries())
      rows.push([one, found?.spread[i] ?? "", ...values.map((line) => line[i] ?? "")]);
    return rows;
  }

  return { element, look: asking.look, update: asking.ask, reword: draw };
}

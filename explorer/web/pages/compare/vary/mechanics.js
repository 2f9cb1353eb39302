// The same batch by another way than in one piece: what of its comparisons is left, and what the loss
// and its gradient become.
import { bytes } from "../../../kit/arrays.js";
import { cellStage } from "../../../kit/cells.js";
import { h, worded } from "../../../kit/dom.js";
import { panelOf, s } from "../../../kit/drawing.js";
import { numberField } from "../../../kit/fields.js";
import { show } from "../../../kit/numbers.js";
import { check } from "../../../kit/sidebar.js";
import { say } from "../../../kit/words.js";
import { labelOf, letterOf, named } from "../legend.js";
import { downloads } from "../taking.js";
import { experiment, headOf, refusedCell, varyTable } from "./experiment.js";

/** @typedef {import("./experiment.js").Side} Side */
/** @typedef {import("../../../wire").Pieces} Pieces */

const WAYS = ["micro", "cached", "devices", "gathered", "queue", "copies"];
const [LEAST, MOST] = [120, 250]; // pixels of a matrix
const SEEN = 2;
const NEAR = 1e-10; // what differs by no more is equal, on the server too

/**
 * @param {import("./experiment.js").ComparePage} channel
 * @param {import("../../../kit/types").Asking<import("./experiment.js").CompareServer>} server
 * @returns {import("./experiment.js").Tool}
 */
export function mechanicsTool(channel, server) {
  const entry = /** @type {import("../../../wire").StateEntry} */ (channel.store.table.get("size"));
  const way = h(
    "select",
    { id: "lp-vary-way", onchange: () => channel.set({ way: way.value }) },
    WAYS.map((name) => worded("option", `compare.vary.way.${name}`, { value: name })),
  );
  const size = numberField(
    { ...entry, high: 64 },
    { key: "compare.vary.size", name: "vary-size", change: (v) => channel.set({ size: v }) },
  );
  let averaged = false;
  const average = check("compare.vary.average", false, (on) => {
    averaged = on;
    asking.ask();
  });
  const about = h("p.lp-note");
  const heads = ["ui.loss", "whole", "this_way", "difference", "gradient_ratio", "cosine", "comparisons"].map((name) =>
    name.includes(".") ? name : `compare.vary.${name}`,
  );
  const { table, body } = varyTable(heads);
  const grid = h("div.lp-vary-cells");
  const key = h(
    "p.lp-vary-key",
    {},
    ["felt", "seen", "absent"].map((name) =>
      h("span", {}, h(`i.lp-cell-${name}`), worded("span", `compare.vary.cell.${name}`)),
    ),
  );
  const taking = downloads(channel, { name: "batch-mechanics", figure: picture, csv: asCsv });
  const box = h(
    "div",
    {},
    h("div.lp-scroll", { tabIndex: 0, "data-title": "compare.vary.mechanics" }, table),
    key,
    grid,
  );
  const asking = experiment(channel, server, {
    name: "mechanics",
    box,
    asked: () => ({ way: channel.store.state.way, size: sizeNow(), average: averaged && canAverage() }),
    take,
  });
  const element = h(
    "div",
    {},
    h(
      "div.lp-bar.lp-vary-controls",
      {},
      h("label.lp-inline", {}, worded("span", "compare.vary.way"), way),
      size.element,
      average,
      taking.element,
    ),
    about,
    asking.note,
    box,
  );

  const sizeNow = () => channel.store.state.size;
  const canAverage = () => channel.store.state.way === "micro";

  function offer() {
    way.value = channel.store.state.way;
    size.set(sizeNow());
    average.hidden = !canAverage();
    about.textContent = say(`compare.vary.way.${channel.store.state.way}.about`, { size: sizeNow() });
  }

  /** @type {import("../../../wire").CutSide[]} */
  let found = [];
  /** @type {Side[]} */
  let of = [];
  /** @type {{ place: number, canvas: HTMLCanvasElement, width: number, height: number }[]} */
  let drawn = [];

  /**
   * @param {import("../../../wire").CutSides} answer
   * @param {Side[]} sides
   */
  function take({ sides: told }, sides) {
    found = told;
    of = sides;
    draw();
  }

  function draw() {
    body.replaceChildren(...found.map(lineOf));
    drawn = [];
    const panels = found.flatMap(({ found: pieces }, place) => (pieces ? [cellsOf(place, pieces)] : []));
    grid.replaceChildren(...panels);
    key.hidden = !panels.length;
  }

  /**
   * @param {import("../../../wire").CutSide} side
   * @param {number} place
   */
  function lineOf({ found: pieces, problem }, place) {
    if (!pieces) return h("tr", {}, headOf(of, place), problem && refusedCell(problem, heads.length - 1));
    const { whole, loss, equal, gradient_ratio, gradient_cosine, average: mean } = pieces;
    const difference = Number(loss) - Number(whole);
    const counts = { part: pieces.comparisons, all: pieces.whole_comparisons };
    return h(
      "tr",
      {},
      headOf(of, place),
      h("td", {}, show(whole)),
      h("td", {}, h("b", {}, show(loss)), mean ? h("p.lp-note", {}, averageOf(mean)) : null),
      h("td", { className: equal ? "lp-same" : "" }, saidOf(difference, whole, equal)),
      h("td", {}, gradient_ratio === null ? "—" : `× ${show(gradient_ratio, 3)}`),
      h("td", {}, show(gradient_cosine, 3)),
      h("td", {}, say("figure.of", counts)),
    );
  }

  /**
   * @param {number} difference
   * @param {import("../../../wire").Real} whole
   * @param {boolean} equal
   */
  function saidOf(difference, whole, equal) {
    if (equal) return say("compare.vary.equal");
    const same = Math.abs(difference) <= NEAR * Math.max(Math.abs(Number(whole)), 1);
    return same ? say("compare.vary.equal_value") : `≠ ${show(difference, 3)}`;
  }

  /** @param {import("../../../wire").Averaged} mean */
  function averageOf({ loss, comparisons, drawn: count, exact }) {
    const words = say(exact ? "compare.vary.averaged" : "compare.vary.averaged_drawn", { loss: show(loss), count });
    return comparisons === null
      ? words
      : `${words} ${say("compare.vary.averaged_comparisons", { comparisons: show(comparisons, 3) })}`;
  }

  /**
   * @param {number} place
   * @param {Pieces} pieces
   */
  function cellsOf(
    place,
    { cells, shape: [rows, columns], all, row_axis, column_axis, comparisons, whole_comparisons },
  ) {
    const stage = cellStage({ role: "img" });
    const values = bytes(cells);
    const cell = Math.min(MOST / columns, MOST / rows, 28);
    const [width, height] = [columns, rows].map((count) => Math.round(Math.max(cell * count, LEAST)));
    const ratio = window.devicePixelRatio || 1;
    // What is felt is full, what is only seen is half of it, and what is absent is hatched.
    const shades = Array.from(values, (v) => (v === SEEN ? 0.42 : v));
    stage.draw(
      { rows, columns, values: shades, least: 0, largest: 1, ramp: "mask", present: values },
      { top: 0, left: 0, rows, columns },
      { width, height, ratio },
    );
    const seen = values.reduce((count, v) => count + Number(v === SEEN), 0);
    const counts = { part: comparisons, all: whole_comparisons, seen };
    const label = `${labelOf(of, place)}. ${say("compare.vary.cells", counts)}`;
    stage.canvas.setAttribute("aria-label", label);
    drawn.push({ place, canvas: stage.canvas, width, height });
    const axes = say("compare.vary.cells_of", { rows: say(`axis.${row_axis}`), columns: say(`axis.${column_axis}`) });
    const cut = rows < all[0] || columns < all[1] ? say("ui.cut", { rows, columns, all: `${all[0]} × ${all[1]}` }) : "";
    return h(
      "figure.lp-vary-matrix",
      {},
      h("figcaption", {}, named(of, place)),
      stage.element,
      h("p.lp-note", {}, [axes, cut].filter(Boolean).join(" ")),
    );
  }

  function picture() {
    if (!drawn.length) return null;
    const step = Math.max(...drawn.map(({ width }) => width)) + 26;
    const tall = Math.max(...drawn.map(({ height }) => height)) + 24;
    const svg = s(
      "svg",
      {},
      ...drawn.map(({ place, canvas, width, height }, i) =>
        s(
          "g",
          { transform: `translate(${i * step} 0)` },
          s("text", { x: 0, y: 13, "font-size": 13, fill: "var(--lp-ink)" }, letterOf(place)),
          s("image", { x: 0, y: 20, width, height, href: canvas.toDataURL() }),
        ),
      ),
    );
    const { way: name } = channel.store.state;
    const title = `${say("compare.vary.mechanics")}: ${say(`compare.vary.way.${name}`)}, ${sizeNow()}`;
    const note = ["felt", "seen", "absent"].map((one) => say(`compare.vary.cell.${one}.shown`)).join(" ");
    return { panels: [panelOf({ drawn: svg, wide: drawn.length * step, tall })], title, note };
  }

  function asCsv() {
    const { way: name } = channel.store.state;
    /** @type {(string | number)[][]} */
    const rows = [
      ["loss", "way", "size", "whole", "this_way", "equal", "gradient_ratio", "gradient_cosine", "comparisons", "of"],
    ];
    for (const [place, { found: one }] of found.entries())
      if (one)
        rows.push([
          ...[labelOf(of, place), name, sizeNow(), one.whole, one.loss, String(one.equal)],
          ...[one.gradient_ratio ?? "", one.gradient_cosine ?? "", one.comparisons, one.whole_comparisons],
        ]);
    return rows;
  }

  return {
    element,
    look: (inSight) => {
      offer();
      asking.look(inSight);
    },
    update: () => {
      offer();
      asking.ask();
    },
    reword: () => {
      offer();
      draw();
    },
  };
}

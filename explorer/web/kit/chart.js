// A line chart as an SVG: sharp at any pixel ratio, in the page's colours, read with the pointer,
// with the arrow keys, or as a table.
import { asTable, h, worded } from "./dom.js";
import { s, standalone } from "./drawing.js";
import { show } from "./numbers.js";
import { plotArea, ticksOf } from "./plot.js";
import { sortableTable } from "./table.js";
import { say } from "./words.js";

/** @type {Record<string, number>} */
const STEPS = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10, Home: -Infinity, End: Infinity };

/**
 * Where `x` rises; `colour` is a variable of the style sheet, and a quiet one is drawn but not read.
 * @typedef {{ name: string, colour: string, dash?: number, faint?: boolean, quiet?: boolean,
 *   x: ArrayLike<number>, y: ArrayLike<number> }} Series
 */
/** @typedef {import("./types").Span} Span */
/** @typedef {{ name: string, colour: string, dashes: string, opacity: number, value?: string }} Entry */
/** @typedef {ReturnType<typeof lineChart>} LineChart */

/**
 * Series over the steps of `span`; `note` is what is to be known of them, under them and in the file.
 * @typedef {{ series: Series[], span: Span, note?: string }} ChartData
 */

/**
 * `emit` hears which step is pointed at and which is clicked, null for none. The state is the step at
 * which the values are read, null for the last ones.
 * @param {HTMLElement} root a figure
 * @param {{ key: string, logarithmic?: boolean, band?: Span | null, low?: number | null,
 *   high?: number | null, height?: number }} options
 * @param {(what: "point" | "choose", step: number | null) => void} [emit]
 */
export function lineChart(root, options, emit = () => undefined) {
  const { key, logarithmic = false, band = null, low = null, high = null, height: usual = 190 } = options;
  const MARGINS = { left: 46, right: 10, top: 8, bottom: 22 },
    WIDE = 460;
  const EXPORTED = [720, 320],
    FAINT = 0.32;
  const dashes = ["", "5 3", "1.5 3", "9 3 2 3"];

  const legend = h("div.lp-chart-legend");
  const spoken = h("div.lp-spoken", { "aria-live": "polite" });
  const note = h("figcaption.lp-note", { hidden: true });
  const tableBox = h("div.lp-chart-table", { hidden: true });
  const unfolded = asTable("button.lp-quiet", tableBox, fillTable);
  const title = worded("h3", key, { id: `lp-chart-${key.replace(/\W/g, "-")}` });
  root.classList.add("lp-chart");
  root.append(h("div.lp-chart-head", {}, title, unfolded.button));
  const area = plotArea(
    root,
    { margins: MARGINS, attributes: { tabindex: 0, style: "font-family: inherit" } },
    (what, value) => {
      if (what === "reach") emit("point", value === null ? null : nearest(value));
      else if (what === "click") emit("choose", nearest(value));
    },
  );
  const svg = area.element;
  root.append(legend, tableBox, note, spoken);

  /** @type {Series[]} */
  let series = [];
  /** @type {Span} */
  let span = [0, 1];
  /** @type {Span} */
  let reach = [0, 1];
  /** @type {number | null} */
  let at = null; // the step that is read
  let [width, height] = [WIDE, usual];

  /** @param {number} v */
  const warp = (v) => (logarithmic ? Math.log10(Math.max(v, 1e-12)) : v);
  /** @param {number} v */
  const unwarp = (v) => (logarithmic ? 10 ** v : v);

  /**
   * One number alone gives no scale.
   * @param {Span} ends
   * @param {number} count
   */
  function scaled(ends, count) {
    const found = ticksOf(ends, count);
    return found.length > 1 ? found : ticksOf(ends, 2 * count);
  }

  function scale() {
    const all = series.filter((one) => one.x.length);
    let [least, largest] = [Infinity, -Infinity];
    for (const { y } of all) {
      for (const v of Array.from(y)) {
        if (!Number.isFinite(v) || (logarithmic && v <= 0)) continue;
        if (v < least) least = v;
        if (v > largest) largest = v;
      }
    }
    if (least > largest) [least, largest] = [low ?? (logarithmic ? 0.1 : 0), high ?? (logarithmic ? 10 : 1)];
    if (band) [least, largest] = [Math.min(least, band[0]), Math.max(largest, band[1])];
    let [bottom, top] = [
      warp(low === null ? least : Math.min(low, least)),
      warp(high === null ? largest : Math.max(high, largest)),
    ];
    if (top - bottom < 1e-9) [bottom, top] = [bottom - 0.5 * (Math.abs(bottom) || 1), top + 0.5 * (Math.abs(top) || 1)];
    const air = 0.05 * (top - bottom);
    reach = [low !== null && low <= least ? bottom : bottom - air, high !== null && high >= largest ? top : top + air];
  }

  function draw() {
    scale();
    /** @type {Span} */
    const ends = [unwarp(reach[0]), unwarp(reach[1])];
    const up = logarithmic ? ticksOf(ends, 4, true) : scaled(ends, height > 120 ? 4 : 3);
    area.update({
      data: {
        width,
        height,
        x: {
          span,
          ticks: ticksOf(span, Math.max(2, Math.floor(width / 90))),
          write: (v) => show(v, 6),
          name: say("finetune.axis.step"),
        },
        y: { span: ends, logarithmic, ticks: up, write: (v) => show(v, 3) },
        bands: band ? [{ y: band, look: { fill: "var(--lp-floor)", opacity: 0.13 } }] : [],
        curves: series.map((one) => ({ x: one.x, y: one.y, look: lookOf(one) })),
      },
    });
    read();
    summarise();
    unfolded.refill();
  }

  /** @param {Series} one */
  const lookOf = ({ x, colour, faint, dash }) => ({
    stroke: `var(--lp-${colour})`,
    "stroke-width": x.length === 1 ? 6 : faint ? 1 : 2,
    opacity: faint ? FAINT : 1,
    "stroke-dasharray": dashes[dash ?? 0],
  });

  const told = () => series.filter((one) => !one.quiet);

  /**
   * The last point of a series at or before a step; −1 before its first.
   * @param {Series} one
   * @param {number} step
   */
  function place({ x }, step) {
    let [from, to] = [0, x.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if (x[middle] <= step) from = middle + 1;
      else to = middle;
    }
    return from - 1;
  }

  // The values at the step that is read, or the last ones.
  function read() {
    const step = at;
    area.update({
      state: {
        lines: step === null ? [] : [{ x: step, look: { stroke: "var(--lp-faint)", "stroke-dasharray": "2 2" } }],
        dots: told().flatMap((one) => {
          const i = step === null ? -1 : place(one, step);
          return i < 0 ? [] : [{ x: one.x[i], y: one.y[i], look: { r: 3, fill: `var(--lp-${one.colour})` } }];
        }),
      },
    });
    legend.replaceChildren(
      ...(at === null ? [] : [h("span.lp-chart-step", {}, say("finetune.at_step", { step: at }))]),
      ...entries().map(({ name, value, colour, opacity, dashes: dashed }) =>
        h(
          "span",
          {},
          s(
            "svg",
            { width: 22, height: 8, "aria-hidden": "true" },
            s("line", {
              x1: 0,
              x2: 22,
              y1: 4,
              y2: 4,
              stroke: colour,
              "stroke-width": 2,
              "stroke-opacity": opacity,
              "stroke-dasharray": dashed,
            }),
          ),
          ` ${name} `,
          value ? h("b", {}, value) : "",
        ),
      ),
    );
  }

  /**
   * Each series that is read, with its value at the step that is read, or its last; and of those
   * that are only drawn, what has a name of its own.
   * @returns {Entry[]}
   */
  function entries() {
    /** @param {Series} one */
    const look = ({ name, colour, dash, faint }) => ({
      name,
      colour: `var(--lp-${colour})`,
      dashes: dashes[dash ?? 0],
      opacity: faint ? FAINT : 1,
    });
    const read = told().map((one) => {
      const i = at === null ? one.x.length - 1 : place(one, at);
      return { ...look(one), value: i >= 0 ? show(one.y[i], 4) : "—" };
    });
    const names = new Set(read.map(({ name }) => name));
    return [...read, ...series.filter(({ quiet, name }) => quiet && !names.has(name)).map(look)];
  }

  function summarise() {
    const parts = told()
      .filter((one) => one.x.length)
      .map(({ name, x, y }) =>
        say("finetune.chart_says", {
          name,
          first: show(y[0], 3),
          from: x[0],
          last: show(y[y.length - 1], 3),
          to: x[x.length - 1],
        }),
      );
    svg.setAttribute("aria-label", `${say(key)}. ${parts.join(" ")}`);
  }

  // ---- Reading it --------------------------------------------------------------------------

  /** @param {number} wanted */
  function nearest(wanted) {
    const [one] = told().filter(({ x }) => x.length);
    if (!one) return null;
    const i = Math.max(0, place(one, wanted));
    const next = one.x[i + 1];
    return next !== undefined && next - wanted < wanted - one.x[i] ? next : one.x[i];
  }
  svg.addEventListener("blur", () => emit("point", null));
  svg.addEventListener("keydown", (event) => {
    const [one] = told().filter(({ x }) => x.length);
    const by = STEPS[event.key];
    if (!by || !one) return;
    event.preventDefault();
    const from = at === null ? one.x.length - 1 : place(one, at);
    const i = Math.max(0, Math.min(one.x.length - 1, from + by));
    emit("point", one.x[i]);
    spoken.textContent = Array.from(legend.children, (entry) => entry.textContent).join(", ");
  });

  /** @type {ReturnType<typeof sortableTable<number>> | null} */
  let table = null;
  let tableOf = "";
  function fillTable() {
    const shown = told();
    const names = shown.map(({ name }) => name);
    if (tableOf !== String(names)) {
      tableOf = String(names);
      /** @type {import("./table.js").Column<number>[]} */
      const columns = [{ key: "finetune.step", cell: (step) => String(step), by: (step) => step }];
      names.forEach((name, i) => {
        /** @param {number} step */
        const value = (step) => {
          const one = told()[i];
          const found = one ? place(one, step) : -1;
          return found >= 0 ? one.y[found] : NaN;
        };
        columns.push({ key: name, cell: (step) => show(value(step), 4), by: value });
      });
      const box = h("div");
      table = sortableTable(box, { columns, key, most: 8 });
      tableBox.replaceChildren(box);
    }
    const steps = Array.from(shown[0]?.x ?? []);
    const every = Math.max(1, Math.ceil(steps.length / 200));
    table?.update({ data: steps.filter((_step, i) => i % every === 0 || i === steps.length - 1) });
  }

  // ---- Taking it away ----------------------------------------------------------------------

  /**
   * The drawing as a file, larger than on the page, the values last read beside the names.
   * @param {{ losses: string[], origin: string }} caption
   */
  function file({ losses, origin }) {
    const here = [width, height];
    [width, height] = EXPORTED;
    draw();
    const legend = entries().map(({ name, value = "", ...look }) => ({ ...look, name: `${name} ${value}`.trim() }));
    const text = standalone({
      drawn: svg,
      wide: width,
      tall: height,
      title: say(key),
      legend,
      caption: [...losses, origin, ...(note.hidden ? [] : [String(note.textContent)])],
    });
    [width, height] = here;
    draw();
    return text;
  }

  new ResizeObserver(([{ contentRect }]) => {
    const next = Math.round(contentRect.width);
    if (next > 0 && next !== width) {
      width = next;
      draw();
    }
  }).observe(root);

  /** @param {{ data?: ChartData, state?: { at: number | null } }} next */
  function update({ data, state }) {
    if (state && state.at !== at) {
      at = state.at;
      if (!data) read();
    }
    if (!data) return;
    const [from, to] = data.span;
    [series, span] = [data.series, [from, Math.max(to, from + 1)]];
    note.hidden = !data.note;
    note.textContent = data.note ?? "";
    draw();
  }

  return { key, file, update };
}

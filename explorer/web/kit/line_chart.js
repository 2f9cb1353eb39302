// A line chart, drawn by Plotly: read with the pointer, with the arrow keys, or as a table; a drag zooms in and a
// double click out again.
import { finiteRange } from "./axis_range.js";
import { themeColour } from "./colours.js";
import { asTable, h, worded } from "./dom.js";
import { show } from "./number_format.js";
import { band as bandShape, logarithmicAxis, plotlyChart } from "./plotly.js";
import { writtenOut } from "./shapes_read_from_drawn_svg.js";
import { sortableTable } from "./sortable_table.js";
import { s } from "./svg_drawing.js";
import { say } from "./translated_sentences.js";

/** @type {Record<string, number>} */
const STEPS = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10, Home: -Infinity, End: Infinity };
const MARGINS = { l: 46, r: 10, t: 8, b: 34 };
const EXPORTED = /** @type {const} */ ([720, 320]); // pixels of a file
const FAINT = 0.32; // opacity
const DASHES = ["solid", "dash", "dot", "dashdot"];
const SVG_DASHES = ["", "5 3", "1.5 3", "9 3 2 3"]; // the same in the legend

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
 * The last point of a series at or before a step; −1 before its first.
 * @type {(one: Series, step: number) => number}
 */
function placeOf({ x }, step) {
  let [from, to] = [0, x.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (x[middle] <= step) from = middle + 1;
    else to = middle;
  }
  return from - 1;
}

/**
 * The range of the upright axis, over all values, the band, and the ends that are set.
 * @param {Series[]} series
 * @param {{ logarithmic: boolean, band: Span | null, low: number | null, high: number | null }} options
 * @returns {Span} of a logarithmic axis powers of ten, as Plotly has it
 */
function rangeOf(series, { logarithmic, band, low, high }) {
  const drawn = series.map(({ y }) => (logarithmic ? Array.from(y).filter((v) => v > 0) : y));
  let [least, largest] = finiteRange(drawn) ?? [low ?? (logarithmic ? 0.1 : 0), high ?? (logarithmic ? 10 : 1)];
  if (band) [least, largest] = [Math.min(least, band[0]), Math.max(largest, band[1])];
  const ends = [low === null ? least : Math.min(low, least), high === null ? largest : Math.max(high, largest)];
  let [bottom, top] = logarithmic ? ends.map((v) => Math.log10(Math.max(v, 1e-12))) : ends;
  if (top - bottom < 1e-9) [bottom, top] = [bottom - 0.5 * (Math.abs(bottom) || 1), top + 0.5 * (Math.abs(top) || 1)];
  const air = 0.05 * (top - bottom);
  return [low !== null && low <= least ? bottom : bottom - air, high !== null && high >= largest ? top : top + air];
}

/** @param {Series} one */
const traceOf = ({ name, x, y, colour, dash, faint, quiet }) => ({
  type: "scatter",
  mode: x.length === 1 ? "markers" : "lines",
  name,
  x: Array.from(x),
  y: Array.from(y),
  opacity: faint ? FAINT : 1,
  line: { color: themeColour(colour), width: faint ? 1 : 2, dash: DASHES[dash ?? 0] },
  marker: { color: themeColour(colour), size: 6 },
  hoverinfo: quiet ? "skip" : "all",
  hovertemplate: quiet ? undefined : "%{y:.4~g}",
});

/**
 * @typedef {{ key: string, logarithmic?: boolean, band?: Span | null, low?: number | null,
 *   high?: number | null, height?: number, heading?: "h2" | "h3" }} Options
 */

/**
 * @param {Series[]} series
 * @param {Span} span
 * @param {Options} options
 */
function layoutOf(series, span, { logarithmic = false, band = null, low = null, high = null, height = 190 }) {
  const range = rangeOf(series, { logarithmic, band, low, high });
  return {
    height,
    margin: MARGINS,
    hovermode: "x unified",
    hoverdistance: -1,
    dragmode: "zoom",
    xaxis: {
      range: span,
      title: { text: say("finetune.axis.step"), standoff: 4 },
      nticks: 6,
    },
    yaxis: logarithmic ? logarithmicAxis(range) : { type: "linear", range, nticks: height > 120 ? 6 : 4 },
    shapes: band ? [bandShape("floor", 0.13, { yref: "y", y0: band[0], y1: band[1] })] : [],
  };
}

/**
 * Each series that is read, with its value at the step `at`, or its last; and of those that are only
 * drawn, what has a name of its own.
 * @type {(series: Series[], at: number | null) => Entry[]}
 */
function entriesOf(series, at) {
  /** @param {Series} one */
  const look = ({ name, colour, dash, faint }) => ({
    name,
    colour: `var(--lp-${colour})`,
    dashes: SVG_DASHES[dash ?? 0],
    opacity: faint ? FAINT : 1,
  });
  const read = readOf(series).map((one) => {
    const i = at === null ? one.x.length - 1 : placeOf(one, at);
    return { ...look(one), value: i >= 0 ? show(one.y[i], 4) : "—" };
  });
  const names = new Set(read.map(({ name }) => name));
  return [...read, ...series.filter(({ quiet, name }) => quiet && !names.has(name)).map(look)];
}

/** @param {Series[]} series */
const readOf = (series) => series.filter(({ quiet }) => !quiet);

/** @param {Entry} entry */
const legendEntry = ({ name, value, colour, opacity, dashes }) =>
  h(
    "span",
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
        "stroke-dasharray": dashes,
      }),
    ),
    ` ${name} `,
    value ? h("b", value) : "",
  );

/**
 * The chart in a sentence: from which value to which each series goes.
 * @type {(key: string, series: Series[]) => string}
 */
function summaryOf(key, series) {
  const parts = readOf(series)
    .filter(({ x }) => x.length)
    .map(({ name, x, y }) =>
      say("finetune.chart_says", {
        name,
        first: show(y[0], 3),
        from: x[0],
        last: show(y[y.length - 1], 3),
        to: x[x.length - 1],
      }),
    );
  return `${say(key)}. ${parts.join(" ")}`;
}

/**
 * The chart as a table, a row a step and a column a series.
 * @param {string} key
 */
function seriesTable(key) {
  const element = h("div.lp-chart-table", { hidden: true });
  /** @type {ReturnType<typeof sortableTable<number>> | null} */
  let table = null;
  let tableOf = "";
  /** @type {Series[]} */
  let series = [];

  /** @param {string[]} names */
  function build(names) {
    /** @type {import("./sortable_table.js").Column<number>[]} */
    const columns = [{ key: "finetune.step", cell: (step) => String(step), by: (step) => step }];
    names.forEach((name, i) => {
      /** @param {number} step */
      const value = (step) => {
        const found = series[i] ? placeOf(series[i], step) : -1;
        return found >= 0 ? series[i].y[found] : NaN;
      };
      columns.push({ key: name, cell: (step) => show(value(step), 4), by: value });
    });
    const box = h("div");
    table = sortableTable(box, { columns, key, most: 8 });
    element.replaceChildren(box);
  }

  /** @param {Series[]} next */
  function fill(next) {
    series = readOf(next);
    const names = series.map(({ name }) => name);
    if (tableOf !== String(names)) {
      tableOf = String(names);
      build(names);
    }
    const steps = Array.from(series[0]?.x ?? []);
    const every = Math.max(1, Math.ceil(steps.length / 200));
    table?.update({ data: steps.filter((_step, i) => i % every === 0 || i === steps.length - 1) });
  }
  return { element, fill };
}

/**
 * `emit` hears which step is pointed at and which is clicked, null for none. The state is the step at
 * which the values are read, null for the last ones.
 * @param {HTMLElement} root a figure
 * @param {Options} options
 * @param {(what: "point" | "choose", step: number | null) => void} [emit]
 */
export function lineChart(root, options, emit = () => undefined) {
  const { key, heading = "h3" } = options;
  const legend = h("div.lp-chart-legend");
  const spoken = h("div.lp-spoken", { "aria-live": "polite" });
  const note = h("figcaption.lp-note", { hidden: true });
  const table = seriesTable(key);
  const unfolded = asTable("button.lp-quiet", table.element, () => table.fill(series));
  const title = worded(heading, key, { id: `lp-chart-${key.replace(/\W/g, "-")}` });
  root.classList.add("lp-chart");
  /** @type {Series[]} */
  let series = [];
  /** @type {Span} */
  let span = [0, 1];
  /** @type {number | null} */
  let at = null; // the step that is read
  const chart = plotlyChart(
    () => (series.length ? { data: series.map(traceOf), layout: layoutOf(series, span, options) } : null),
    (element) => {
      element.on("plotly_hover", ({ points }) => emit("point", points[0].x));
      element.on("plotly_unhover", () => emit("point", null));
      element.on("plotly_click", ({ points }) => emit("choose", points[0].x));
    },
  );
  const { box } = chart;
  root.append(h("div.lp-chart-head", title, unfolded.button), box, legend, table.element, note, spoken);

  // The values at the step that is read, or the last ones.
  function read() {
    chart.mark(at);
    legend.replaceChildren(
      ...(at === null ? [] : [h("span.lp-chart-step", say("finetune.at_step", { step: at }))]),
      ...entriesOf(series, at).map(legendEntry),
    );
  }

  box.addEventListener("blur", () => emit("point", null));
  box.addEventListener("keydown", (event) => {
    const one = readOf(series).find(({ x }) => x.length);
    const by = STEPS[event.key];
    if (!by || !one) return;
    event.preventDefault();
    const from = at === null ? one.x.length - 1 : placeOf(one, at);
    const i = Math.max(0, Math.min(one.x.length - 1, from + by));
    emit("point", one.x[i]);
    spoken.textContent = Array.from(legend.children, (entry) => entry.textContent).join(", ");
  });

  /**
   * The chart as a figure, larger than on the page, the values last read beside the names.
   * @param {{ losses: string[], origin: string }} caption
   */
  function taken({ losses, origin }) {
    const entries = entriesOf(series, at).map(({ name, value = "", colour, ...look }) => {
      return { ...look, colour: writtenOut(colour), name: `${name} ${value}`.trim() };
    });
    const caption = [...losses, origin, ...(note.hidden ? [] : [String(note.textContent)])];
    return { panels: [chart.panel(...EXPORTED)], title: say(key), legend: entries, caption };
  }

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
    chart.draw();
    read();
    box.setAttribute("aria-label", summaryOf(key, series));
    unfolded.refill();
  }

  return { key, chart: taken, update };
}

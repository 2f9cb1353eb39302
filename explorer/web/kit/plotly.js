// Plotly, as the Python package brings it: fetched when the first chart of a page is drawn, in our fonts and
// colours.
import { themeColour } from "./colours.js";
import { h, magnification } from "./dom.js";
import { onRelease } from "./listener_cleanup.js";
import { onTheme } from "./theme.js";
import { language, onLanguage, say } from "./translated_sentences.js";

/** @typedef {import("./types").Span} Span */
/** @typedef {import("./types").PlotlyElement} PlotlyElement */

/** @type {Promise<Window["Plotly"]> | undefined} */
let library;

/** Plotly, fetched once. Rejects where it cannot be fetched. */
function loadPlotly() {
  library ??= new Promise((resolve, reject) => {
    const src = new URL("./vendor/plotly.min.js", import.meta.url).href;
    const script = h("script", { src, onload: () => resolve(window.Plotly), onerror: reject });
    document.head.append(script);
  });
  return library;
}

const PLAIN_POWERS = [-3, 6]; // of ten: smaller and larger numbers are written as powers

/** What every layout begins with. */
export function template() {
  const [ink, faint, line, card] = ["ink", "faint", "line", "card"].map(themeColour);
  const axis = { gridcolor: line, linecolor: line, zeroline: false, ticks: "" };
  const numbers = { separatethousands: true, exponentformat: "power", minexponent: PLAIN_POWERS[1] }; // 10 000, not 10k
  const family = getComputedStyle(document.body).fontFamily;
  return {
    font: { family, size: 11, color: faint },
    paper_bgcolor: "transparent",
    plot_bgcolor: "transparent",
    separators: ".\u202f",
    hoverlabel: { bgcolor: card, bordercolor: line, font: { family, color: ink } },
    modebar: { bgcolor: "transparent", color: faint, activecolor: ink },
    showlegend: false,
    uirevision: "kept", // a reader's zoom stays while the data grow
    xaxis: { ...axis, ...numbers, showgrid: false, spikecolor: faint, spikethickness: 1, spikedash: "dot" },
    yaxis: { ...axis, ...numbers },
  };
}

/**
 * An axis over powers of ten, with numbers at these alone: between them Plotly writes tiny digits. Less than one power
 * needs them.
 * @param {number[]} range
 */
export const logarithmicAxis = ([low, high]) => ({
  ...{ type: "log", range: [low, high] },
  ...(high - low < 1 ? {} : { dtick: 1 }),
  exponentformat: low < PLAIN_POWERS[0] || high > PLAIN_POWERS[1] ? "power" : "none",
});

/**
 * An axis over a span, by ratios where it is logarithmic.
 * @param {number[]} span
 * @param {boolean} logarithmic
 * @param {number} [ticks] at most about so many
 */
export const axisOver = (span, logarithmic, ticks) =>
  logarithmic ? logarithmicAxis(span.map(Math.log10)) : { type: "linear", range: span, nticks: ticks };

/**
 * A band behind the curves: all of an axis that `at` does not bound.
 * @param {string} colour of the theme
 * @param {number} opacity
 * @param {object} at Plotly's ends of a shape, `xref` and `yref`
 */
export const band = (colour, opacity, at) => ({
  ...{ type: "rect", xref: "paper", x0: 0, x1: 1, yref: "paper", y0: 0, y1: 1, layer: "below" },
  ...{ fillcolor: themeColour(colour), opacity, line: { width: 0 } },
  ...at,
});

/**
 * A layout with what every chart has; all of it so many times larger.
 * @param {Record<string, any>} own
 * @param {number} times
 */
function wholeLayout(own, times) {
  const common = template();
  /** @param {Record<string, number>} lengths */
  const larger = (lengths) => Object.fromEntries(Object.entries(lengths).map(([name, one]) => [name, one * times]));
  return {
    ...common,
    ...own,
    font: { ...common.font, size: common.font.size * times },
    margin: larger(own.margin),
    height: own.height * times,
    xaxis: { ...common.xaxis, ...own.xaxis },
    yaxis: { ...common.yaxis, ...own.yaxis },
  };
}

/**
 * Of Plotly's buttons those that a chart of ours has, in the language of the page; none where they would do nothing.
 * @param {Record<string, any>} layout
 */
function config({ scene, xaxis }) {
  const dictionary = {
    Zoom: say("chart.zoom"),
    Pan: say("chart.pan"),
    "Reset axes": say("chart.reset"),
    "Double-click to zoom back out": say("chart.zoom_out"),
  };
  const locale = language();
  return {
    displaylogo: false,
    plotGlPixelRatio: Math.max(1, devicePixelRatio), // twice as many pixels a side would cost four times as much
    displayModeBar: scene || xaxis?.fixedrange ? false : "hover",
    modeBarButtons: [["zoom2d", "pan2d", "resetScale2d"]],
    locale,
    locales: { [locale]: { dictionary } },
  };
}

/**
 * A chart that follows the width of its place, the theme and the language. `figure(width)` gives its
 * traces and its layout, whose axes are added to those of `template`; null where there is nothing to draw. `begin` is
 * called once, with the element, when it has been drawn for the first time.
 * @param {(width: number) => { data: object[], layout: Record<string, any> } | null} figure
 * @param {(element: PlotlyElement) => void} [begin]
 */
export function plotlyChart(figure, begin = () => undefined) {
  const element = h("div.lp-plot");
  const marker = h("div.lp-plot-step", { hidden: true });
  const box = h("div.lp-plot-box", { role: "group", tabIndex: 0 }, element, marker);
  /** @type {PlotlyElement | null} */
  let drawn = null;
  let frame = { margin: { l: 0, r: 0, t: 0, b: 0 }, height: 0 }; // of what is drawn
  /** @type {number | null} */
  let marked = null;
  let failed = false;

  async function draw() {
    // What the page has to be laid out for is asked first: of several charts, before the first of them draws.
    const width = box.clientWidth;
    if (!width || failed) return;
    // Plotly takes the pointer wrongly on a page that is magnified, so it draws larger on one that is not.
    const times = magnification(box);
    try {
      // What stands below it does not move once the library is there.
      if (!drawn) element.style.height = `${figure(width)?.layout.height ?? 0}px`;
      const Plotly = await loadPlotly();
      const found = figure(width);
      if (!found) return;
      Object.assign(element.style, { zoom: String(1 / times), height: `${found.layout.height * times}px` });
      const layout = { ...wholeLayout(found.layout, times), width: Math.round(width * times) };
      const plot = await Plotly.react(element, found.data, layout, config(found.layout));
      // The arrow keys read a chart; three buttons of each would stand between it and the next.
      for (const button of element.querySelectorAll("button")) button.tabIndex = -1;
      if (!drawn) {
        begin(plot);
        plot.on("plotly_relayout", placeMarker);
      }
      drawn = plot;
      frame = { margin: found.layout.margin, height: found.layout.height };
      placeMarker();
    } catch (error) {
      failed = true;
      element.textContent = say("chart.failed");
      throw error;
    }
  }

  function placeMarker() {
    marker.hidden = true;
    if (marked === null || !drawn) return;
    const { range, type } = drawn.layout.xaxis;
    const share = ((type === "log" ? Math.log10(marked) : marked) - range[0]) / (range[1] - range[0]);
    const { l, r, t, b } = frame.margin;
    marker.hidden = share < 0 || share > 1;
    marker.style.left = `${l + share * (box.clientWidth - l - r)}px`;
    Object.assign(marker.style, { top: `${t}px`, height: `${frame.height - t - b}px` });
  }

  /** @type {(value: number | null) => void} Draw a line over the chart at a value of its lower axis, null for none. */
  function mark(value) {
    marked = value;
    placeMarker();
  }

  /**
   * Change a part of the layout of what is drawn, without computing its points anew.
   * @param {Record<string, any>} layout
   */
  const change = (layout) => drawn && window.Plotly.relayout(drawn, layout);

  /**
   * The chart as a panel of a figure, so many pixels large.
   * @param {number} wide
   * @param {number} tall
   */
  function panel(wide, tall, title = "") {
    return { wide, tall, title, ...(figure(wide) ?? { data: [], layout: {} }) };
  }

  let width = 0;
  const resized = new ResizeObserver(() => {
    if (element.clientWidth === width) return;
    width = element.clientWidth;
    draw();
  });
  resized.observe(element);
  onRelease(() => resized.disconnect());
  onTheme(draw);
  onLanguage(draw);
  return { box, draw, mark, change, panel };
}

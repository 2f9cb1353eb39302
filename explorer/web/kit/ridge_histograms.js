// Histograms above each other, a row for each group, on one axis: how something is spread in each.
import { themeColour } from "./colours.js";
import { plotlyChart } from "./plotly.js";

/** @typedef {import("./types").Span} Span */

/**
 * A group with its counts, one for each bin; `before` are earlier counts, which are outlined.
 * @typedef {{ name: string, counts: number[], colour: string, before?: number[] }} Row
 */

/**
 * Rows, the first at the bottom; `edges` of the bins, `span` of the axis, `names` of the two axes; `label` says
 * all of it.
 * @typedef {{ edges: number[], rows: Row[], span: Span, label: string, names?: { x?: string, y?: string } }} Ridges
 */

const MARGINS = { l: 10, r: 8, t: 8, b: 40 }; // Plotly adds the room for the rows' names
const FILE_WIDTH = 640; // pixels of a file

/**
 * `row` pixels from one row to the next, of which the highest bar takes the share `reach`. With `together` all
 * rows are on one scale, else each is as high as any. `emit` hears which bin is under the pointer.
 * @param {Element} root
 * @param {{ row: number, reach?: number, together?: boolean }} options
 * @param {(what: "reach", bin: number | null) => void} [emit]
 */
export function ridges(root, { row, reach = 0.8, together = false }, emit = () => undefined) {
  /** @type {Ridges | null} */
  let shown = null;
  const chart = plotlyChart(figure, (element) => {
    element.on("plotly_hover", ({ points }) => emit("reach", points[0].customdata[0]));
    element.on("plotly_unhover", () => emit("reach", null));
  });
  root.append(chart.box);
  const height = () => (shown?.rows.length ?? 0) * row + MARGINS.t + MARGINS.b;

  function figure() {
    if (!shown) return null;
    const { edges, rows, span, names = {} } = shown;
    const whole = Math.max(1, ...rows.flatMap(({ counts }) => counts));
    const bins = edges.slice(1).flatMap((end, i) => (edges[i] < span[0] || end > span[1] + 1e-9 ? [] : [i]));
    const data = rows.flatMap(({ name, counts, colour, before }, place) => {
      /** @type {(of: number[], bin: number) => number} */
      const heightOf = (of, bin) => (reach * of[bin]) / (together ? whole : Math.max(1, ...of));
      const bars = {
        type: "bar",
        name,
        x: bins.map((bin) => (edges[bin] + edges[bin + 1]) / 2),
        width: bins.map((bin) => edges[bin + 1] - edges[bin]),
        base: place,
        y: bins.map((bin) => heightOf(counts, bin)),
        customdata: bins.map((bin) => [bin, counts[bin]]),
        marker: { color: colour, line: { width: 0 } },
        hovertemplate: "%{customdata[1]:,}",
      };
      const outline = before && {
        type: "scatter",
        mode: "lines",
        x: bins.flatMap((bin) => [edges[bin], edges[bin + 1]]),
        y: bins.flatMap((bin) => Array(2).fill(place + heightOf(before, bin))),
        line: { color: themeColour("faint"), width: 1, dash: "dot" },
        hoverinfo: "skip",
      };
      return outline ? [bars, outline] : [bars];
    });
    const layout = {
      height: height(),
      margin: MARGINS,
      barmode: "overlay",
      hovermode: "x unified",
      xaxis: { range: span, title: { text: names.x ?? "", standoff: 4 }, nticks: 8 },
      yaxis: {
        range: [0, rows.length],
        tickvals: rows.map((_row, place) => place),
        ticktext: rows.map(({ name }) => name),
        title: { text: names.y ?? "" },
        fixedrange: true,
        automargin: true,
      },
    };
    return { data, layout };
  }

  /** @param {{ data: Ridges }} next */
  function update({ data }) {
    shown = data;
    chart.box.setAttribute("aria-label", data.label);
    chart.draw();
  }

  return { update, panel: () => chart.panel(FILE_WIDTH, height()) };
}

// A chart of Plotly as a component: the value under the pointer, and the one that is clicked.
import { plotlyChart } from "./plotly.js";
import { hosted } from "./preact_view.js";

/** @typedef {ReturnType<typeof plotlyChart>} PlotlyChart */
/** @typedef {(what: "reach" | "press", value: number | null) => void} Hear */

/**
 * The chart of `figure()`, which makes its traces and layout in the present theme and language; drawn again where
 * that is another function. `label` is its name for a screen reader, and `at` the value that is marked. `hear` is
 * called with the value under the pointer ("reach", null for none) and the one that is clicked ("press"). `keep` gets
 * the chart, whose `panel` goes into a file.
 * @param {{ figure: Parameters<typeof plotlyChart>[0], label: string, at: number | null, hear: Hear,
 *   keep: (chart: PlotlyChart) => void }} properties
 */
export const Plot = ({ figure, label, at, hear, keep }) =>
  hosted({
    make: (root) => {
      // The chart is made once, so it looks here for what is newest.
      const newest = { figure, hear };
      const chart = plotlyChart(
        () => newest.figure(),
        (plot) => {
          plot.on("plotly_hover", ({ points }) => newest.hear("reach", points[0].x));
          plot.on("plotly_unhover", () => newest.hear("reach", null));
          plot.on("plotly_click", ({ points }) => newest.hear("press", points[0].x));
        },
      );
      root.append(chart.box);
      return { chart, newest };
    },
    update: ({ chart, newest }) => {
      const isOther = newest.figure !== figure;
      Object.assign(newest, { figure, hear });
      if (isOther) chart.draw();
      chart.box.setAttribute("aria-label", label);
      chart.mark(at);
      keep(chart);
    },
  });

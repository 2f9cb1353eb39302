// A chart of Plotly as a component: the value under the pointer, and the one that is clicked.
import { useLatest } from "./components.js";
import { plotlyChart } from "./plotly.js";
import { hosted } from "./preact_view.js";

/** @typedef {ReturnType<typeof plotlyChart>} PlotlyChart */

const ignore = () => undefined;

/**
 * The chart of `figure()`, which makes its traces and layout in the present theme and language; drawn again where
 * that is another function. `label` is its name for a screen reader, and `at` the value that is marked. `reach` is
 * called with the value under the pointer, null for none, and `press` with the one that is clicked and its height.
 * `keep` gets the chart, whose `panel` goes into a file.
 * @param {{ figure: Parameters<typeof plotlyChart>[0], label: string, at?: number | null,
 *   reach?: (value: number | null) => void, press?: (value: number, height: number) => void,
 *   keep?: (chart: PlotlyChart) => void }} properties
 */
export function Plot({ figure, label, at = null, reach = ignore, press = ignore, keep = ignore }) {
  const newest = useLatest(figure);
  const reaching = useLatest(reach);
  const pressing = useLatest(press);
  return hosted({
    make: (root) => {
      const chart = plotlyChart(newest, (plot) => {
        plot.on("plotly_hover", ({ points }) => reaching(points[0].x));
        plot.on("plotly_unhover", () => reaching(null));
        plot.on("plotly_click", ({ points }) => pressing(points[0].x, points[0].y));
      });
      root.append(chart.box);
      return { chart, figure };
    },
    update: (made) => {
      const isOther = made.figure !== figure;
      made.figure = figure;
      if (isOther) made.chart.draw();
      made.chart.box.setAttribute("aria-label", label);
      made.chart.mark(at);
      keep(made.chart);
    },
  });
}

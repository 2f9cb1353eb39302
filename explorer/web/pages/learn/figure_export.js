// The picture of a step as a file for a slide: a matrix by what drew it on the server, a chart by its own figure.
import { FigureFold } from "../../kit/figure_export_options.js";
import { h } from "../../kit/preact_view.js";
import { say } from "../../kit/translated_sentences.js";
import { figureOf } from "./step_pictures.js";

/** @typedef {import("../../wire").Chart} Chart */

/** @param {{ page: import("./state.js").LearnPage }} properties */
export const FigureExport = ({ page }) => h(FigureFold, { page, ask: (look) => figureFile(page, look) });

/**
 * @param {import("./state.js").LearnPage} page
 * @param {import("../../kit/figure_export_options.js").Look} look
 */
function figureFile(page, look) {
  const { server, lesson, number, at, stop } = page;
  if (!server || !lesson || !stop) return undefined;
  const charts = stop.pictures.flatMap((one) => ("curves" in one ? [/** @type {Chart} */ (one)] : []));
  return charts.length
    ? server.chart({ ...look, name: `lossprism-${lesson.name}`, chart: wholeChart(lesson.name, number, charts) })
    : server.take({ ...look, lesson: lesson.name, step: number, at });
}

/**
 * @param {string} lesson
 * @param {number} number
 * @param {Chart[]} charts
 */
function wholeChart(lesson, number, charts) {
  const named = charts.flatMap(({ curves }) => curves.filter(({ name }) => name));
  const figures = charts.map(figureOf);
  const traces = figures.flatMap(({ data }) => data.filter(({ showlegend }) => showlegend));
  return {
    title: say(`learn.${lesson}.title`),
    caption: [say(`learn.${lesson}.${number}.picture`)],
    legend: named.map(({ name }, i) => ({ name: say(name), colour: traces[i].colour })),
    panels: figures.map((one, i) => ({ wide: charts[i].square ? 360 : 560, tall: 360, title: "", ...one })),
    across: figures.length,
  };
}

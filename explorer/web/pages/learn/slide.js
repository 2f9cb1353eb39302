// The picture of a step as a file for a slide: a matrix by what drew it on the server, a chart by its own figure.
import { FigureButtons, Fold } from "../../kit/components.js";
import { saved } from "../../kit/files.js";
import { h } from "../../kit/preact_view.js";
import { GONE } from "../../kit/server.js";
import { say } from "../../kit/words.js";
import { figureOf } from "./pictures.js";

/** @typedef {import("../../wire").Chart} Chart */
/** @typedef {Parameters<import("../../kit/components.js").SaveFigure>} Look the look of a figure, and the ratio of a PNG */

/** @param {{ channel: import("./state.js").LearnPage }} properties */
export const Slide = ({ channel }) =>
  h(
    Fold,
    { title: say("learn.slide") },
    h(FigureButtons, {
      button: "button.lp-crumb",
      kind: "div.lp-downloads",
      save: (look, ratio) => save(channel, look, ratio),
    }),
  );

/**
 * @param {import("./state.js").LearnPage} channel
 * @param {Look[0]} look
 * @param {Look[1]} ratio
 */
async function save(channel, look, ratio) {
  const { server, lesson, number, at, stop } = channel;
  if (!server || !lesson || !stop) return;
  const charts = stop.pictures.flatMap((one) => ("curves" in one ? [/** @type {Chart} */ (one)] : []));
  const answer = charts.length
    ? await server.chart({ ...look, name: `lossprism-${lesson.name}`, chart: wholeChart(lesson.name, number, charts) })
    : await server.take({ ...look, lesson: lesson.name, step: number, at });
  if (!answer || answer.error) channel.warn(answer?.error ?? GONE);
  else await saved(answer, ratio);
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

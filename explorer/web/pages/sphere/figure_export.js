// The frame in sight as a figure for a slide: the points under each loss, and the curves.
import { themeColour } from "../../kit/colours.js";
import { letterOf, nameOf } from "../../kit/compared_loss_labels.js";
import { FigureFold } from "../../kit/figure_export_options.js";
import { h } from "../../kit/preact_view.js";
import { say } from "../../kit/words.js";
import { shownCurves, traces, xAxis, yAxis } from "./metric_curves.js";
import { COLOURS, DOT, seenAt } from "./sphere_canvas.js";

/** @typedef {import("./state.js").SpherePage} SpherePage */

const SQUARE = 360;
const SMALL = [360, 180];
const BEHIND = "59"; // opacity of a point on the far side

/** @param {{ page: SpherePage }} properties */
export const SaveFigure = ({ page }) => h(FigureFold, { page, ask: (look) => figureFile(page, look) });

/**
 * @param {SpherePage} page
 * @param {import("../../kit/figure_export_options.js").Look} look
 */
const figureFile = (page, look) =>
  page.filmed ? page.server.chart({ ...look, name: "lossprism-sphere", chart: chartOf(page) }) : undefined;

/** @param {SpherePage} page */
function chartOf(page) {
  const { films, filmedSides, at, last, preset } = page;
  const curves = shownCurves(films).map((name) => ({
    wide: SMALL[0],
    tall: SMALL[1],
    title: say(`sphere.curve.${name}`),
    data: traces(films, name),
    layout: { xaxis: xAxis(last), yaxis: yAxis(films, name) },
  }));
  const points = films.flatMap((film, place) => (film ? [pointsPanel(page, film, place)] : []));
  return {
    title: say("sphere.heading"),
    caption: [say("sphere.step", { step: at, steps: last }), ...(preset ? [say(`sphere.watch.${preset.name}`)] : [])],
    legend: filmedSides.map((side, place) => ({
      name: `${letterOf(place)} ${nameOf(side)}`,
      colour: themeColour(`side-${place + 1}`),
    })),
    panels: [...points, ...curves],
    across: 2,
  };
}

/**
 * The points of a film in the frame in sight, as the canvas shows them.
 * @param {SpherePage} page
 * @param {import("./state.js").Film} film
 * @param {number} place
 */
function pointsPanel({ filmed, at, turn }, { points }, place) {
  const { names, dimension, classes } = /** @type {import("../../wire").Filmed} */ (filmed);
  const [middle, radius] = [SQUARE / 2, SQUARE / 2 - 2 * DOT];
  const cloud = { points, count: names.length, dimension };
  const dots = names.map((_name, point) => {
    const [right, up, near] = seenAt(cloud, point, at, turn);
    const fill = themeColour(`side-${(classes[point] % COLOURS) + 1}`);
    const seen = near < 0 ? `${fill}${BEHIND}` : fill;
    return { tag: "circle", cx: middle + right * radius, cy: middle - up * radius, r: DOT, fill: seen, near };
  });
  const outline = { tag: "circle", cx: middle, cy: middle, r: radius, fill: "none", stroke: themeColour("line") };
  const shapes = dots.sort((one, other) => one.near - other.near).map(({ near: _near, ...dot }) => dot);
  return { wide: SQUARE, tall: SQUARE, title: letterOf(place), shapes: [outline, ...shapes] };
}

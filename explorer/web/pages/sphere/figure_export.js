// The frame in sight as a figure for a slide: the points under each loss, and the curves.
import { themeColour } from "../../kit/colours.js";
import { letterOf, nameOf } from "../../kit/compared_loss_labels.js";
import { FigureFold } from "../../kit/figure_export_options.js";
import { h } from "../../kit/preact_view.js";
import { say } from "../../kit/translated_sentences.js";
import { shownCurves, traces, xAxis, yAxis } from "./metric_curves.js";
import { CLASS_COLOURS, POINT_RADIUS, placeInView } from "./sphere_canvas.js";

/** @typedef {import("./state.js").SpherePage} SpherePage */

const POINTS_PANEL_PX = 360;
const CURVE_PANEL_PX = [360, 180];
const FAR_SIDE_OPACITY = "59"; // opacity of a point on the far side

/** @param {{ page: SpherePage }} properties */
export const FigureExport = ({ page }) => h(FigureFold, { page, ask: (look) => figureFile(page, look) });

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
    wide: CURVE_PANEL_PX[0],
    tall: CURVE_PANEL_PX[1],
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
  const [middle, radius] = [POINTS_PANEL_PX / 2, POINTS_PANEL_PX / 2 - 2 * POINT_RADIUS];
  const cloud = { points, count: names.length, dimension };
  const dots = names.map((_name, point) => {
    const [right, up, near] = placeInView(cloud, point, at, turn);
    const fill = themeColour(`side-${(classes[point] % CLASS_COLOURS) + 1}`);
    const seen = near < 0 ? `${fill}${FAR_SIDE_OPACITY}` : fill;
    return { tag: "circle", cx: middle + right * radius, cy: middle - up * radius, r: POINT_RADIUS, fill: seen, near };
  });
  const outline = { tag: "circle", cx: middle, cy: middle, r: radius, fill: "none", stroke: themeColour("line") };
  const shapes = dots.sort((one, other) => one.near - other.near).map(({ near: _near, ...dot }) => dot);
  return { wide: POINTS_PANEL_PX, tall: POINTS_PANEL_PX, title: letterOf(place), shapes: [outline, ...shapes] };
}

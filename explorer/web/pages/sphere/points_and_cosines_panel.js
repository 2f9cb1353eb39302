// The points under one loss in the frame in sight, and the similarities of all of them.
import { paint } from "../../kit/cell_canvas.js";
import { Chip, nameOf } from "../../kit/compared_loss_labels.js";
import { show } from "../../kit/number_format.js";
import { h, hosted } from "../../kit/preact_view.js";
import { say } from "../../kit/words.js";
import { sphereCanvas } from "./sphere_canvas.js";

/** @typedef {{ page: import("./state.js").SpherePage, place: number }} Placed */

/** @param {Placed} properties */
export function LossPanel({ page, place }) {
  page.observe("frame", "film");
  const film = page.films[place];
  const side = page.filmedSides[place];
  if (!film || !side) return null;
  return h(
    "figure.lp-stage-of-points",
    h(
      "figcaption",
      page.films.length > 1 ? h(Chip, { place }) : null,
      h("span", nameOf(side)),
      h("b", show(film.curves.loss[page.at], 3)),
    ),
    h(Points, { page, place }),
    h(Similarities, { page, place }),
  );
}

/** @param {Placed} properties */
function Points({ page, place }) {
  const film = page.films[place];
  const { filmed, at, pointed, turn } = page;
  return hosted({
    make: (root) =>
      sphereCanvas(root, {
        point: (point) => page.point(point),
        turn: (next) => page.turnTo(next),
        move: (point, azimuth, polar) => page.movePoint(point, azimuth, polar),
      }),
    update: (made) => {
      if (!film || !filmed) return;
      const { classes, pairs, dimension, names } = filmed;
      made.canvas.setAttribute("aria-label", say("sphere.points_of", { loss: nameOf(page.filmedSides[place]) }));
      made.show({ points: film.points, count: names.length, dimension, classes, pairs }, { frame: at, pointed, turn });
    },
  });
}

/** @param {Placed} properties */
function Similarities({ page, place }) {
  const film = page.films[place];
  const { filmed, at } = page;
  return h(
    "figure.lp-similarities",
    { title: say("sphere.similarities") },
    hosted({
      kind: "canvas",
      make: (root) => /** @type {HTMLCanvasElement} */ (root),
      update: (canvas) => {
        if (!film || !filmed) return;
        const count = filmed.names.length;
        const values = cosines(film.points, at, count, filmed.dimension);
        paint(canvas, { rows: count, columns: count, values, least: -1, largest: 1, ramp: "diverging" });
      },
    }),
    h("figcaption.lp-note", say("sphere.cosines")),
  );
}

/**
 * The cosines of all points with each other in a frame, row by row.
 * @type {(points: Float32Array, frame: number, count: number, dimension: number) => Float32Array<ArrayBuffer>}
 */
export function cosines(points, frame, count, dimension) {
  const from = frame * count * dimension;
  const found = new Float32Array(count * count);
  for (let one = 0; one < count; one += 1) {
    for (let other = 0; other < count; other += 1) {
      let sum = 0;
      for (let i = 0; i < dimension; i += 1)
        sum += points[from + one * dimension + i] * points[from + other * dimension + i];
      found[one * count + other] = sum;
    }
  }
  return found;
}

// The points under one loss in the frame in sight.
import { Chip, nameOf } from "../../kit/compared_loss_labels.js";
import { show } from "../../kit/number_format.js";
import { h, hosted } from "../../kit/preact_view.js";
import { say } from "../../kit/translated_sentences.js";
import { CosineMatrix } from "./cosine_matrix.js";
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
    h(CosineMatrix, { page, place }),
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

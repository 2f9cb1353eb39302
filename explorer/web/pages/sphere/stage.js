// The points under one loss in the frame in sight, and the similarities of all of them.
import { paint } from "../../kit/cell_colours.js";
import { Chip, nameOf } from "../../kit/loss_legend.js";
import { show } from "../../kit/number_format.js";
import { h, hosted } from "../../kit/preact_view.js";
import { say } from "../../kit/words.js";
import { ball } from "./ball.js";

/** @typedef {{ channel: import("./state.js").SpherePage, place: number }} Placed */

/** @param {Placed} properties */
export function Stage({ channel, place }) {
  channel.observe("frame", "film");
  const film = channel.films[place];
  const side = channel.filmedSides[place];
  if (!film || !side) return null;
  return h(
    "figure.lp-stage-of-points",
    null,
    h(
      "figcaption",
      null,
      channel.films.length > 1 ? h(Chip, { place }) : null,
      h("span", null, nameOf(side)),
      h("b", null, show(film.curves.loss[channel.at], 3)),
    ),
    h(Ball, { channel, place }),
    h(Similarities, { channel, place }),
  );
}

/** @param {Placed} properties */
function Ball({ channel, place }) {
  const film = channel.films[place];
  const { filmed, at, pointed, turn } = channel;
  return hosted({
    make: (root) =>
      ball(root, {
        point: (point) => channel.point(point),
        turn: (next) => channel.turnTo(next),
        move: (point, azimuth, polar) => channel.movePoint(point, azimuth, polar),
      }),
    update: (made) => {
      if (!film || !filmed) return;
      const { classes, pairs, dimension, names } = filmed;
      made.canvas.setAttribute("aria-label", say("sphere.points_of", { loss: nameOf(channel.filmedSides[place]) }));
      made.show({ points: film.points, count: names.length, dimension, classes, pairs }, { frame: at, pointed, turn });
    },
  });
}

/** @param {Placed} properties */
function Similarities({ channel, place }) {
  const film = channel.films[place];
  const { filmed, at } = channel;
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
    h("figcaption.lp-note", null, say("sphere.cosines")),
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

// The cosines of all points under one loss with each other, in the frame in sight, as a matrix.
import { paint } from "../../kit/cell_canvas.js";
import { h, hosted } from "../../kit/preact_view.js";
import { say } from "../../kit/translated_sentences.js";

/** @param {{ page: import("./state.js").SpherePage, place: number }} properties */
export function CosineMatrix({ page, place }) {
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

// The picture of a lesson, small: cells as pixels, curves as lines.
import { floats } from "../../kit/base64_arrays.js";
import { paint } from "../../kit/cell_canvas.js";
import { h, hosted } from "../../kit/preact_view.js";

/** @typedef {import("../../wire").Matrix | import("../../wire").Chart} Picture */

/** @param {{ picture: Picture }} properties */
export const Thumbnail = ({ picture }) =>
  "curves" in picture
    ? h(ChartThumbnail, { chart: picture })
    : hosted({
        kind: "canvas",
        make: (root) => /** @type {HTMLCanvasElement} */ (root),
        update: (canvas) => paint(canvas, cellsOf(picture)),
      });

/** @type {(matrix: import("../../wire").Matrix) => import("../../kit/cell_canvas.js").Cells} */
function cellsOf({ shown, facet }) {
  const { rows, columns } = shown;
  const values = floats(facet === "weight" ? (shown.weight ?? shown.value) : shown.value);
  const isMask = facet === "mask";
  return { rows, columns, values, least: 0, largest: 1, ramp: isMask ? "mask" : "sequential", root: isMask ? 1 : 3 };
}

/** @param {{ chart: import("../../wire").Chart }} properties */
function ChartThumbnail({ chart: { curves, x, y, square } }) {
  const wide = square ? 60 : 100;
  /** @type {(side: import("../../wire").Side, value: number) => number} */
  const share = (side, value) => {
    const [low, high, at] = [side.low, side.high, value].map(side.logarithmic ? Math.log10 : Number);
    return (at - low) / (high - low);
  };
  /** @param {import("../../wire").Curve} curve */
  const points = (curve) => curve.x.map((one, i) => [wide * share(x, one), 60 - 60 * share(y, curve.y[i])]);
  return h(
    "svg",
    { viewBox: `-2 -2 ${wide + 4} 64`, "aria-hidden": "true" },
    curves.map((curve) =>
      curve.kind === "line"
        ? h("polyline", { class: `lp-role-${curve.role}`, points: points(curve).join(" ") })
        : points(curve).map(([across, down]) =>
            curve.kind === "bars"
              ? h("rect", { class: `lp-role-${curve.role}`, x: across - 8, y: down, width: 16, height: 60 - down })
              : h("circle", { class: `lp-role-${curve.role}`, cx: across, cy: down, r: 1.6 }),
          ),
    ),
  );
}

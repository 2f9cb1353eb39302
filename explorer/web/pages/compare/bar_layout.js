// Bars of several gradients over the same pairs: pure arithmetic on arrays.

const BAR_SHARE = 0.76; // of its place that a bar is wide
const MIN_BAR_PX = 0.6; // pixels that it is wide, however many there are

/**
 * Return the values divided by their Euclidean norm; values whose norm is 0 stay.
 * @param {Float32Array} values
 */
export function equalised(values) {
  const norm = Math.hypot(...values);
  return norm > 0 && Number.isFinite(norm) ? values.map((v) => v / norm) : values;
}

/**
 * Return the largest absolute value, the common scale of all strips; 1 where there is none.
 * @param {(ArrayLike<number> | null)[]} all
 */
export function largestOf(all) {
  let most = 0;
  for (const one of all) for (const v of Array.from(one ?? [])) if (Math.abs(v) > most) most = Math.abs(v);
  return Number.isFinite(most) && most > 0 ? most : 1;
}

/**
 * Return the pairs from left to right: as entered, by the base's gradient, or by label.
 * @param {string} order
 * @param {{ count: number, labels: number[], base: Float32Array | null | undefined }} batch
 */
export function orderOf(order, { count, labels, base }) {
  const pairs = Array.from({ length: count }, (_, pair) => pair);
  if (order === "label") return pairs.sort((a, b) => labels[b] - labels[a] || a - b);
  if (order === "base" && base) return pairs.sort((a, b) => base[a] - base[b] || a - b);
  return pairs;
}

/**
 * Return the bars of a strip as an SVG path. A height of 0, or one that is no number, has no bar.
 * @param {ArrayLike<number>} heights of each place, from −1 to 1
 * @param {{ middle: number, reach: number, step: number }} strip in pixels: its zero line, the height of 1, and the
 *   distance of two places
 */
export function barsPath(heights, { middle, reach, step }) {
  return Array.from(heights, (height, place) => {
    const up = height * reach;
    if (!Number.isFinite(up) || up.toFixed(2) === "0.00") return "";
    const [x, width] = [step * (place + (1 - BAR_SHARE) / 2), Math.max(BAR_SHARE * step, MIN_BAR_PX)];
    return `M${x.toFixed(2)} ${middle}h${width.toFixed(2)}v${(-up).toFixed(2)}h${(-width).toFixed(2)}z`;
  }).join("");
}

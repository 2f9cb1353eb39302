// Bars of several gradients over the same pairs: pure arithmetic on arrays.

/**
 * Where bars stand: from `left` over `width` pixels, `places` the pairs from left to right.
 * @typedef {{ left: number, width: number, places: number[] }} Across
 */

/**
 * Divided by its own Euclidean norm; what has none stays as it is.
 * @param {Float32Array} values
 */
export function equalised(values) {
  const norm = Math.hypot(...values);
  return norm > 0 && Number.isFinite(norm) ? values.map((v) => v / norm) : values;
}

/**
 * The largest size of all values, so that all strips have one axis; 1 where there is none.
 * @param {(ArrayLike<number> | null)[]} all
 */
export function reachOf(all) {
  let most = 0;
  for (const one of all) for (const v of Array.from(one ?? [])) if (Math.abs(v) > most) most = Math.abs(v);
  return Number.isFinite(most) && most > 0 ? most : 1;
}

/**
 * The pairs as they stand from left to right: as entered, by the base's gradient, or by label.
 * @param {string} how
 * @param {{ count: number, labels: number[], base: Float32Array | null | undefined }} of
 */
export function orderOf(how, { count, labels, base }) {
  const pairs = Array.from({ length: count }, (_, pair) => pair);
  if (how === "label") return pairs.sort((a, b) => labels[b] - labels[a] || a - b);
  if (how === "base" && base) return pairs.sort((a, b) => base[a] - base[b] || a - b);
  return pairs;
}

/**
 * All bars of one strip as the path of an SVG, `half` pixels to both sides of its `middle`.
 * @param {ArrayLike<number>} values
 * @param {Across} across
 * @param {number} middle
 * @param {number} half
 * @param {number} reach the value that is as tall
 */
export function barsPath(values, { left, width, places }, middle, half, reach) {
  const step = width / Math.max(places.length, 1);
  const broad = Math.max(step * 0.76, 0.6).toFixed(2);
  const words = [];
  for (let place = 0; place < places.length; place += 1) {
    const tall = (values[places[place]] / reach) * half;
    if (!tall || !Number.isFinite(tall)) continue;
    const x = (left + (place + 0.12) * step).toFixed(2);
    words.push(`M${x} ${middle}h${broad}v${(-tall).toFixed(2)}h-${broad}z`);
  }
  return words.join("");
}

/**
 * The pair under a pixel, null beside the bars.
 * @param {number} x
 * @param {Across} across
 */
export function placeAt(x, { left, width, places }) {
  const place = Math.floor(((x - left) / width) * places.length);
  return places[place] ?? null;
}

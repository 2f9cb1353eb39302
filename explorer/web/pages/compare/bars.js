// Bars of several gradients over the same pairs: pure arithmetic on arrays.

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

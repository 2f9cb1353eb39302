// The span of an axis: pure arithmetic on the values that are drawn.

/** @typedef {import("./types").Span} Span */

/**
 * Return the least and the largest of all finite values, null where there is none.
 * @type {(all: ArrayLike<number>[]) => Span | null}
 */
export function finiteRange(all) {
  let [least, largest] = [Infinity, -Infinity];
  for (const values of all)
    for (const v of Array.from(values)) {
      if (!Number.isFinite(v)) continue;
      if (v < least) least = v;
      if (v > largest) largest = v;
    }
  return least <= largest ? [least, largest] : null;
}

/**
 * Return the span of heights and whether its scale is logarithmic: where `logarithmic` says so, or where all
 * heights are above 0 and more than fifty-fold apart. A fixed `range` is the span; `also` are further heights.
 * @param {ArrayLike<number>[]} all
 * @param {{ logarithmic?: boolean, range?: Span, also?: number[] }} [options]
 * @returns {{ span: Span, logarithmic: boolean }}
 */
export function heightAxis(all, { logarithmic = false, range, also = [] } = {}) {
  if (range) return { span: range, logarithmic: false };
  const [low, high] = finiteRange([...all, also]) ?? [0, 1];
  if (logarithmic || (low > 0 && high > 50 * low)) {
    const [least, largest] = finiteRange([...all, also].map((one) => Array.from(one).filter((v) => v > 0))) ?? [
      0.1, 10,
    ];
    const [from, to] = [Math.max(-6, Math.floor(Math.log10(least) + 1e-9)), Math.ceil(Math.log10(largest) - 1e-9)];
    return { span: [10 ** from, 10 ** Math.max(to, from + 1)], logarithmic: true };
  }
  const bottom = Math.min(0, low);
  return {
    span: [bottom, Math.max(bottom, high) === bottom ? bottom + 1 : high + 0.04 * (high - bottom)],
    logarithmic,
  };
}

/**
 * Return the place of the value that is drawn nearest to `target`, 0 of none.
 * @param {ArrayLike<number>} values
 * @param {number} target
 */
export function nearest(values, target, logarithmic = false) {
  /** @param {number} v */
  const distance = (v) => (logarithmic ? Math.abs(Math.log(v / target)) : Math.abs(v - target));
  let best = 0;
  for (let at = 1; at < values.length; at += 1) if (distance(values[at]) < distance(values[best])) best = at;
  return best;
}

// Along what losses are swept: one parameter of each, by name or by role, on one axis. Pure arithmetic.

/** @typedef {import("../../../wire").Parameter} Parameter */
/** @typedef {Pick<import("../../../wire").Form, "parameters"> | null | undefined} Form */

/**
 * The parameter of one loss; where it is `turned` it stands on the axis as its reciprocal.
 * @typedef {{ name: string, turned: boolean, parameter: Parameter }} Along
 */

// A scale multiplies similarities, a temperature divides them.
/** @type {Record<string, string>} */
const TURNED = { scale: "temperature", temperature: "scale" };
const ROLES = ["scale", "temperature", "margin"];

/** @param {Form} form */
const numbersOf = (form) => (form?.parameters ?? []).filter(({ kind }) => kind === "number");

/**
 * The parameter of a loss that is called so, or plays this role, or is the reciprocal of it; null where it
 * has none.
 * @param {Form} form
 * @param {string} wanted
 * @returns {Along | null}
 */
export function alongOf(form, wanted) {
  const numbers = numbersOf(form);
  const same = numbers.find(({ name }) => name === wanted) ?? numbers.find(({ role }) => role === wanted);
  if (same) return { name: same.name, turned: false, parameter: same };
  const other = numbers.find(({ name }) => name === TURNED[wanted]);
  return other ? { name: other.name, turned: true, parameter: other } : null;
}

/**
 * What these losses can be swept along, each once, roles first.
 * @param {Form[]} forms
 */
export function choicesOf(forms) {
  const numbers = forms.flatMap(numbersOf);
  const roles = ROLES.filter((one) => numbers.some(({ name, role }) => name === one || role === one));
  return [...new Set([...roles, ...numbers.map(({ name }) => name)])];
}

/**
 * Whether all of these can be swept by equal ratios: a range that reaches 0 cannot.
 * @param {(Along | null)[]} all
 */
export const byRatios = (all) => all.every((one) => !one || one.parameter.minimum > 0);

/**
 * A value of the parameter on the axis, and back.
 * @param {Pick<Along, "turned">} along
 * @param {number} value
 */
export const turned = (along, value) => (along.turned ? 1 / value : value);

/**
 * The values of a curve where they stand on the axis, rising, with their heights in the same order. What
 * was typed to three digits is so again.
 * @param {Pick<Along, "turned">} along
 * @param {ArrayLike<number>} values
 */
export function onAxis(along, values) {
  const own = Array.from(values, (v) => Number(v.toPrecision(6)));
  const order = own.map((_v, place) => place);
  if (along.turned) order.reverse();
  return { order, own: order.map((place) => own[place]), x: order.map((place) => turned(along, own[place])) };
}

/**
 * The place of the value that is drawn nearest.
 * @param {ArrayLike<number>} values
 * @param {number} wanted
 */
export function nearest(values, wanted, logarithmic = false) {
  /** @param {number} v */
  const apart = (v) => (logarithmic ? Math.abs(Math.log(v / wanted)) : Math.abs(v - wanted));
  let best = 0;
  for (let place = 1; place < values.length; place += 1) if (apart(values[place]) < apart(values[best])) best = place;
  return best;
}

/**
 * The least and the largest of all finite values, null where there is none.
 * @param {ArrayLike<number>[]} all
 * @returns {[number, number] | null}
 */
export function endsOf(all) {
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
 * The heights that are drawn, and whether by ratios: always where it is said so, else where all lie above
 * 0 and more than fifty-fold apart. What has a fixed `range` keeps it.
 * @param {ArrayLike<number>[]} all
 * @param {{ logarithmic?: boolean, range?: [number, number], also?: number[] }} [how]
 * @returns {{ span: [number, number], logarithmic: boolean }}
 */
export function heightsOf(all, { logarithmic = false, range, also = [] } = {}) {
  if (range) return { span: range, logarithmic: false };
  const [low, high] = endsOf([...all, also]) ?? [0, 1];
  if (logarithmic || (low > 0 && high > 50 * low)) {
    const [least, largest] = endsOf([...all, also].map((one) => Array.from(one).filter((v) => v > 0))) ?? [0.1, 10];
    const [from, to] = [Math.max(-6, Math.floor(Math.log10(least) + 1e-9)), Math.ceil(Math.log10(largest) - 1e-9)];
    return { span: [10 ** from, 10 ** Math.max(to, from + 1)], logarithmic: true };
  }
  const bottom = Math.min(0, low);
  return {
    span: [bottom, Math.max(bottom, high) === bottom ? bottom + 1 : high + 0.04 * (high - bottom)],
    logarithmic,
  };
}

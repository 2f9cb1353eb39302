// The parameter along which losses are swept: one of each, by name or by role, on one axis. Pure arithmetic.

/** @typedef {import("../../../wire").Parameter} Parameter */
/** @typedef {Pick<import("../../../wire").Form, "parameters"> | null | undefined} Form */

/**
 * The parameter of one loss; the axis has its reciprocal where it is `inverted`.
 * @typedef {{ name: string, inverted: boolean, parameter: Parameter }} SweptParameter
 */

// A scale multiplies similarities, a temperature divides them.
/** @type {Record<string, string>} */
const RECIPROCALS = { scale: "temperature", temperature: "scale" };
const ROLES = ["scale", "temperature", "margin"];

/** @param {Form} form */
const numbersOf = (form) => (form?.parameters ?? []).filter(({ kind }) => kind === "number");

/**
 * Return the parameter of a loss of this name or role, or its reciprocal; null where the loss has none.
 * @param {Form} form
 * @param {string} parameter its name or role
 * @returns {SweptParameter | null}
 */
export function sweptParameterOf(form, parameter) {
  const numbers = numbersOf(form);
  const same = numbers.find(({ name }) => name === parameter) ?? numbers.find(({ role }) => role === parameter);
  if (same) return { name: same.name, inverted: false, parameter: same };
  const other = numbers.find(({ name }) => name === RECIPROCALS[parameter]);
  return other ? { name: other.name, inverted: true, parameter: other } : null;
}

/**
 * Return the parameters along which these losses can be swept, each once, roles first.
 * @param {Form[]} forms
 */
export function choicesOf(forms) {
  const numbers = forms.flatMap(numbersOf);
  const roles = ROLES.filter((one) => numbers.some(({ name, role }) => name === one || role === one));
  return [...new Set([...roles, ...numbers.map(({ name }) => name)])];
}

/**
 * Whether all of these have a logarithmic axis: a range that reaches 0 has none.
 * @param {(SweptParameter | null)[]} all
 */
export const canBeLogarithmic = (all) => all.every((one) => !one || one.parameter.minimum > 0);

/**
 * Return the place of a value on the axis, or the value of a place.
 * @type {(along: Pick<SweptParameter, "inverted">, value: number) => number}
 */
export const onAxisScale = (along, value) => (along.inverted ? 1 / value : value);

/**
 * Return the values of a curve in the rising order of the axis, with their `own` values and their former order.
 * They are rounded to the digits that a reader types.
 * @param {Pick<SweptParameter, "inverted">} along
 * @param {ArrayLike<number>} values
 */
export function orderedOnAxis(along, values) {
  const own = Array.from(values, (v) => Number(v.toPrecision(6)));
  const order = own.map((_v, place) => place);
  if (along.inverted) order.reverse();
  return { order, own: order.map((place) => own[place]), x: order.map((place) => onAxisScale(along, own[place])) };
}

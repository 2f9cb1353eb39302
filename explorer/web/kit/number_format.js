// Numbers as people read them, and as formulas do.

/** @type {(count: number) => string} 1 048 576, in both languages, by a space that does not break. */
export const grouped = (count) => String(count).replace(/\B(?=(\d{3})+$)/g, "\u202f");

// Outside of these a number is written with a power of ten.
const [SMALL, LARGE] = [1e-4, 1e7];

const WORDS = { inf: Infinity, "-inf": -Infinity, nan: NaN };
/**
 * A number as the server writes it: JSON has no word for ∞ or NaN.
 * @template {import("../wire").Real | null | undefined} Value
 * @param {Value} value
 * @returns {Value extends string ? number : Value}
 */
export const read = (value) => /** @type {any} */ (typeof value === "string" ? WORDS[value] : value);

/**
 * A number for people, as `display_number` of runtime/number_format.py writes it: so many significant
 * digits, and the whole part to its last one.
 * @param {import("../wire").Real | null | undefined} number
 */
export function show(number, digits = 4) {
  const value = read(number);
  if (value === null || value === undefined) return "—";
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  const size = Math.abs(value);
  if (size === 0) return "0";
  const kept = size < LARGE ? Math.max(digits, String(Math.trunc(size)).length) : digits;
  const near = Number(size.toPrecision(kept));
  const [whole, fraction] = String(near).split(".");
  const text =
    near < SMALL || near >= LARGE
      ? size
          .toExponential(kept - 1)
          .replace(/\.?0+e/, "e")
          .replace("e+", "e")
          .replace("-", "−")
      : grouped(Number(whole)) + (fraction ? `.${fraction}` : "");
  return value < 0 ? `−${text}` : text;
}

/**
 * How many of what is counted, a fraction perhaps, as it stands beside the number of all: never with a
 * power of ten.
 * @param {import("../wire").Real | null | undefined} number
 */
export function counted(number, digits = 4) {
  const value = read(number);
  return typeof value === "number" && Number.isFinite(value) && value >= LARGE
    ? grouped(Math.round(value))
    : show(value, digits);
}

/**
 * A number with so many digits after the point, so that those beside it stand alike.
 * @type {(value: number | null | undefined, places: number) => string}
 */
export function fixed(value, places) {
  if (value === null || value === undefined) return show(null);
  const text = Math.abs(value).toFixed(places);
  return (value < 0 && Number(text) ? "−" : "") + text;
}

/**
 * A mean and its deviation, both to so many places after the point; without such to the second digit of
 * the deviation.
 * @type {(mean: number, deviation: number | null | undefined, fixedPlaces?: number | null) => string}
 */
export function showWithin(mean, deviation, fixedPlaces = null) {
  if (fixedPlaces !== null) {
    const [value, spread] = [mean, deviation].map((v) => fixed(v, fixedPlaces));
    return deviation === null || deviation === undefined ? value : `${value}\u00a0±\u00a0${spread}`;
  }
  if (!deviation) return show(mean, 3) + (deviation === 0 ? "\u00a0±\u00a00" : "");
  const places = Math.min(Math.max(1 - Math.floor(Math.log10(deviation)), 0), 6);
  return [mean, deviation].map((v) => v.toFixed(places).replace("-", "−")).join("\u00a0±\u00a0");
}

/** @type {(value: number, places: number) => string} A difference with its sign, to so many places after the point. */
export function signed(value, places) {
  const text = Math.abs(value).toFixed(places);
  return Number(text) === 0 ? text : (value < 0 ? "−" : "+") + text;
}

/**
 * A difference and the ends of its interval, to 3 places after the point, or as many as tell the ends apart
 * and give what is not 0 its sign.
 * @param {{ difference: number, low: number, high: number }} found
 */
export function signedEnds({ difference, low, high }) {
  const ends = [difference, low, high];
  /** @param {number} at */
  const tell = (at) =>
    (signed(low, at) !== signed(high, at) || low === high) && ends.every((end) => !end || Number(end.toFixed(at)));
  const places = [3, 4, 5, 6].find(tell) ?? 3;
  return { difference: signed(difference, places), low: signed(low, places), high: signed(high, places) };
}

/**
 * Whether an interval is of figures that are equal, pair by pair, so that nothing tells what other pairs would show.
 * @param {{ low: number, high: number }} found
 */
export const isZeroInterval = ({ low, high }) => Math.max(Math.abs(low), Math.abs(high)) < 1e-9;

// What a sum of shares that was added up in float32 may be short of all.
const SHORT = 1e-6;

/**
 * A share for people: 12%, 1.2%, 0.0012%. What is not all is never 100%, but >99%.
 * @param {number} share
 */
export const percent = (share) => {
  const value = 100 * share;
  const text = value >= 10 ? value.toFixed(0) : show(value, 2);
  return text === "100" && share < 1 - SHORT ? ">99%" : `${text}%`;
};

/**
 * Numbers beside each other with as many digits as tell them apart.
 * @param {number[]} values
 */
export function distinctNumbers(values, shares = false) {
  for (let digits = 3; ; digits += 1) {
    const texts = values.map((v) => (shares ? `${show(100 * v, digits)}%` : show(v, digits)));
    if (new Set(texts).size === values.length || digits === 8) return texts;
  }
}

/**
 * The same number for a formula: a power of ten is written out, a negative one is bracketed.
 * @param {import("../wire").Real} value
 */
export function texNumber(value) {
  const text = show(value, 4)
    .replace(/−/g, "-")
    .replace(/\u202f/g, "\\,");
  if (text === "∞") return "\\infty";
  if (text === "-∞") return "-\\infty";
  const [mantissa, exponent] = text.split("e");
  const plain = exponent ? `${mantissa}\\cdot 10^{${exponent}}` : mantissa;
  return plain.startsWith("-") ? `(${plain})` : plain;
}

/** @type {(number: string) => string} A number of a formula without its brackets. */
export const bare = (number) => number.replace(/^\((.*)\)$/, "$1");

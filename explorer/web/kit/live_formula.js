// The live formula of a step with the numbers of one cell put in. What stands for each reference
// comes with the picture; see explorer/core/live_formulas.py.
import { bytes, floats } from "./base64_arrays.js";
import { bare, texNumber } from "./number_format.js";

const whole = (text = "") => new Int32Array(bytes(text).buffer);

/** @param {import("../wire").Numbers} numbers */
const unpacked = (numbers) => ({
  ...numbers,
  values: floats(numbers.values),
  present: bytes(numbers.present ?? ""),
  pairs: whole(numbers.pairs),
  left: whole(numbers.left),
  rest: floats(numbers.rest ?? ""),
});

/** @param {import("../wire").Shown} shown */
export function liveFormula(shown) {
  const numbers = Object.fromEntries(
    Object.entries(shown.numbers).map(([reference, numbers]) => [reference, unpacked(numbers)]),
  );

  /**
   * A number that says what it came from: a step or parameter, a row or column, a pair.
   * @type {(text: string, origin: object) => string}
   */
  const marked = (text, origin) => {
    const attributes = Object.entries(origin)
      .map(([name, value]) => `${name}=${value}`)
      .join();
    return `\\htmlData{${attributes}}{${text}}`;
  };

  /** @type {(reference: string, row: number, column: number) => string} */
  function written(reference, row, column) {
    const { of, at, rows, columns, parts, kind, values, ...over } = numbers[reference];
    const cell = (rows > 1 ? row : 0) * columns + (columns > 1 ? column : 0);
    const origin = { of, at: at || (kind ? "step" : "parameter") };
    if (!kind) return marked(texNumber(values[cell]), origin);
    /** @param {number} value */
    const term = (value) => (kind === "Σ exp" ? `e^{${bare(texNumber(value))}}` : texNumber(value));
    const written = [];
    for (let i = cell * parts; i < (cell + 1) * parts; i += 1) {
      if (over.present[i]) written.push(marked(term(values[i]), { ...origin, pair: over.pairs[i] }));
    }
    const left = over.left[cell];
    const summed = kind.startsWith("Σ");
    if (left && summed) {
      const rest = `\\underbrace{${term(over.rest[cell])}}_{${left}\\,\\text{others}}`;
      written.push(marked(rest, { ...origin, more: left }));
    } else if (left) written.push("\\ldots");
    return written.join(summed ? " + " : ",\\, ") || "0";
  }

  /**
   * `names` says what the row and the column are called.
   * @param {number} row
   * @param {number} column
   * @param {Record<string, () => string | number>} names
   */
  return (row, column, names) =>
    shown.live.replace(/«([^»]+)»/g, (_all, /** @type {string} */ reference) => {
      if (!(reference in names)) return written(reference, row, column);
      return marked(String(names[reference]()), { at: reference === "r" ? "row" : "column" });
    });
}

// What a slider shows before the server answers: the cells in view come once for the whole range of its parameter, and
// between two of those stops they are mixed. The exact picture follows with its answer.
import { bytes } from "../../kit/base64_arrays.js";

/** @typedef {{ place: number, low: number, step: number, codes: Uint8Array, mask: Uint8Array | null }} Stop */

// The bytes of cells (export/matrix_thumbnails.py).
const LARGEST = 253;
const NOT_A_NUMBER = 254;
const MASKED = 255;

export class SliderPreview {
  /** @param {import("./state.js").ExplorePage} page */
  constructor(page) {
    this.page = page;
    /** @type {{ name: string, key: string, stops: Stop[] }} */
    this.known = { name: "", key: "", stops: [] };
    this.requestedKey = ""; // the key of the range that is on its way
  }

  /** @type {(name: string) => boolean} Whether the range of a parameter is here for the scenario as it stands. */
  covers(name) {
    return this.known.key === this.#key(name);
  }

  /**
   * Fetch the range of a parameter that a hand moves, once for all else that it depends on.
   * @param {string} name
   */
  async fetch(name) {
    const { server, scenario, picture, form, sent } = this.page;
    const parameter = form.parameters.find((one) => one.name === name);
    const key = this.#key(name);
    if (!server || !picture || this.covers(name) || this.requestedKey === key) return;
    const isNumber = typeof scenario.parameters[name] === "number" && parameter?.kind === "number";
    // A kept range of colours may be narrower than a step of the bytes.
    if (!isNumber || scenario.view.colour_range || "value" in picture.steps[picture.chosen]) return;
    this.requestedKey = key;
    const answer = await sent.ask({ scenario, parameter: name }, server.slider_preview);
    if (this.requestedKey !== key) return;
    this.requestedKey = "";
    const stops = (answer.stops ?? []).map(({ value, cells: { low, high, data }, mask }) => ({
      place: placeOf(parameter, value),
      low,
      step: (high - low) / LARGEST || 1,
      codes: bytes(data),
      mask: mask ? bytes(mask) : null,
    }));
    this.known = { name, key, stops };
  }

  /**
   * The facet in view, and its mask where cells are hatched by it, at the value where the slider stands; null where
   * the picture is that of this value, or the range is not here.
   */
  cells() {
    const { picture, scenario, form } = this.page;
    const { name, stops } = this.known;
    const parameter = form.parameters.find((one) => one.name === name);
    const value = scenario.parameters[name];
    if (!picture || !parameter || typeof value !== "number" || !this.covers(name)) return null;
    const place = placeOf(parameter, value);
    const next = stops.findIndex((stop) => stop.place >= place);
    if (value === picture.parameters[name] || next < 0 || (next === 0 && stops[0].place > place)) return null;
    const [one, other] = [stops[Math.max(0, next - 1)], stops[next]];
    const { shown } = picture;
    // A parameter may change which cells there are.
    const count = shown.rows * shown.columns;
    if (one.codes.length !== count || other.codes.length !== count) return null;
    const inView = /** @type {"value" | "mask" | "weight" | "gradient"} */ (scenario.view.facet);
    const facet = shown[inView] ? inView : "value";
    const share = (place - one.place) / (other.place - one.place || 1);
    const mask = (share < 0.5 ? one : other).mask;
    return { ...(mask && { mask }), [facet]: mixed(one, other, share, facet === "weight") };
  }

  /** @type {(name: string) => string} What the range of a parameter depends on: all but that parameter. */
  #key(name) {
    const { batch, scenario } = this.page;
    const { loss, convention, parameters, rules, view } = scenario;
    const others = { ...parameters, [name]: null };
    const { step, facet, order } = view;
    return JSON.stringify([name, batch?.key, loss, convention, others, rules, step, facet, order]);
  }
}

/** @type {(parameter: import("../../wire").Parameter, value: number) => number} */
const placeOf = ({ logarithmic }, value) => (logarithmic ? Math.log(value) : value);

/**
 * Cells at a share of the way between two stops; weights are mixed as their cube roots, by which they are coloured.
 * @type {(one: Stop, other: Stop, share: number, areRoots: boolean) => Float32Array}
 */
function mixed(one, other, share, areRoots) {
  const [from, to] = [parts(one, 1 - share), parts(other, share)];
  const cells = new Float32Array(one.codes.length);
  for (let i = 0; i < cells.length; i += 1) {
    const value = from[one.codes[i]] + to[other.codes[i]];
    cells[i] = areRoots ? value * value * value : value;
  }
  return cells;
}

/** @type {(stop: Stop, share: number) => Float64Array} What each byte adds to a cell of which it makes this share. */
function parts({ low, step }, share) {
  const table = Float64Array.from({ length: 256 }, (_, code) => share * (low + code * step));
  if (share > 0) [table[NOT_A_NUMBER], table[MASKED]] = [NaN, -Infinity];
  return table;
}

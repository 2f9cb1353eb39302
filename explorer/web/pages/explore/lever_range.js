// A slider over a slow link: what is drawn while it moves comes once for its whole range, and the nearest stop is
// drawn at once. On release the exact answer is asked for.
import { bytes } from "../../kit/base64_arrays.js";
import { parameterValue } from "../../kit/convention_formula.js";

/** @typedef {import("../../wire").LeverStop} Stop */

const SLOW_MS = 60; // that an answer is on its way
const TIMES = 3;
// The bytes of cells (export/thumbnails.py).
const LARGEST = 253;
const NOT_A_NUMBER = 254;
const MASKED = 255;
const SLIDER = "input[type=range][data-parameter]";

export class LeverRange {
  /** @param {import("./state.js").ExplorePage} page */
  constructor(page) {
    this.page = page;
    /** @type {number[]} */
    this.times = []; // of the last answers on their way, in milliseconds
    /** @type {{ key: string, stops: Stop[] }} */
    this.known = { key: "", stops: [] };
    this.asked = ""; // the key of the range that is on its way
    this.isHeld = false; // whether a pointer holds a slider
    /** @type {Stop | null} */
    this.drawn = null;
  }

  listen() {
    /** @param {Event} event */
    const ofSlider = ({ target }) => (target instanceof HTMLInputElement && target.matches(SLIDER) ? target : null);
    document.addEventListener("pointerover", (event) => this.#fetch(ofSlider(event)));
    document.addEventListener("pointerdown", (event) => {
      const slider = ofSlider(event);
      this.isHeld = slider !== null;
      this.#fetch(slider);
    });
    for (const end of ["pointerup", "pointercancel"]) window.addEventListener(end, () => this.#release());
  }

  /** @param {number} ms that an answer was on its way, without the time that its work took */
  measure(ms) {
    this.times = [...this.times.slice(1 - TIMES), ms];
  }

  /**
   * The stop next to a value of the parameter, while a pointer holds its slider and the range of the scenario as it
   * stands is here.
   * @param {string} name
   * @param {import("../../wire").Setting} value
   */
  stopAt(name, value) {
    const { known, page } = this;
    if (!this.isHeld || !this.covers(name) || typeof value !== "number") return null;
    const isLogarithmic = page.form.parameters.find((one) => one.name === name)?.logarithmic;
    const place = (/** @type {number} */ at) => (isLogarithmic ? Math.log(at) : at);
    /** @param {Stop} stop */
    const distance = (stop) => Math.abs(place(stop.value) - place(value));
    this.drawn = known.stops.reduce((one, other) => (distance(other) < distance(one) ? other : one));
    return this.drawn;
  }

  /** @type {(name: string) => boolean} Whether the range of a parameter is here for the scenario as it stands. */
  covers(name) {
    return this.known.key === this.#key(name);
  }

  #release() {
    this.isHeld = false;
    if (this.drawn) this.page.ask();
    this.drawn = null;
  }

  /** @param {HTMLInputElement | null} slider */
  async #fetch(slider) {
    const { page, times } = this;
    const parameter = page.form.parameters.find(({ name }) => name === slider?.dataset.parameter);
    const { server, scenario, picture } = page;
    if (!parameter || !server || !picture || !times.length || Math.min(...times) < SLOW_MS) return;
    // A kept range of colours may be narrower than a step of the encoding.
    const isOff = parameterValue(parameter, scenario.parameters) === null;
    if (isOff || scenario.view.colour_range || "value" in picture.steps[picture.chosen]) return;
    const key = this.#key(parameter.name);
    if (this.covers(parameter.name) || this.asked === key) return;
    this.asked = key;
    const answer = await page.sent.asked({ scenario, parameter: parameter.name }, server.lever_range);
    if (this.asked !== key) return;
    this.asked = "";
    const stops = answer?.stops ?? [];
    const { rows, columns } = picture.shown;
    // A parameter that changes which cells there are is asked for as ever.
    const isAlike = stops.every(({ cells }) => cells.rows === rows && cells.columns === columns);
    if (stops.length && isAlike) this.known = { key, stops };
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

/**
 * The facet in view at a stop, and its mask where cells are hatched by it.
 * @param {Stop} stop
 * @param {import("../../wire").Shown} shown
 * @param {string} facet
 */
export function facetsAt({ cells: { low, high, data }, mask }, shown, facet) {
  const name = /** @type {"value" | "mask" | "weight" | "gradient"} */ (facet);
  const step = (high - low) / LARGEST || 1;
  const table = Float32Array.from({ length: 256 }, (_, code) => {
    const value = low + code * step;
    return name === "weight" && shown.weight ? value ** 3 : value;
  });
  [table[NOT_A_NUMBER], table[MASKED]] = [Number.NaN, -Infinity];
  const cells = Float32Array.from(bytes(data), (code) => table[code]);
  return { ...(mask ? { mask: bytes(mask) } : {}), [shown[name] ? name : "value"]: cells };
}

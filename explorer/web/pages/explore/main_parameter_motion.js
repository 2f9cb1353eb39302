// The lever moves once by itself, from its low end to where it stands: what it does is seen before it is touched.

import { prefersReducedMotion } from "../../kit/dom.js";
import { leverOf } from "../../kit/main_parameter.js";
import { parameterValue } from "../../kit/parameter_value_or_default.js";

const MOTION_MS = 1300;
// What a reader does ends it.
const INTERRUPTING_EVENTS = ["pointerdown", "keydown", "wheel"];

/** @typedef {import("../../wire").Scenario["parameters"]} Parameters */

/**
 * `changed` hears of each value that is shown, and of the end. A reader who wants no motion sees two stills: the low
 * end, then the value.
 * @param {import("./state.js").ExplorePage} page
 * @param {() => void} changed
 */
export function leverMotion(page, changed) {
  /** @type {{ lever: import("../../wire").Parameter, before: Parameters, shown: Parameters, begun: number } | null} */
  let running = null;

  function play() {
    const lever = leverOf(page.form.parameters);
    if (!lever || running) return;
    const before = page.scenario.parameters;
    running = { lever, before, shown: before, begun: performance.now() };
    for (const act of INTERRUPTING_EVENTS) window.addEventListener(act, interrupt, { capture: true });
    frame();
  }

  function frame() {
    if (!running) return;
    const { lever, before, begun } = running;
    const part = (performance.now() - begun) / MOTION_MS;
    // The reader chose something else meanwhile.
    if (page.scenario.parameters !== running.shown) end();
    else if (part >= 1) stop();
    else {
      const value = valueAt(lever, Number(parameterValue(lever, before)), prefersReducedMotion() ? 0 : part);
      running.shown = { ...before, [lever.name]: value };
      page.preview(running.shown);
      changed();
      if (prefersReducedMotion()) setTimeout(stop, MOTION_MS / 2);
      else requestAnimationFrame(frame);
    }
  }

  // As it was before.
  function stop() {
    if (!running) return;
    page.preview(running.before);
    page.remember();
    end();
  }

  function end() {
    running = null;
    for (const act of INTERRUPTING_EVENTS) window.removeEventListener(act, interrupt, { capture: true });
    changed();
  }

  /** @param {Event} event */
  function interrupt({ target }) {
    // The button that plays it stops it by itself.
    if (!(target instanceof Element && target.closest("#main-lever .lp-square"))) stop();
  }

  return { play, isRunning: () => running !== null, toggle: () => (running ? stop() : play()) };
}

/**
 * The value at this part of the way from the low end of the lever.
 * @param {import("../../wire").Parameter} lever
 * @param {number} value where the way ends
 * @param {number} part from 0 to 1
 */
function valueAt({ minimum, logarithmic, whole }, value, part) {
  const low = logarithmic ? Math.max(minimum, 1e-6) : minimum;
  const at = logarithmic ? low * (value / low) ** part : low + part * (value - low);
  return whole ? Math.round(at) : Number(at.toPrecision(3));
}

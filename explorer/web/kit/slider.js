// A number that slides and can be typed, as an element and as a component.
import { useLatest } from "./components.js";
import { h, worded } from "./dom.js";
import { tex } from "./formula.js";
import { hosted } from "./preact_view.js";
import { say } from "./translated_sentences.js";

const TYPING_MS = 300;

/** @type {(v: number) => string} As short as it can be written: 1e-6 for 0.000001, which the box would cut off. */
function short(v) {
  const [plain, power] = [String(v), v.toExponential()];
  return plain.length > 6 && power.length < plain.length && Math.abs(v) < 1 ? power : plain;
}

/**
 * The scale of a slider: values ↔ places on the track, from 0 to 1, and a value rounded to the step or, on a
 * logarithmic track, to a few digits.
 * @param {{ low: number, high: number, step: number, whole?: boolean, logarithmic?: boolean }} options
 */
function trackScale({ low, high, step, whole, logarithmic }) {
  const from = Math.max(low, logarithmic ? 1e-6 : low);
  return {
    /** @param {number} v */
    toTrack: (v) =>
      logarithmic ? Math.log(Math.max(v, from) / from) / Math.log(high / from) : (v - low) / (high - low),
    /** @param {number} t */
    ofTrack: (t) => (logarithmic ? from * (high / from) ** t : low + t * (high - low)),
    /** @param {number} v */
    tidy(v) {
      const rounded = logarithmic ? Number(v.toPrecision(whole ? 2 : 3)) : Math.round(v / step) * step;
      const exact = whole ? Math.round(rounded) : rounded;
      return Number(Math.min(high, Math.max(low, exact)).toPrecision(7));
    },
  };
}

/**
 * A number that slides and can be typed: range for the hand, box for the exact value. Its name
 * is a `label`, or the words of a `key`, which follow the language. A `whole` number has no
 * fraction. A `toggle` stands before the name.
 * @param {{ low: number, high: number, step: number, initial: number, change: (value: number) => void,
 *   label?: string, key?: string, formula?: string, whole?: boolean, logarithmic?: boolean, name?: string,
 *   toggle?: HTMLInputElement }} options
 */
export function slider(options) {
  const { label, key, formula, low, high, whole, initial, change, name, toggle } = options;
  const { toTrack, ofTrack, tidy } = trackScale(options);
  let good = initial;
  /** @param {number} v */
  const take = (v) => {
    good = v;
    box.value = short(v);
    reset.disabled = v === initial;
  };
  const track = h("input", { type: "range", min: 0, max: 1000, step: 1 });
  const box = h("input.lp-number", { type: "number", min: low, max: high, step: "any" });
  if (name) track.dataset.parameter = name;
  /** @param {number} v */
  const put = (v) => {
    track.value = String(Math.round(1000 * toTrack(v)));
    fill();
    for (const input of [track, box]) input.setAttribute("aria-label", key ? say(key) : (label ?? ""));
  };
  const fill = () => track.style.setProperty("--lp-fill", `${Number(track.value) / 10}%`);
  const reset = h("button.lp-square", { "data-title": "ui.reset" }, "↺");
  track.addEventListener("input", () => {
    const v = tidy(ofTrack(Number(track.value) / 1000));
    take(v);
    fill();
    complain(true);
    change(v);
  });
  // A number counts once it is whole: 1e3 begins with 1.
  /** @type {ReturnType<typeof setTimeout> | 0} */
  let typing = 0;
  const typed = () => {
    clearTimeout(typing);
    typing = 0;
    const v = Number(box.value);
    if (!box.classList.contains("lp-bad") && v !== good) {
      good = v;
      put(v);
      change(v);
    }
  };
  box.addEventListener("input", () => {
    const v = Number(box.value);
    complain(box.value.trim() !== "" && v >= low && v <= high && (!whole || Number.isInteger(v)));
    clearTimeout(typing);
    typing = setTimeout(typed, TYPING_MS);
  });
  box.addEventListener("change", typed);
  // What does not fit is named, and on leaving the box the value in force comes back.
  const wrong = h("p.lp-wrong", { hidden: true });
  /** @param {boolean} fits */
  function complain(fits) {
    box.classList.toggle("lp-bad", !fits);
    wrong.hidden = fits;
    wrong.textContent = fits ? "" : say("ui.accepted_else", { low, high, value: good });
  }
  box.addEventListener("blur", () => {
    typed();
    take(good);
    complain(true);
  });
  reset.addEventListener("click", () => {
    take(initial);
    put(initial);
    complain(true);
    track.focus(); // the button has nothing left to do
    change(initial);
  });
  const head = toggle ? h("label.lp-name.lp-check", toggle) : h("span.lp-name");
  if (formula) {
    const symbol = h("span");
    tex(symbol, formula);
    head.append(symbol, " ");
  }
  head.append(key ? worded("span", key) : h("span", label));
  put(initial);
  return {
    element: h("div.lp-slider", h("div.lp-row", head, box, reset), wrong, track),
    /** @param {number} v */
    set(v) {
      good = v;
      put(v);
      // What is being typed stays as it is typed.
      const busy = document.activeElement === box && (typing || !wrong.hidden || Number(box.value) === v);
      if (!busy) {
        take(v);
        complain(true);
      }
    },
  };
}

/**
 * The slider of a number of a page's state: range and default are those of its entry in the table.
 * @param {Pick<import("../wire").StateEntry, "kind" | "low" | "high" | "default">} entry
 * @param {Partial<Parameters<typeof slider>[0]> & Pick<Parameters<typeof slider>[0], "change">} options
 */
export const numberField = ({ kind, low = 0, high = 1, default: initial }, options) =>
  slider({
    low,
    high,
    initial: Number(initial),
    whole: kind === "whole",
    step: kind === "whole" ? 1 : 0.01,
    ...options,
  });

/**
 * The slider of a number of a page's state, with a box for the exact value.
 * `title` is the key of its name.
 * @param {{ entry: Parameters<typeof numberField>[0], value: number, title: string }
 *   & Parameters<typeof numberField>[1]} properties
 */
export function Slider({ entry, value, title, change, ...options }) {
  const changing = useLatest(change);
  return hosted({
    make: (root) => {
      const field = numberField(entry, { key: title, ...options, change: changing });
      root.append(field.element);
      return field;
    },
    update: ({ set }) => set(value),
  });
}

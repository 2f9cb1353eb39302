// The controls of a loss's parameters: numbers, choices, switches and lists of numbers.

import { useLatest } from "./components.js";
import { h, reveal } from "./dom.js";
import { parameterValue } from "./parameter_value_or_default.js";
import { hosted } from "./preact_view.js";
import { slider } from "./slider.js";
import { has, language, parameterName, say } from "./translated_sentences.js";

/**
 * A control of a parameter: its element, and how another value is set.
 * @typedef {{ element: HTMLElement, set: (value: import("../wire").Setting) => void }} Field
 */

/**
 * The slider of a parameter that is a number.
 * @param {import("../wire").Parameter} parameter
 * @param {number} initial
 * @param {(value: number) => void} change
 * @param {HTMLInputElement} [toggle]
 */
const numberOf = (parameter, initial, change, toggle) =>
  slider({
    label: parameterName(parameter.name),
    formula: parameter.symbol,
    low: parameter.minimum,
    high: parameter.maximum,
    step: parameter.step,
    whole: parameter.whole,
    logarithmic: parameter.logarithmic,
    initial,
    change,
    name: parameter.name,
    toggle,
  });

/**
 * A number that may be off, which is null: a checkbox before its slider, which begins at `first`.
 * @type {(parameter: import("../wire").Parameter, first: number, change: (value: number | null) => void) => Field}
 */
function switchedNumber(parameter, first, change) {
  let last = first;
  const toggle = h("input", { type: "checkbox" });
  toggle.addEventListener("change", () => {
    show(toggle.checked);
    change(toggle.checked ? last : null);
  });
  const { element, set } = numberOf(
    parameter,
    first,
    (v) => {
      last = v;
      change(v);
    },
    toggle,
  );
  /** @param {boolean} on */
  const show = (on) => {
    toggle.checked = on;
    for (const control of element.querySelectorAll("input, button"))
      if (control !== toggle) control.toggleAttribute("disabled", !on);
  };
  return {
    element,
    set(v) {
      show(v !== null);
      last = Number(v ?? last);
      set(last);
    },
  };
}

/**
 * The control of a loss's parameter, by its kind: number, choice, switch, or list of numbers.
 * @param {import("../wire").Parameter} parameter
 * @param {import("../wire").Setting} initial
 * @param {(value: import("../wire").Setting) => void} change
 * @returns {Field}
 */
export function parameterField(parameter, initial, change) {
  const { name, kind } = parameter;
  const spoken = parameterName(name);
  if (kind === "number") {
    if (parameter.on_value !== null) return switchedNumber(parameter, parameter.on_value, change);
    const { element, set } = numberOf(parameter, Number(initial), change);
    return { element, set: (v) => set(Number(v)) };
  }
  if (kind === "choice") {
    const select = h(
      "select",
      { onchange: () => change(select.value) },
      parameter.choices.map((choice) =>
        h("option", { value: choice }, has(`choice.${choice}`) ? say(`choice.${choice}`) : choice),
      ),
    );
    select.dataset.parameter = name;
    return {
      element: h("label.lp-field", h("span", spoken), select),
      set: (v) => {
        select.value = String(v);
      },
    };
  }
  if (kind === "switch") {
    const box = h("input", { type: "checkbox", onchange: () => change(box.checked) });
    box.dataset.parameter = name;
    return {
      element: h("label.lp-check", box, h("span", spoken)),
      set: (v) => {
        box.checked = Boolean(v);
      },
    };
  }
  const text = h("input", { type: "text", inputMode: "decimal" });
  text.dataset.parameter = name;
  text.addEventListener("input", () => {
    const numbers = text.value
      .split(/[\s,;]+/)
      .filter(Boolean)
      .map(Number);
    const fits = numbers.length > 0 && numbers.every(Number.isFinite);
    text.classList.toggle("lp-bad", !fits);
    if (fits) change(numbers);
  });
  return {
    element: h("label.lp-field", h("span", spoken), text),
    set: (v) => {
      text.value = [v].flat().join(", ");
    },
  };
}

/** @type {(name: string) => void} Lead to the control of a parameter, where the page has one. */
export const focusParameter = (name) => reveal(document.querySelector(`[data-parameter="${name}"]`));

/**
 * The controls of a loss's parameters.
 * @param {(name: string, value: import("../wire").Setting) => void} change
 */
export function parameterList(change) {
  const element = h("div.lp-parameters");
  let built = "";
  /** @type {[import("../wire").Parameter, Field][]} */
  let fields = [];
  return {
    element,
    /**
     * `key` names the loss and its convention. Answers whether the controls are new ones.
     * @param {string} key
     * @param {import("../wire").Parameter[]} parameters
     * @param {Record<string, import("../wire").Setting>} values
     */
    set(key, parameters, values) {
      const isNew = `${key}|${language()}` !== built;
      if (isNew) {
        built = `${key}|${language()}`;
        fields = parameters.map((parameter) => [
          parameter,
          parameterField(parameter, parameter.default, (v) => change(parameter.name, v)),
        ]);
        element.replaceChildren(...fields.map(([, field]) => field.element));
      }
      for (const [parameter, field] of fields) field.set(parameterValue(parameter, values));
      return isNew;
    },
    /** @type {(name: string | undefined) => void} A parameter that is pointed at in a formula is lit. */
    light(name) {
      for (const [parameter, field] of fields) field.element.classList.toggle("lp-lit", parameter.name === name);
    },
  };
}

/**
 * The controls of a loss's parameters. `of` names the loss and its convention, `lit` the parameter pointed at.
 * @param {{ of: string, parameters: import("../wire").Parameter[], values: Record<string, import("../wire").Setting>,
 *   lit?: string, change: (name: string, value: import("../wire").Setting) => void }} properties
 */
export function Parameters({ of, parameters, values, lit, change }) {
  const changing = useLatest(change);
  return hosted({
    make: (root) => {
      const list = parameterList(changing);
      root.append(list.element);
      return list;
    },
    update: (list) => {
      list.set(`${of}|${JSON.stringify(parameters)}`, parameters, values); // one's own loss may get others
      list.light(lit);
    },
  });
}

// The control of a parameter that may be off.
import assert from "node:assert/strict";
import test from "node:test";
import { happen } from "./page.js"; // first: the field makes elements

/** @type {any} */ (globalThis).self = globalThis; // where KaTeX leaves itself
const { parameterField } = await import("../../explorer/web/kit/parameter_fields.js");

/** @type {any} */
const MASK = {
  ...{ name: "mask_above", kind: "number", symbol: "", default: null, on_value: 0.1, former_off: 1000 },
  ...{ minimum: 0.01, maximum: 999, step: 0.01, logarithmic: true, whole: false, choices: [] },
};

/** A field, the values that it reports, and its controls. */
function fieldOf(parameter) {
  const heard = [];
  const field = parameterField(parameter, parameter.default, (value) => heard.push(value));
  const [toggle] = field.element.querySelectorAll("input[type=checkbox]");
  const others = [...field.element.querySelectorAll("input:not([type=checkbox]), button")];
  return { field, heard, toggle, others, isOn: () => others.map((one) => !one.hasAttribute("disabled")) };
}

function press(toggle, on) {
  toggle.checked = on;
  happen(toggle, "change");
}

test("a parameter that may be off is switched on at its first value, and off again", () => {
  const { field, heard, toggle, isOn } = fieldOf(MASK);
  field.set(null);
  assert.equal(toggle.checked, false);
  assert.deepEqual(isOn(), [false, false, false]);
  press(toggle, true);
  assert.deepEqual([heard.at(-1), isOn()], [0.1, [true, true, true]]);
  press(toggle, false);
  assert.deepEqual([heard.at(-1), isOn()], [null, [false, false, false]]);
});

test("what was set is there when it is switched on again", () => {
  const { field, heard, toggle, isOn } = fieldOf(MASK);
  field.set(0.4);
  assert.deepEqual([toggle.checked, isOn()], [true, [true, true, true]]);
  press(toggle, false);
  field.set(null);
  press(toggle, true);
  assert.equal(heard.at(-1), 0.4);
});

test("a parameter that is always on has no checkbox", () => {
  const { toggle } = fieldOf({ ...MASK, default: 0.1, on_value: null });
  assert.equal(toggle, undefined);
});

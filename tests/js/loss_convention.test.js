import assert from "node:assert/strict";
import { test } from "node:test";
import { leverOf } from "../../explorer/web/kit/main_parameter.js";
import { isChosen } from "../../explorer/web/kit/parameter_value_or_default.js";

const number = (name, role = "", more = {}) => ({ name, role, kind: "number", on_value: null, default: 1, ...more });
const choice = { name: "mining", role: "", kind: "choice", on_value: null, default: "all" };

test("the lever is the first scale, temperature or margin, whatever stands before it", () => {
  const lists = [number("weights", "", { kind: "list" }), number("scale", "scale")];
  assert.equal(leverOf(lists)?.name, "scale");
  assert.equal(leverOf([number("alpha"), number("scale", "scale"), number("margin", "margin")])?.name, "scale");
  assert.equal(leverOf([choice, number("margin", "margin"), number("scale", "scale")])?.name, "margin");
});

test("without such a role it is the first number that is always on; choices are no lever", () => {
  assert.equal(leverOf([choice, number("k", "", { on_value: 5 }), number("weight")])?.name, "weight");
  assert.equal(leverOf([choice]), null);
  assert.equal(leverOf([]), null);
});

test("a parameter is chosen where it differs from its default, lists and off included", () => {
  assert.equal(isChosen(number("scale"), {}), false);
  assert.equal(isChosen(number("scale"), { scale: 1 }), false);
  assert.equal(isChosen(number("scale"), { scale: 2 }), true);
  assert.equal(isChosen({ name: "weights", default: [1, 1] }, { weights: [1, 1] }), false);
  assert.equal(isChosen({ name: "weights", default: [1, 1] }, { weights: [1, 2] }), true);
  assert.equal(isChosen({ name: "margin", default: null }, { margin: null }), false);
  assert.equal(isChosen({ name: "margin", default: null }, { margin: 0 }), true);
});

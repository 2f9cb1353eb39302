import assert from "node:assert/strict";
import { test } from "node:test";
import { finiteRange, heightAxis, nearest } from "../../explorer/web/kit/axis_range.js";
import {
  canBeLogarithmic,
  choicesOf,
  orderedOnAxis,
  sweptParameterOf,
} from "../../explorer/web/pages/compare/vary/sweep_axis.js";

const number = (name, more = {}) => ({ kind: "number", name, role: "", minimum: 0.1, maximum: 100, ...more });
const COSENT = { parameters: [number("scale", { role: "scale" })] };
const INFO_NCE = {
  parameters: [{ kind: "switch", name: "symmetric" }, number("temperature", { role: "temperature" })],
};
const CIRCLE = { parameters: [number("scale", { role: "sharpness" }), number("positive_margin", { role: "margin" })] };
const TRIPLET = { parameters: [number("margin", { role: "margin", minimum: 0 })] };
const MSE = { parameters: [] };

test("a parameter is found by its name, by its role, or as the reciprocal of the other", () => {
  const named = (form, wanted) => {
    const found = sweptParameterOf(form, wanted);
    return found && [found.name, found.inverted];
  };
  assert.deepEqual(named(COSENT, "scale"), ["scale", false]);
  assert.deepEqual(named(COSENT, "temperature"), ["scale", true]);
  assert.deepEqual(named(INFO_NCE, "scale"), ["temperature", true]);
  assert.deepEqual(named(CIRCLE, "margin"), ["positive_margin", false]);
  assert.equal(named(COSENT, "margin"), null);
  assert.equal(named(MSE, "scale"), null);
  assert.equal(named(undefined, "scale"), null);
});

test("what can be chosen is named once, roles first", () => {
  assert.deepEqual(choicesOf([MSE, TRIPLET, COSENT, INFO_NCE]), ["scale", "temperature", "margin"]);
  assert.deepEqual(choicesOf([CIRCLE]), ["scale", "margin", "positive_margin"]);
  assert.deepEqual(choicesOf([MSE, null]), []);
});

test("a range that reaches 0 has no equal ratios", () => {
  assert.ok(canBeLogarithmic([sweptParameterOf(COSENT, "scale"), null]));
  assert.ok(!canBeLogarithmic([sweptParameterOf(TRIPLET, "margin")]));
});

test("a temperature stands on the axis of a scale as 1/τ, rising, with its own values beside it", () => {
  const { order, own, x } = orderedOnAxis({ inverted: true }, Float32Array.of(0.05, 0.1, 0.5));
  assert.deepEqual(order, [2, 1, 0]);
  assert.deepEqual(own, [0.5, 0.1, 0.05]);
  assert.deepEqual(x, [2, 10, 20]);
  assert.deepEqual(orderedOnAxis({ inverted: false }, Float32Array.of(0.1, 17.77)).own, [0.1, 17.77]);
});

test("the nearest value is that which is drawn nearest", () => {
  assert.equal(nearest([1, 10, 100], 40), 1);
  assert.equal(nearest([1, 10, 100], 40, true), 2);
});

test("heights that lie far apart are drawn by ratios, shares from 0 to 1", () => {
  assert.deepEqual(
    finiteRange([
      [3, NaN],
      [Infinity, 1],
    ]),
    [1, 3],
  );
  assert.equal(finiteRange([[NaN]]), null);
  assert.deepEqual(heightAxis([[0.2, 50]]), { span: [0.1, 100], logarithmic: true });
  assert.deepEqual(heightAxis([[0, 50]], { range: [0, 1] }), { span: [0, 1], logarithmic: false });
  const plain = heightAxis([[-1, 4]]);
  assert.equal(plain.logarithmic, false);
  assert.equal(plain.span[0], -1);
  assert.ok(plain.span[1] > 4);
  assert.deepEqual(heightAxis([[0, 0]]).span, [0, 1]);
  assert.deepEqual(heightAxis([[NaN]], { logarithmic: true, also: [0.1, 10] }).span, [0.1, 10]);
  assert.deepEqual(heightAxis([[1, 1]], { logarithmic: true }).span, [1, 10]);
});

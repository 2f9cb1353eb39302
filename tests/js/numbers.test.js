import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { apart, grouped, percent, read, show, showWithin, signed, texNumber } from "../../explorer/web/kit/numbers.js";

test("a number as the server writes it: words for what JSON lacks", () => {
  assert.deepEqual(["inf", "-inf", "nan", 2.5, null, undefined].map(read), [
    Infinity,
    -Infinity,
    NaN,
    2.5,
    null,
    undefined,
  ]);
});

// The cases of tests/unit/runtime/test_numbers.py too: both sides write alike.
const cases = JSON.parse(readFileSync(new URL("../data/numbers.json", import.meta.url), "utf8"));
for (const [name, write] of Object.entries({ show, grouped, percent, signed })) {
  for (const [...given] of cases[name]) {
    const said = given.pop();
    test(`${name}(${given}) is ${said}`, () => assert.equal(write(...given), said));
  }
}
test("what is not known is a dash", () => assert.equal(show(undefined), "—"));

test("a mean and its deviation end at the second digit of the deviation", () => {
  assert.equal(showWithin(0.81234, 0.0123), "0.812\u00a0±\u00a00.012");
  assert.equal(showWithin(-12.34, 1.5), "−12.3\u00a0±\u00a01.5");
  assert.equal(showWithin(0.5, 0), "0.5\u00a0±\u00a00");
  assert.equal(showWithin(0.5, null), "0.5"); // one seed has no deviation
});

test("numbers beside each other have as many digits as tell them apart", () => {
  assert.deepEqual(apart([0.5, 0.25]), ["0.5", "0.25"]);
  assert.deepEqual(apart([0.12341, 0.12342]), ["0.12341", "0.12342"]);
  assert.deepEqual(apart([0.3, 0.3]), ["0.3", "0.3"]); // equal ones never part
  assert.deepEqual(apart([0.5, 0.501], true), ["50%", "50.1%"]);
});

test("numbers for a formula", () => {
  assert.equal(texNumber(-0.5), "(-0.5)");
  assert.equal(texNumber(1.5e-7), "1.5\\cdot 10^{-7}");
  assert.equal(texNumber(-2e9), "(-2\\cdot 10^{9})");
  assert.equal(texNumber(12345.6), "12\\,346");
  assert.deepEqual([texNumber("inf"), texNumber("-inf")], ["\\infty", "-\\infty"]);
});

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import {
  counted,
  distinctNumbers,
  fixed,
  grouped,
  isZeroInterval,
  percent,
  read,
  show,
  showWithin,
  signed,
  signedEnds,
  texNumber,
} from "../../explorer/web/kit/number_format.js";

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

// The cases of tests/unit/runtime/test_number_format.py too: both sides write alike.
const cases = JSON.parse(readFileSync(new URL("../data/numbers.json", import.meta.url), "utf8"));
for (const [name, write] of Object.entries({ show, grouped, percent, fixed, signed })) {
  for (const [...given] of cases[name]) {
    const said = given.pop();
    test(`${name}(${given}) is ${said}`, () => assert.equal(write(...given), said));
  }
}
test("what stands beside the number of all is written like it", () => {
  const said = [112275, "inf", 1487320.4, 99999, 1234.5, 12.345, 0, null].map((one) => counted(one));
  const expected = ["112\u202f275", "∞", "1\u202f487\u202f320", "99\u202f999"];
  assert.deepEqual(said, [...expected, "1\u202f235", "12.35", "0", "—"]);
  assert.equal(counted(12.345, 3), show(12.345, 3));
});
test("what is not known is a dash", () => assert.equal(show(undefined), "—"));

test("a mean and its deviation end at the second digit of the deviation", () => {
  assert.equal(showWithin(0.81234, 0.0123), "0.812\u00a0±\u00a00.012");
  assert.equal(showWithin(-12.34, 1.5), "−12.3\u00a0±\u00a01.5");
  assert.equal(showWithin(0.5, 0), "0.5\u00a0±\u00a00");
  assert.equal(showWithin(0.5, null), "0.5"); // one seed has no deviation
});

test("figures of one kind have as many places, whatever their deviations", () => {
  const [one, other] = [
    [0.71513, 0.0053],
    [0.6517, 0.0125],
  ].map(([mean, deviation]) => showWithin(mean, deviation, 3));
  assert.deepEqual([one, other], ["0.715\u00a0±\u00a00.005", "0.652\u00a0±\u00a00.013"]);
  assert.equal(showWithin(0.5, null, 3), "0.500");
});

test("the ends of an interval differ where they do", () => {
  const wide = signedEnds({ difference: -0.0091, low: -0.032, high: 0.0138 });
  assert.deepEqual(wide, { difference: "−0.009", low: "−0.032", high: "+0.014" });
  const narrow = signedEnds({ difference: 0.0003, low: 0.00012, high: 0.00048 });
  assert.deepEqual(narrow, { difference: "+0.0003", low: "+0.0001", high: "+0.0005" });
  // Which side of 0 an end is on is what the interval says.
  const near = signedEnds({ difference: 0.0174, low: -0.0003, high: 0.0351 });
  assert.deepEqual(near, { difference: "+0.0174", low: "−0.0003", high: "+0.0351" });
  assert.equal(signedEnds({ difference: 0, low: 0, high: 0 }).low, "0.000");
});

test("numbers beside each other have as many digits as tell them apart", () => {
  assert.deepEqual(distinctNumbers([0.5, 0.25]), ["0.5", "0.25"]);
  assert.deepEqual(distinctNumbers([0.12341, 0.12342]), ["0.12341", "0.12342"]);
  assert.deepEqual(distinctNumbers([0.3, 0.3]), ["0.3", "0.3"]); // equal ones never part
  assert.deepEqual(distinctNumbers([0.5, 0.501], true), ["50%", "50.1%"]);
});

test("numbers for a formula", () => {
  assert.equal(texNumber(-0.5), "(-0.5)");
  assert.equal(texNumber(1.5e-7), "1.5\\cdot 10^{-7}");
  assert.equal(texNumber(-2e9), "(-2\\cdot 10^{9})");
  assert.equal(texNumber(12345.6), "12\\,346");
  assert.deepEqual([texNumber("inf"), texNumber("-inf")], ["\\infty", "-\\infty"]);
});

test("an interval of no width about 0 is of equal figures, and of nothing else", () => {
  assert.ok(isZeroInterval({ low: 0, high: 1e-12 }));
  assert.ok(!isZeroInterval({ low: -2e-9, high: 0 }));
  assert.ok(!isZeroInterval({ low: 0.2, high: 0.2 }));
});

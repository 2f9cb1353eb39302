import assert from "node:assert/strict";
import { test } from "node:test";
import { apart, grouped, percent, read, show, showWithin, texNumber } from "../../explorer/web/kit/numbers.js";

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

for (const [value, text] of [
  [0, "0"],
  [1, "1"],
  [-0.25, "−0.25"],
  [1234.5678, "1235"],
  [99999.4, "100000"], // four digits of a number that is not yet written with a power of ten
  [1e5, "1.00e5"],
  [-1e-5, "−1.00e−5"],
  [0.0001, "0.0001"],
  ["inf", "∞"],
  ["-inf", "−∞"],
  ["nan", "NaN"],
  [null, "—"],
  [undefined, "—"],
]) {
  test(`${value} is shown as ${text}`, () => assert.equal(show(value), text));
}

test("as many digits as are asked for", () => {
  assert.deepEqual([show(Math.PI, 2), show(Math.PI, 6), show(123456, 3)], ["3.1", "3.14159", "1.2e5"]);
});

test("a mean and its deviation end at the second digit of the deviation", () => {
  assert.equal(showWithin(0.81234, 0.0123), "0.812\u00a0±\u00a00.012");
  assert.equal(showWithin(-12.34, 1.5), "−12.3\u00a0±\u00a01.5");
  assert.equal(showWithin(0.5, 0), "0.5\u00a0±\u00a00");
  assert.equal(showWithin(0.5, null), "0.5"); // one seed has no deviation
});

test("shares in percent", () => {
  assert.deepEqual([0, 1, 0.5, 0.1234, 0.05, 0.00005, 2e-6].map(percent), [
    "0%",
    "100%",
    "50%",
    "12%",
    "5.0%",
    "0.005%",
    "0.0002%",
  ]);
});

test("numbers beside each other have as many digits as tell them apart", () => {
  assert.deepEqual(apart([0.5, 0.25]), ["0.5", "0.25"]);
  assert.deepEqual(apart([0.12341, 0.12342]), ["0.12341", "0.12342"]);
  assert.deepEqual(apart([0.3, 0.3]), ["0.3", "0.3"]); // equal ones never part
  assert.deepEqual(apart([0.5, 0.501], true), ["50%", "50.1%"]);
});

test("thousands are grouped alike in every language", () => assert.equal(grouped(1048576), "1,048,576"));

test("numbers for a formula", () => {
  assert.equal(texNumber(-0.5), "(-0.5)");
  assert.equal(texNumber(1.5e-7), "1.50\\cdot 10^{-7}");
  assert.equal(texNumber(-2e9), "(-2.00\\cdot 10^{9})");
  assert.deepEqual([texNumber("inf"), texNumber("-inf")], ["\\infty", "-\\infty"]);
});

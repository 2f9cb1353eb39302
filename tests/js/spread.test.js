// How values over many batches are counted and summed up.
import assert from "node:assert/strict";
import { test } from "node:test";

import "./page.js";

const { histogram, quantile } = await import("../../explorer/web/pages/explore/variation_over_batches.js");

test("every value is counted once, the ends among them", () => {
  const values = [0, 0.1, 0.5, 0.99, 1];
  const counts = histogram(values, 0, 1);
  assert.equal(
    counts.reduce((sum, count) => sum + count),
    values.length,
  );
  assert.equal(counts[0], 1);
  assert.equal(counts.at(-1), 2);
});

test("values that are all the same stand in one bin", () => {
  assert.equal(Math.max(...histogram([2, 2, 2], 2, 2)), 3);
});

test("a quantile is one of the values", () => {
  const ascending = Array.from({ length: 200 }, (_, i) => i);
  assert.equal(quantile(ascending, 0.05), 9);
  assert.equal(quantile(ascending, 0.95), 189);
  assert.equal(quantile([7], 0.5), 7);
});

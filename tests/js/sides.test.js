import assert from "node:assert/strict";
import { test } from "node:test";
import "./page.js";
import { labelMarks } from "../../explorer/web/pages/large/label_strips.js";

const ATTRIBUTES = { name: "pair", scores: [[], []], items: [] };
const sorted = (count) => Array.from({ length: count }, (_, i) => i / count);
const bands = (edges, levels = []) => {
  const labels = sorted(edges.length - 1);
  return { ...ATTRIBUTES, edges, labels: [labels, labels], levels };
};

test("the name of a label stands in the middle of its pairs", () => {
  const levels = [
    { label: 0, start: 0, stop: 60 },
    { label: 1, start: 60, stop: 100 },
  ];
  assert.deepEqual(labelMarks("row", bands([0, 50, 100], levels), 200), [
    { content: ["0"], at: 60 },
    { content: ["1"], at: 160 },
  ]);
});

test("of a window the places are counted from where it begins", () => {
  const marks = labelMarks("row", bands([1000, 1100], [{ label: 2, start: 1050, stop: 1100 }]), 100);
  assert.deepEqual(marks, [{ content: ["2"], at: 75 }]);
});

test("without labels of their own six bands are named, each at its middle", () => {
  const marks = labelMarks("row", bands(Array.from({ length: 13 }, (_, i) => i)), 120);
  assert.deepEqual(
    marks.map(({ at }) => at),
    [15, 35, 55, 75, 95, 115],
  );
});

test("names that would touch are left out, sooner where they stand side by side", () => {
  const levels = Array.from({ length: 10 }, (_, i) => ({ label: i, start: 10 * i, stop: 10 * i + 10 }));
  assert.equal(labelMarks("row", bands([0, 100], levels), 150).length, 10);
  assert.equal(labelMarks("column", bands([0, 100], levels), 150).length, 5);
});

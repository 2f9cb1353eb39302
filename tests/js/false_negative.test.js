// Which cells are a negative in name only.
import assert from "node:assert/strict";
import { test } from "node:test";
import { falseNegative } from "../../explorer/web/kit/false_negative.js";

// Pair 1 brings the answer of pair 0 once more; pair 2 asks what pair 0 asks; pair 3 answers pair 1.
const batch = {
  first: ["who", "why", "who ", "when"],
  second: ["Ada", " Ada", "Bo", "then"],
  sentences: ["who", "Ada", "why", "Bo", "when", "then", ""],
  planted: [{ pair: 3, kind: "hidden", other: 1 }],
};
const pairs = [0, 1, 2, 3];
const query = { name: "query", items: pairs, pairs, sentences: [0, 2, 0, 4] };
const key = { name: "key", items: pairs, pairs, sentences: [1, 1, 3, 5] };
const negative = { name: "negative", items: [0, 1], pairs: [-1, -1], sentences: [1, 6] };
const at = (row_axis, column_axis, row, column) => falseNegative(batch, { row_axis, column_axis }, row, column);

test("what a row looks for stands at another pair, or among the given negatives", () => {
  assert.equal(at(query, key, 0, 1), "wanted");
  assert.equal(at(query, key, 1, 0), "wanted");
  assert.equal(at(query, negative, 0, 0), "wanted");
  assert.equal(at(query, query, 0, 2), "own");
  assert.equal(at(key, key, 0, 1), "own");
});

test("a hidden answer is one for the query that it answers, and from its own side", () => {
  assert.equal(at(query, key, 1, 3), "hidden");
  assert.equal(at(key, query, 3, 1), "hidden");
  assert.equal(at(query, key, 3, 1), null);
  assert.equal(at(key, query, 1, 3), null);
  assert.equal(at(query, query, 1, 3), null);
});

test("views look for the other view of their pair, among all of them", () => {
  const places = [...pairs, ...pairs];
  const view = { name: "view", items: places, pairs: places, sentences: [...query.sentences, ...key.sentences] };
  assert.equal(at(view, view, 0, 5), "wanted");
  assert.equal(at(view, view, 4, 5), "own");
  assert.equal(at(view, view, 1, 7), "hidden");
  assert.equal(at(view, view, 7, 1), "hidden");
  assert.equal(at(view, view, 0, 4), null);
});

test("its own pair is none, nor is a text that nobody wrote, nor a cell in which nothing is looked for", () => {
  assert.equal(at(query, key, 0, 0), null);
  assert.equal(at(query, key, 0, 3), null);
  assert.equal(at(query, negative, 0, 1), null);
  assert.equal(at({ ...query, name: "pair" }, key, 0, 1), null);
});

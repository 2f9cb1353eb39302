// What is marked in the table of pairs, in which cell, and which row is which pair.
import assert from "node:assert/strict";
import { test } from "node:test";
import { marksOf, pairsOfRows } from "../../explorer/web/pages/explore/duplicate_error_and_teacher_tags.js";

test("a text that stands twice is marked at its own sentence, by the number of the other pair", () => {
  const same_texts = [
    { pair: 0, side: "first", other: 2, other_side: "second" },
    { pair: 0, side: "second", other: 1, other_side: "second" },
  ];
  const marks = marksOf({ same_texts, planted: [], teacher: null }, (pair) => 10 * pair);
  const key = "ui.mark.same_text";
  assert.deepEqual(marks.get(0), [
    { cell: 0, key, about: `${key}.second`, values: { pair: 20 } },
    { cell: 1, key, about: `${key}.second`, values: { pair: 10 } },
  ]);
  assert.equal(marks.get(1), undefined);
});

test("what is planted stands at the sentence or at the score that it is about", () => {
  const planted = [
    { pair: 3, kind: "hidden", other: 0 },
    { pair: 3, kind: "mislabelled", other: null },
  ];
  assert.deepEqual(marksOf({ same_texts: [], planted, teacher: null }, (pair) => pair + 1).get(3), [
    { cell: 1, key: "ui.mark.hidden", about: "ui.mark.hidden.about", values: { pair: 1 } },
    { cell: 2, key: "ui.mark.mislabelled", about: "ui.mark.mislabelled.about", values: {} },
  ]);
});

test("what a teacher gave stands below the score, and nothing where it said nothing", () => {
  const marks = marksOf({ same_texts: [], planted: [], teacher: [0.87654, null] }, (pair) => pair);
  const key = "ui.mark.teacher";
  assert.deepEqual(marks.get(0), [{ cell: 2, key, about: `${key}.about`, values: { score: "0.877" } }]);
  assert.equal(marks.get(1), undefined);
});

test("rows that cannot be used are no pairs, and those that were left out are none any more", () => {
  const used = [true, false, true, true, true];
  assert.deepEqual(pairsOfRows(used, null), [0, undefined, 1, 2, 3]);
  // Of the pairs in the first, third, fourth and fifth row the second one was left out.
  assert.deepEqual(pairsOfRows(used, [0, 2, 3]), [0, undefined, undefined, 1, 2]);
});

// A loss by any of its names.
import assert from "node:assert/strict";
import test from "node:test";
import "./page.js";
import { called, plain } from "../../explorer/web/kit/finder.js";

/** @type {[string, string, string][]} */
const NAMES = [
  ["MultipleNegativesRankingLoss", "info_nce", ""],
  ["MNRL", "info_nce", ""],
  ["BatchAllTripletLoss", "triplet", "BatchAll"],
  ["RankNet", "pairwise_logistic", ""],
];
/** @type {[string, string][]} */
const TITLES = [
  ["info_nce", "InfoNCE"],
  ["triplet", "Triplet"],
  ["pairwise_logistic", "Pairwise logistic"],
];
/** @param {string} name */
const found = (name) => called(name, NAMES, TITLES).meant;

test("a name is read as Python reads it", () => {
  const names = ["CachedMultipleNegativesRankingLoss", "NT-Xent", "losses.CoSENTLoss", "Loss", " a.b c "];
  assert.deepEqual(names.map(plain), ["multiplenegativesranking", "ntxent", "cosent", "loss", "abc"]);
});

test("its own name, its title, another name, a class with or without Loss and Cached", () => {
  for (const name of ["info_nce", "infonce", "InfoNCE", "mnrl", "losses.CachedMultipleNegativesRankingLoss"])
    assert.deepEqual(found(name), { loss: "info_nce", convention: "" }, name);
  assert.deepEqual(found("Ranknet"), { loss: "pairwise_logistic", convention: "" });
  assert.deepEqual(found("batch-all triplet"), { loss: "triplet", convention: "BatchAll" });
});

test("a part of a name is answered with the names that have it", () => {
  assert.deepEqual(called("triplet loss of", NAMES, TITLES), { meant: null, near: [] });
  assert.deepEqual(called("rank", NAMES, TITLES), { meant: null, near: ["MultipleNegativesRankingLoss", "RankNet"] });
  assert.deepEqual(called(" … ", NAMES, TITLES), { meant: null, near: [] });
  assert.deepEqual(called("对比", NAMES, [["cosent", "余弦"]]), { meant: null, near: [] });
  assert.deepEqual(called("余弦", NAMES, [["cosent", "余弦"]]).meant, { loss: "cosent", convention: "" });
});

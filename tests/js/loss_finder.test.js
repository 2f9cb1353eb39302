// A loss by any of its names.
import assert from "node:assert/strict";
import test from "node:test";
import "./page.js";
import { called, plain, registered } from "../../explorer/web/kit/loss_name_search.js";

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
/** @type {Parameters<typeof called>[3]} */
const RELATED = [
  { names: ["DenoisingAutoEncoderLoss", "TSDAE"], loss: "info_nce", key: "problem.related_decoder", shared: false },
  { names: ["RankNet"], loss: "triplet", key: "problem.related_classifier", shared: true },
];
/** @param {string} name */
const found = (name) => called(name, NAMES, TITLES, RELATED).meant;

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
  const none = { meant: null, near: [], related: null };
  assert.deepEqual(called("triplet loss of", NAMES, TITLES, RELATED), none);
  assert.deepEqual(called("rank", NAMES, TITLES, RELATED), {
    ...none,
    near: ["MultipleNegativesRankingLoss", "RankNet"],
  });
  assert.deepEqual(called("denois", NAMES, TITLES, RELATED), { ...none, near: ["DenoisingAutoEncoderLoss"] });
  assert.deepEqual(called(" … ", NAMES, TITLES, RELATED), none);
  assert.deepEqual(called("对比", NAMES, [["cosent", "余弦"]], RELATED), none);
  assert.deepEqual(called("余弦", NAMES, [["cosent", "余弦"]], RELATED).meant, { loss: "cosent", convention: "" });
});

test("a class that is no loss here, alone or beside a loss of that name", () => {
  for (const name of ["DenoisingAutoEncoderLoss", "losses.DenoisingAutoEncoderLoss", "tsdae"])
    assert.deepEqual(called(name, NAMES, TITLES, RELATED), { meant: null, near: [], related: RELATED[0] }, name);
  const both = called("RankNet", NAMES, TITLES, RELATED);
  assert.deepEqual(both, { meant: { loss: "pairwise_logistic", convention: "" }, near: [], related: RELATED[1] });
  assert.equal(called("info_nce", NAMES, TITLES, RELATED).related, null);
});

test("a name in an address is the loss that the page lists", async () => {
  const { pageData } = await import("../../explorer/web/kit/page_data.js");
  Object.assign(pageData, {
    names: NAMES,
    related_classes: RELATED,
    losses: Object.fromEntries(TITLES.map(([loss, title]) => [loss, { title }])),
  });
  const names = ["info_nce", "losses.CachedMultipleNegativesRankingLoss", "batch-all triplet", "nothing of it"];
  assert.deepEqual(names.map(registered), ["info_nce", "info_nce", "triplet", "nothing of it"]);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import "./page.js";
import { use } from "../../explorer/web/kit/translated_sentences.js";
import { noticedWords } from "../../explorer/web/pages/compare/vary/batch_change_summary.js";
import { fallingWords } from "../../explorer/web/pages/compare/vary/collapse_summary.js";
import { agreementWords, opposedWords } from "../../explorer/web/pages/explore/analysis_of_combined_loss_parts.js";
import { verdictOf } from "../../explorer/web/pages/explore/sweep_verdict.js";
import { concentration } from "../../explorer/web/pages/large/block_map_captions.js";

// Which of several sentences is said, of what is drawn so that one of them is true.

const DRAWS = 200;
let state = 1;
const draw = () => {
  state = (state * 48271) % 2147483647;
  return state / 2147483647;
};
const draws = () => Array.from({ length: DRAWS }, draw);

test("two rules agree where a range of the band holds what the other advises, and nowhere else", () => {
  use("en", {
    "sweep.range": "{low}–{high}",
    "sweep.never": "never",
    "sweep.within": "within {ranges}",
    "sweep.agree": "agree {low}–{high}",
    "sweep.contradict": "contradict",
  });
  assert.equal(verdictOf("λ", [1, 2], []), "never");
  assert.equal(verdictOf("λ", null, [[1, 2], [4, 8]]), "within 1–2, 4–8"); // biome-ignore format: two ranges
  for (const low of draws()) {
    const [advised, within] = [
      [low, low + draw()],
      [draw(), 0],
    ];
    within[1] = within[0] + draw();
    const meet = advised[0] <= within[1] && within[0] <= advised[1];
    const said = verdictOf("λ", advised, [within]);
    assert.equal(said.split(" ")[0], meet ? "agree" : "contradict");
  }
});

test("of each loss it is said whether it falls on its way to one point, is least on it, or neither", () => {
  use("en", {
    "compare.vary.falls": "{letters} fall",
    "compare.vary.dips": "{letter} dips",
    "compare.vary.none_falls": "none",
  });
  const way = (falls, lowest) => ({ falls, lowest, start: 2, reached: falls ? 1 : 3, least: 1 });
  const texts = (...ways) => {
    const { falling, others } = fallingWords(ways);
    return [...falling, ...others];
  };
  assert.deepEqual(texts(), []);
  assert.deepEqual(texts(null), []);
  assert.deepEqual(texts(way(false, 0), null), ["none"]);
  assert.deepEqual(texts(way(false, 0.4), way(true, 1), way(false, 0), way(true, 0.3)), ["B, D fall", "A dips"]);
});

test("each loss that has a value after a change either notices it or does not", () => {
  use("en", { "compare.vary.noticing": "{letters} do.", "compare.vary.not_noticing": "{letters} do not." });
  assert.equal(noticedWords([true, false, null, true]), "A, D do. B do not.");
  assert.equal(noticedWords([false, null]), "A do not.");
  assert.equal(noticedWords([null]), "");
});

test("two parts agree by a cosine, unless one of them has no gradient, and pull against each other or do not", () => {
  use("en", {
    "ui.parts.cosine": "{value}",
    "ui.parts.no_cosine": "no cosine",
    "ui.parts.cosines": "a table",
    "ui.parts.opposed": "{count} of {all}, {share}",
    "ui.parts.none_opposed": "none",
  });
  const parts = [{ name: "a" }, { name: "b" }];
  const cosines = (value) => [
    [1, value],
    [value, 1],
  ];
  assert.equal(agreementWords(parts, cosines(-0.25)), "−0.25");
  assert.equal(agreementWords(parts, cosines(null)), "no cosine");
  assert.equal(agreementWords([...parts, { name: "c" }], []), "a table");
  assert.equal(agreementWords([parts[0]], []), "");
  assert.equal(opposedWords(3, 8, 0.25), "3 of 8, 25%");
  assert.equal(opposedWords(0, 8, 0), "none");
});

test("where the weight is, is said of all blocks or of those in view, and not of too few", () => {
  use("en", { "large.concentrated": "{part} in view", "large.concentrated_all": "{part}" });
  const shown = { single: false, concentrated: { share: 0.9, part: 0.1 } };
  assert.equal(concentration(shown, true), "10% in view");
  assert.equal(concentration(shown, false), "10%");
  assert.equal(concentration({ ...shown, single: true }, false), "");
  assert.equal(concentration({ ...shown, concentrated: null }, false), "");
});

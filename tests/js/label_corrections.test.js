import assert from "node:assert/strict";
import { test } from "node:test";
import "./page.js";
import { expectedWords, whyNone } from "../../explorer/web/kit/label_corrections.js";
import { use } from "../../explorer/web/kit/translated_sentences.js";

test("fewer suspects than clean data would list are no good sign", () => {
  use("en", { "ui.suspects_expected": "{count}: {expected} ({low} to {high}).", "ui.suspects_fewer": "Fewer." });
  const usual = { expected: 174.25, low: 142, high: 2000 };
  assert.equal(expectedWords(96, usual), "96: 174 (142 to 2\u202f000). Fewer.");
  assert.equal(expectedWords(142, usual), "142: 174 (142 to 2\u202f000).");
});

test("an empty list says why it is empty", () => {
  assert.equal(whyNone({ ordered: 0, violated: 0 }, "ui.no_suspects"), "ui.suspects_equal");
  assert.equal(whyNone({ ordered: 10, violated: 6 }, "ui.no_suspects"), "ui.suspects_against");
  assert.equal(whyNone({ ordered: 10, violated: 5 }, "ui.no_suspects"), "ui.no_suspects");
  assert.equal(whyNone({ ordered: 10, violated: 0 }, "large.no_suspects"), "large.no_suspects");
});

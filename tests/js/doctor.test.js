import "./page.js";
import assert from "node:assert/strict";
import { test } from "node:test";
import { show } from "../../explorer/web/kit/preact_view.js";
import { sentences, use } from "../../explorer/web/kit/translated_sentences.js";
import { Card, Fault } from "../../explorer/web/pages/doctor/finding_card.js";

const root = () => document.createElement("div");

test("a text is taken apart into its sentences, in both languages", () => {
  use("en", {});
  const text = "The loss ended at 3.467, as MNRL of sentence-transformers 6.2 does (3.466). It may be 0.5. Why?";
  assert.deepEqual(sentences(text), [
    "The loss ended at 3.467, as MNRL of sentence-transformers 6.2 does (3.466).",
    "It may be 0.5.",
    "Why?",
  ]);
  use("zh", {});
  assert.deepEqual(sentences("损失最终为 3.467。仅凭这个值无法区分。"), ["损失最终为 3.467。", "仅凭这个值无法区分。"]);
  assert.deepEqual(sentences(""), []);
});

test("a card shows its verdict, and folds what else is to be known", () => {
  use("en", { "ui.details": "Details" });
  const at = root();
  show(at, Card, {
    text: "It collapsed. By the loss alone that is not sure.",
    more: ["With twice the batch it would be 4."],
  });
  assert.equal(at.querySelector(".lp-finding-sentence").textContent, "It collapsed.");
  const notes = at.querySelector("details");
  assert.equal(notes.hasAttribute("open"), false);
  assert.deepEqual(
    Array.from(notes.querySelectorAll("li"), (line) => line.textContent),
    ["By the loss alone that is not sure.", "With twice the batch it would be 4."],
  );
  show(at, Card, { text: "It collapsed." });
  assert.equal(at.querySelector("details"), null);
});

test("a fault says how bad it is, what to do and what to paste", () => {
  use("en", { "doctor.severity.severe": "severe", "ui.copy": "Copy" });
  const at = root();
  const finding = { name: "copies", severity: "severe", said: "3 rows repeat.", advice: ["Leave them out.", "x = 1"] };
  show(at, Fault, { finding });
  assert.equal(at.querySelector("li").dataset.finding, "copies");
  assert.equal(at.querySelector(".lp-severity-severe").textContent, "severe");
  assert.equal(at.querySelector(".lp-finding-do").textContent, "Leave them out.");
  assert.equal(at.querySelector("code").textContent, "x = 1");
});

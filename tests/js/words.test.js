import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { beforeEach, test } from "node:test";
import { pageData } from "../../explorer/web/kit/page_data.js";
import {
  has,
  language,
  onLanguage,
  say,
  speak,
  startLanguage,
  titleOf,
  use,
} from "../../explorer/web/kit/translated_sentences.js";

beforeEach(() => {
  Object.assign(pageData, { counts: ["count"], losses: { mine: { title: "My own" } } });
  use("en", {
    "ui.between": ", ",
    plain: "A sentence.",
    named: "Hello {name}.",
    rows: "{count} {count:row|rows}",
    unfilled: "{name} of {other}",
    "loss.cosent.title": "CoSENT",
  });
});

test("a sentence with its values", () => {
  assert.equal(say("plain"), "A sentence.");
  assert.equal(say("named", { name: "Ada" }), "Hello Ada.");
  assert.equal(say("unfilled", { name: "One" }), "One of {other}");
});

test("a key that is a name of every object is a key like any other", () => {
  for (const key of ["constructor", "__proto__", "toString"]) {
    assert.equal(has(key), false);
    assert.equal(say(key), key);
    assert.equal(say("named", { name: { key, otherwise: "other" } }), "Hello other.");
    assert.equal(say(`{${key}}`), `{${key}}`);
  }
  assert.equal(say(/** @type {any} */ (7)), "7");
});

test("a finger is told other words than a pointer", () => {
  use("en", { "a.hint": "Point at it.", "a.hint.touch": "Tap it.", plain: "A sentence." });
  const asked = new Set();
  for (const [matches, said] of [
    [true, "Point at it."],
    [false, "Tap it."],
  ]) {
    globalThis.matchMedia = (query) => asked.add(query) && { matches };
    assert.deepEqual([say("a.hint"), say("plain")], [said, "A sentence."]);
  }
  assert.deepEqual([...asked], ["(hover: hover) and (pointer: fine)"]);
});

test("one is one, all else is many, and counts are grouped", () => {
  assert.deepEqual(
    [1, 0, 2, 12345, "1"].map((count) => say("rows", { count })),
    ["1 row", "0 rows", "2 rows", "12\u202f345 rows", "1 row"],
  );
});

test("what is no count stays as it is", () => assert.equal(say("named", { name: 12345 }), "Hello 12345."));

test("a value may have words of its own, or be several", () => {
  const known = { key: "loss.cosent.title", otherwise: "?" };
  const unknown = { key: "loss.mine.title", otherwise: "My own" };
  assert.equal(say("named", { name: known }), "Hello CoSENT.");
  assert.equal(say("named", { name: [known, unknown] }), "Hello CoSENT, My own.");
});

test("a key without a sentence is said itself", () => {
  assert.equal(say("no.such"), "no.such");
  assert.deepEqual([has("plain"), has("no.such")], [true, false]);
});

test("what a loss is called: by the catalogue, by its own title, by the name it is known by", () => {
  assert.deepEqual(["cosent", "mine", "gone"].map(titleOf), ["CoSENT", "My own", "gone"]);
});

test("a language is remembered from its choice on, before its catalogue has come", async () => {
  const kept = /** @type {Record<string, string>} */ ({});
  globalThis.localStorage = /** @type {any} */ ({
    setItem: (/** @type {string} */ k, /** @type {string} */ v) => (kept[k] = v),
  });
  /** @type {(answer: any) => void} */
  let arrive = () => {};
  globalThis.fetch = () => new Promise((resolve) => (arrive = resolve));
  globalThis.document = /** @type {any} */ ({ documentElement: {} });
  const spoken = speak("zh");
  assert.deepEqual([kept["lossprism.language"], language()], ["zh", "en"]);
  arrive({ ok: true, json: async () => ({ plain: "一句话。" }) });
  assert.equal(await spoken, true);
  assert.deepEqual([language(), say("plain")], ["zh", "一句话。"]);
});

test("both catalogues can be spoken with", () => {
  use("zh", { plain: "一句话。" });
  assert.deepEqual([language(), say("plain")], ["zh", "一句话。"]);
});

test("an English sentence with a plural says so for both", () => {
  const folder = new URL("../../explorer/locale/en/", import.meta.url);
  use("en", JSON.parse(readFileSync(new URL("ui.json", folder), "utf8")));
  assert.notEqual(say("ui.all_rows", { count: 1 }), say("ui.all_rows", { count: 2 }));
});

test("words of another page come with the first of them that is said, in each language once", async () => {
  const files = /** @type {Record<string, object>} */ ({
    "en/shared": { "ui.a": "A" },
    "en/explore": {},
    "en/doctor": { "doctor.b": "B" },
    "zh/shared": { "ui.a": "甲" },
    "zh/explore": {},
    "zh/doctor": { "doctor.b": "乙" },
  });
  const asked = /** @type {string[]} */ ([]);
  globalThis.fetch = /** @type {any} */ (
    async (/** @type {URL} */ url) => {
      const name = url.pathname.split("/words/")[1].replace(".json", "");
      asked.push(name);
      return { ok: true, json: async () => files[name] };
    }
  );
  globalThis.document = /** @type {any} */ ({
    body: { dataset: { words: "doctor explore" } },
    documentElement: { lang: "en" },
  });
  await startLanguage("explore");
  assert.deepEqual(asked.splice(0), ["en/shared", "en/explore"]);
  let redrawn = 0;
  onLanguage(() => (redrawn += 1));
  assert.deepEqual(
    [say("ui.a"), say("doctor.b"), say("doctor.b"), say("other.c")],
    ["A", "doctor.b", "doctor.b", "other.c"],
  );
  await new Promise((done) => setTimeout(done));
  assert.deepEqual([asked.splice(0), redrawn, say("doctor.b")], [["en/doctor"], 1, "B"]);
  await speak("zh");
  assert.deepEqual(
    [asked.splice(0), say("doctor.b"), say("ui.a")],
    [["zh/shared", "zh/explore", "zh/doctor"], "乙", "甲"],
  );
  await speak("en");
  assert.deepEqual([asked, say("doctor.b")], [[], "B"]);
});

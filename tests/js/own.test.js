import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { mock, test } from "node:test";
import { happen } from "./page.js";

const words = JSON.parse(readFileSync(new URL("../../explorer/locale/en/ui.json", import.meta.url), "utf8"));
const problems = JSON.parse(readFileSync(new URL("../../explorer/locale/en/problem.json", import.meta.url), "utf8"));
const { pageData } = await import("../../explorer/web/kit/page_data.js");
const { use } = await import("../../explorer/web/kit/translated_sentences.js");
const { default: own } = await import("../../explorer/web/pages/explore/own_loss.js");

const settled = () => new Promise((done) => setImmediate(done));

/** The instrument before a server whose file is `disk`. */
async function opened(editable = true) {
  mock.timers.reset();
  mock.timers.enable({ apis: ["setInterval"] });
  use("en", { ...words, ...problems });
  Object.assign(pageData, { explore: { own: ["mine"], editable }, losses: { mine: { slope: 1 } } });
  document.execCommand = () => false;
  const disk = { digest: "a", text: "one\ntwo", loss: { slope: 1 }, line: 0 };
  const server = {
    own: async () => ({
      own: { file: "mine.py", digest: disk.digest, read_at: 0, loss: disk.loss },
      problem: disk.line ? { key: "problem.own_loss_raised", values: { line: disk.line } } : null,
    }),
    own_text: async () => ({ text: disk.text, digest: disk.digest }),
    own_write: async ({ text, digest }) => {
      if (digest !== disk.digest) return { error: { key: "problem.own_loss_changed", values: { name: "mine.py" } } };
      Object.assign(disk, { text, digest: `${digest}+` });
      return { digest: disk.digest };
    },
  };
  const heard = {};
  const told = { asked: 0, published: [] };
  const page = {
    scenario: { loss: "mine" },
    on: (topic, listener) => {
      heard[topic] = listener;
    },
    publish: (topic) => told.published.push(topic),
    ask: () => {
      told.asked += 1;
    },
  };
  const root = document.createElement("div");
  Object.assign(document.createElement("textarea").constructor.prototype, { select() {}, focus() {} });
  own(root, page, server);
  heard.scenario();
  await settled();
  const later = async () => {
    Object.defineProperty(document, "visibilityState", { value: "visible", configurable: true });
    mock.timers.tick(2000);
    await settled();
    await settled();
  };
  return { root, disk, told, later, page, heard };
}

test("a file that changed is said, its parameters are taken, and the picture asked for", async () => {
  const { root, disk, told, later } = await opened();
  await later();
  assert.equal(told.asked, 0);
  Object.assign(disk, { digest: "b", loss: { slope: 2 } });
  await later();
  assert.equal(told.asked, 1);
  assert.deepEqual([told.published, pageData.losses.mine], [["scenario"], { slope: 2 }]);
  assert.match(root.querySelector("p").textContent, /^mine\.py changed and was read again at \d/);
  await later();
  assert.equal(told.asked, 1);
});

test("nothing is asked while another loss is chosen", async () => {
  const { disk, told, later, page, heard, root } = await opened();
  page.scenario = { loss: "cosent" };
  heard.scenario();
  disk.digest = "b";
  await later();
  assert.deepEqual([told.asked, root.style.display], [0, "none"]);
});

test("there is no editor where the page may not edit", async () => {
  const { root } = await opened(false);
  assert.equal(root.querySelector("textarea"), null);
});

test("what is typed is kept where the file changed meanwhile, and the line of a fault is marked", async () => {
  const { root, disk, later } = await opened();
  const [text, save, again] = [root.querySelector("textarea"), ...root.querySelectorAll("button")];
  happen(again, "click");
  await settled();
  assert.equal(text.value, "one\ntwo");
  text.value = "one\nmine";
  happen(text, "input");
  Object.assign(disk, { digest: "b", text: "theirs", line: 2 });
  await later();
  assert.equal(text.value, "one\nmine");
  assert.equal(root.querySelector(".lp-wrong").textContent, "2\n");
  happen(save, "click");
  await settled();
  assert.match(root.querySelector(".lp-fault").textContent, /changed on disk/);
  assert.deepEqual([text.value, disk.text], ["one\nmine", "theirs"]);
  happen(again, "click");
  await settled();
  assert.equal(text.value, "theirs");
  text.value = "theirs and mine";
  happen(text, "input");
  happen(text, "keydown", { key: "s", ctrlKey: true });
  await settled();
  assert.equal(disk.text, "theirs and mine");
});

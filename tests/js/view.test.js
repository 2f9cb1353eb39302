import "./page.js";
import assert from "node:assert/strict";
import { test } from "node:test";
import { BatchPage } from "../../explorer/web/kit/batch_page_base.js";
import { PageEvents } from "../../explorer/web/kit/page_topics_notices_and_jobs.js";
import { group, h, hosted, show } from "../../explorer/web/kit/preact_view.js";
import progress from "../../explorer/web/kit/progress.js";
import { say, use } from "../../explorer/web/kit/translated_sentences.js";
import { signal } from "../../explorer/web/kit/vendor/preact/signals.js";
import { happen } from "./page.js";

const drawn = () => new Promise((done) => setTimeout(done, 20));
const root = () => document.createElement("div");

test("a tag with classes, properties and children; what is null is left out", () => {
  const at = root();
  show(at, () => h("a.lp-button.lp-quiet", { class: "lp-own", href: "x" }, "one", null, [h("b", "<i>")]), {});
  assert.equal(at.innerHTML, '<a href="x" class="lp-button lp-quiet lp-own">one<b>&lt;i&gt;</b></a>');
  show(at, () => group(h(".lp-row"), "text"), {});
  assert.equal(at.innerHTML, '<div class="lp-row"></div>text');
});

test("properties may be left out: text, an element, a list and null are children in their place", () => {
  const at = root();
  const Part = (/** @type {{ children?: any }} */ { children }) => h("i", children);
  show(at, () => group(h("p", null, "a"), h("p", h("b"), 2), h("p", ["c", "d"]), h(Part, {}, "e"), h(Part)), {});
  assert.equal(at.innerHTML, "<p>a</p><p><b></b>2</p><p>cd</p><i>e</i><i></i>");
});

test("an element stays where one before it comes and goes", async () => {
  const isLong = signal(false);
  const at = root();
  show(at, () => h("div", isLong.value ? h("b", "first") : null, h("b", "second")), {});
  const second = at.querySelector("b");
  isLong.value = true;
  await drawn();
  assert.deepEqual([at.textContent, at.querySelectorAll("b")[1] === second], ["firstsecond", true]);
});

test("a component is drawn again when a signal that it read changes, and only then", async () => {
  const [shown, other] = [signal(1), signal(1)];
  const at = root();
  let drawings = 0;
  const Counter = () => {
    drawings += 1;
    return h("b", shown.value);
  };
  show(at, Counter, {});
  shown.value = 2;
  await drawn();
  assert.deepEqual([at.textContent, drawings], ["2", 2]);
  other.value = 2;
  await drawn();
  assert.equal(drawings, 2);
});

test("a component that says a word is drawn again in another language", async () => {
  const at = root();
  use("en", { hello: "Hello" });
  show(at, () => h("b", say("hello")), {});
  use("zh", { hello: "你好" });
  await drawn();
  assert.equal(at.textContent, "你好");
});

test("a component that observes a topic of its page is drawn again whenever it is published", async () => {
  const page = new PageEvents();
  const at = root();
  const Problem = () => {
    page.observe("problem");
    return h("b", page.problem?.key ?? "none");
  };
  show(at, Problem, {});
  assert.equal(at.textContent, "none");
  page.fail({ key: "wrong", values: {} });
  await drawn();
  assert.equal(at.textContent, "wrong");
});

test("a component that says a word is drawn again with the one that it stands in", async () => {
  use("en", { count: "Count: {count}" });
  const [at, page, turns] = [root(), { count: 1 }, signal(0)];
  const Inner = ({ state }) => h("b", say("count", { count: state.count }));
  const Outer = () => h("div", { "data-turn": turns.value }, h(Inner, { state: page }));
  show(at, Outer, {});
  page.count = 2;
  turns.value += 1;
  await drawn();
  assert.equal(at.textContent, "Count: 2");
});

test("an instrument is made once and updated with each drawing", async () => {
  const [value, at] = [signal(1), root()];
  let made = 0;
  const make = (element) => {
    made += 1;
    return element;
  };
  const View = () => {
    const now = value.value;
    return hosted({
      kind: "figure",
      make,
      update: (element) => {
        element.textContent = now;
      },
    });
  };
  show(at, View, {});
  assert.equal(at.innerHTML, "<figure>1</figure>");
  value.value = 2;
  await drawn();
  assert.equal(at.innerHTML, "<figure>2</figure>");
  assert.equal(made, 1);
});

test("the progress of a job has a button that cancels it", async () => {
  use("en", { "ui.working": "Working…", "ui.cancel": "Cancel", "progress.encode": "{done} of {total}" });
  const [page, at] = [new PageEvents(), root()];
  progress(at, page);
  assert.equal(at.innerHTML, "");
  page.setBusy(at, true);
  await drawn();
  assert.equal(at.textContent, "Working…");
  page.setProgress({ what: "encode", done: 1, total: 4, values: {} });
  await drawn();
  assert.equal(at.querySelector("progress").getAttribute("aria-label"), "1 of 4");
  happen(at.querySelector("button"), "click");
  page.setBusy(at, false);
  await drawn();
  assert.equal(at.innerHTML, "");
});

test("work is shown as under way where no answer comes for a while, not while answers keep coming", (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const [page, requests] = [new BatchPage([], []), { flying: 0, taken: 0 }];
  /** @type {(now: { flying: number, taken: number }) => void} */
  const tell = (now) => page.showBusy(Object.assign(requests, now));
  const busy = [];
  for (let taken = 0; taken < 5; taken += 1) {
    tell({ flying: 2, taken });
    context.mock.timers.tick(200);
    busy.push(page.busy);
  }
  assert.deepEqual(busy, Array(5).fill(false));
  context.mock.timers.tick(100);
  assert.equal(page.busy, true);
  tell({ flying: 1, taken: 5 });
  assert.equal(page.busy, false);
  context.mock.timers.tick(300);
  assert.equal(page.busy, true);
  tell({ flying: 0, taken: 5 });
  assert.equal(page.busy, false);
});

test("a page is busy until the last of its works has ended", () => {
  const page = new BatchPage([], []);
  const told = [];
  page.on("busy", () => told.push(page.busy));
  const [file, requests] = [{}, { flying: 1, taken: 0 }];
  page.setBusy(file, true);
  page.showBusy(requests);
  page.showBusy(Object.assign(requests, { flying: 0, taken: 1 })); // an answer while the file is read
  assert.equal(page.busy, true);
  page.setBusy(file, false);
  page.setBusy(file, false);
  assert.deepEqual(told, [true, false]);
});

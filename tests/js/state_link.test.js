// A state as the text of an address: addresses of before still open, and what is written is read.
import assert from "node:assert/strict";
import test from "node:test";
import { packed, read, unpacked, written } from "../../explorer/web/kit/state_link.js";
import { Store } from "../../explorer/web/kit/state_store.js";

const LARGE = [
  { name: "loss", default: "cosent", kind: "choice", link: "loss" },
  { name: "parameters", default: {}, kind: "parameters", link: "p" },
  { name: "source.kind", default: "random", kind: "choice", link: "source" },
  { name: "source.random.pairs", default: 100000, kind: "whole", link: "pairs", when: ["source.kind", "random"] },
  { name: "source.random.labels", default: "graded", kind: "choice", link: "labels", when: ["source.kind", "random"] },
  { name: "source.file", default: "", kind: "text", link: "file", when: ["source.kind", "file"] },
  { name: "source.columns", default: {}, kind: "map", link: "c", when: ["source.kind", "file"] },
  { name: "source.header", default: null, kind: "switch", link: "header", when: ["source.kind", "file"] },
  { name: "source.encoder", default: "small", kind: "text", link: "encoder", when: ["source.kind", "file"] },
  { name: "source.link", default: "", kind: "text", link: "link", when: ["source.kind", "explore"] },
  { name: "rules.threshold", default: null, kind: "number", link: "threshold" },
  { name: "rules.label_range", default: null, kind: "list", link: "label_range" },
  { name: "window", default: null, kind: "list", link: "window" },
  { name: "cell", default: null, kind: "list", link: "cell", affects: "nothing" },
];
const KINDS = { scale: "number", symmetric: "switch", mining: "choice", weights: "list" };
const parameters = () => ({
  ...Object.fromEntries(Object.entries(KINDS).map(([name, kind]) => [name, { kind, former_off: null }])),
  mask_above: { kind: "number", former_off: 1000 },
});
const opened = (text) => {
  const store = new Store(LARGE);
  store.reset(read(store.table, text, parameters));
  return store;
};

test("what is as usual is left out, but for what is always said", () => {
  const store = new Store(LARGE);
  assert.equal(written(store), "");
  assert.equal(written(store, ["loss"]), "loss=cosent");
});

test("what is typed, and the name of a file, travel without secrets", () => {
  const entries = ["value", "name", "logname", "besidename"].map((link) => ({
    name: link,
    default: "",
    kind: "text",
    link,
  }));
  const store = new Store(entries);
  store.reset(Object.fromEntries(entries.map(({ name }) => [name, `0.5 of alice@gpu in /home/alice/${name}`])));
  const text = new URLSearchParams(written(store)).toString();
  assert(!/alice|home/.test(text), text);
  assert.equal([...new URLSearchParams(text)].length, entries.length);
});

test("addresses of before are read", () => {
  const { state } = opened(
    "loss=info_nce&p.scale=20.5&p.symmetric=true&p.mining=hard&pairs=400&window=0-256-0-10&cell=3-4",
  );
  assert.equal(state.loss, "info_nce");
  assert.deepEqual(state.parameters, { scale: 20.5, symmetric: true, mining: "hard" });
  assert.equal(state.source.random.pairs, 400);
  assert.deepEqual(
    [state.window, state.cell],
    [
      [0, 256, 0, 10],
      [3, 4],
    ],
  );
  assert.deepEqual(opened("loss=a&p.weights=1_-0.5_2e-7").state.parameters.weights, [1, -0.5, 2e-7]);
  const file = opened(
    "loss=cosent&source=file&file=ab12&name=a%26b.csv&encoder=x%2Fy&c.first=left+one&header=false",
  ).state;
  assert.deepEqual(file.source.columns, { first: "left one" });
  assert.deepEqual([file.source.header, file.source.encoder, file.source.file], [false, "x/y", "ab12"]);
  assert.equal(opened("loss=cosent&source=explore&link=1.eJyr").state.source.link, "1.eJyr");
});

test("a parameter that is off is written as off, and read so from addresses with its former number", () => {
  const store = new Store(LARGE);
  store.update({ parameters: { mask_above: null } });
  assert.equal(written(store), "p.mask_above=off");
  for (const text of ["off", "1000", "1e3"])
    assert.deepEqual(opened(`p.mask_above=${text}`).state.parameters, { mask_above: null });
  assert.deepEqual(opened("p.mask_above=100&p.scale=1000&p.mining=off").state.parameters, {
    mask_above: 100,
    scale: 1000,
    mining: "off",
  });
});

test("the ends of a scale may lie below 0", () => {
  for (const ends of [[-1, 1], [1, 5], [-2.5, -0.5], null]) {
    const store = new Store(LARGE);
    store.update({ rules: { label_range: ends, threshold: -0.5 }, window: [0, 256, 0, 10] });
    const { state } = opened(written(store));
    assert.deepEqual([state.rules.label_range, state.rules.threshold], [ends, -0.5]);
    assert.deepEqual(state.window, [0, 256, 0, 10]);
  }
});

test("what is written is read as it was", () => {
  const patch = {
    loss: "circle",
    parameters: { scale: 1e-6, symmetric: false, weights: [1, -0.5, 2e-7] },
    source: { kind: "file", file: "ab", columns: { "first & second": "列=1" }, header: true, encoder: "a b" },
    window: [0, 5, 2, 9],
  };
  const store = new Store(LARGE);
  store.update(patch);
  assert.deepEqual(opened(written(store)).state, store.state);
});

test("what does not count is not written", () => {
  const store = new Store(LARGE);
  store.update({ source: { kind: "explore", link: "1.x", file: "ab", random: { pairs: 3 } } });
  assert.equal(written(store), "source=explore&link=1.x");
});

test("an address that is names alone", () => {
  const table = [
    { name: "plan.loss", default: "cosent", kind: "text" },
    { name: "shown", default: [], kind: "list", link: "" },
  ];
  const store = new Store(table);
  assert.equal(written(store), "");
  store.update({ plan: { loss: "circle" }, shown: ["run-1", "run-2"] });
  assert.equal(written(store), "run-1,run-2");
  assert.deepEqual(read(store.table, "run-1,run%202,"), { shown: ["run-1", "run 2"] });
  assert.deepEqual(read(store.table, ""), { shown: [] });
});

test("a text comes back as it was, shorter than an address would write it", async () => {
  const rows = Array.from({ length: 40 }, (_, i) => `how tall is it\t${i} 米 🙂\t${i % 5}`).join("\n");
  for (const text of ["", "a", rows]) {
    const short = await packed(text);
    assert.match(short, /^[A-Za-z0-9_-]*$/);
    assert.equal(await unpacked(short, 10_000), text);
  }
  assert.ok((await packed(rows)).length < encodeURIComponent(rows).length / 4);
});

test("what is damaged or too large is no text", async () => {
  const short = await packed("x".repeat(5000));
  assert.equal(await unpacked(short, 4999), null);
  assert.equal(await unpacked("!!", 100), null);
  assert.equal(await unpacked(short.slice(0, -4), 10_000), null);
});

// The state of a page, kept by its table.
import assert from "node:assert/strict";
import test from "node:test";
import { fits, Store } from "../../explorer/web/kit/state_store.js";

const TABLE = [
  { name: "loss", default: "cosent", kind: "choice", history: true },
  { name: "parameters", default: {}, kind: "parameters" },
  { name: "data.source", default: "example", kind: "choice", history: true },
  { name: "data.example", default: "english", kind: "text", history: true, when: ["data.source", "example"] },
  { name: "data.random.pairs", default: 64, kind: "whole", low: 2, high: 512, when: ["data.source", "random"] },
  { name: "data.rows", default: [], kind: "list", when: ["data.source", "table"] },
  { name: "view.order", default: "label", kind: "choice", affects: "redraw" },
  { name: "view.pinned", default: null, kind: "list", affects: "nothing" },
];

test("begins as usual", () => {
  const { state } = new Store(TABLE);
  assert.deepEqual(state, {
    loss: "cosent",
    parameters: {},
    data: { source: "example", example: "english", random: { pairs: 64 }, rows: [] },
    view: { order: "label", pinned: null },
  });
});

test("a patch changes what it names and copies only what leads there", () => {
  const store = new Store(TABLE);
  const before = store.state;
  const told = store.update({ data: { random: { pairs: 9 } } });
  assert.deepEqual(told, { changed: ["data.random.pairs"], affects: "compute" });
  assert.equal(store.get("data.random.pairs"), 9);
  assert.equal(before.data.random.pairs, 64);
  assert.equal(store.state.view, before.view);
  assert.equal(store.state.data.rows, before.data.rows);
  assert.notEqual(store.state.data, before.data);
});

test("says the most that a change affects, and nothing of what stays", () => {
  const store = new Store(TABLE);
  assert.deepEqual(store.update({ view: { pinned: [1, 2] } }), { changed: ["view.pinned"], affects: "nothing" });
  assert.equal(store.update({ view: { order: "score", pinned: null } }).affects, "redraw");
  assert.equal(store.update({ loss: "circle", view: { order: "entry" } }).affects, "compute");
  assert.deepEqual(store.update({ loss: "circle" }), { changed: [], affects: "nothing" });
});

test("entries are replaced as a whole", () => {
  const store = new Store(TABLE);
  store.update({ parameters: { scale: 20, margin: 1 } });
  store.update({ parameters: { scale: 3 } });
  assert.deepEqual(store.state.parameters, { scale: 3 });
});

test("a name that is no entry's is refused and changes nothing", () => {
  const store = new Store(TABLE);
  const before = store.state;
  for (const patch of [
    { lose: "x" },
    { data: { random: { pears: 3 } } },
    { data: 3 },
    { loss: "x", view: { zoom: 1 } },
  ]) {
    assert.throws(() => store.update(patch), RangeError);
    assert.equal(store.state, before);
  }
});

test("what came from elsewhere is taken as far as there is a place for it", () => {
  const store = new Store(TABLE);
  const other = { loss: "circle", own: 1, data: { source: "random", random: { pairs: 3, colour: 2 }, more: {} } };
  assert.deepEqual(store.known(other), { loss: "circle", data: { source: "random", random: { pairs: 3 } } });
});

test("reset leaves nothing of what was", () => {
  const store = new Store(TABLE);
  store.update({ loss: "circle", data: { source: "random" } });
  store.reset({ view: { order: "entry" } });
  assert.deepEqual(store.state, { ...store.usual, view: { order: "entry", pinned: null } });
});

test("what does not count is neither sent nor a step of the history", () => {
  const store = new Store(TABLE);
  assert.deepEqual(store.counted("data"), { source: "example", example: "english" });
  const place = store.place();
  store.update({ data: { random: { pairs: 3 } }, parameters: { scale: 2 } });
  assert.equal(store.place(), place);
  store.update({ data: { source: "random" } });
  assert.notEqual(store.place(), place);
  const random = store.place();
  store.update({ data: { example: "chinese" } });
  assert.equal(store.place(), random);
  assert.deepEqual(store.counted("data"), { source: "random", random: { pairs: 3 } });
});

test("a number fits its entry's kind and range", () => {
  const entry = { kind: "whole", low: 2, high: 512 };
  assert.deepEqual(
    [2, 512].map((value) => fits(entry, value)),
    [true, true],
  );
  assert.deepEqual(
    [1, 513, 2.5, Number.NaN, Infinity].map((value) => fits(entry, value)),
    Array(5).fill(false),
  );
  assert.equal(fits({ kind: "number" }, -1e9), true);
});

test("what depends on something counts only where that does", () => {
  const store = new Store([
    { name: "door", default: "number", kind: "choice" },
    { name: "kind", default: "file", kind: "choice", when: ["door", "data"] },
    { name: "file", default: "a.csv", kind: "text", when: ["kind", "file"] },
  ]);
  const counted = () => [...store.table.values()].filter((entry) => store.counts(entry)).map(({ name }) => name);
  assert.deepEqual(counted(), ["door"]);
  store.update({ door: "data" });
  assert.deepEqual(counted(), ["door", "kind", "file"]);
  store.update({ kind: "typed" });
  assert.deepEqual(counted(), ["door", "kind"]);
});

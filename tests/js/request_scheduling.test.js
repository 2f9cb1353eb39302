// Asking: a deadline, giving up, and no late answer over a newer one.
import assert from "node:assert/strict";
import test from "node:test";
import { answerTo, GONE, newestOf, Requests } from "../../explorer/web/kit/request_scheduling.js";

const pause = (ms) => new Promise((done) => setTimeout(done, ms));
const never = new Promise(() => {});

// Questions that are answered by hand, in any order.
function held(options = {}) {
  const [open, taken] = [[], []];
  const requests = new Requests({
    ask: () => new Promise((done) => open.push(done)),
    take: (answer) => taken.push(answer),
    ...options,
  });
  const answer = async (place, value) => {
    open[place](value);
    await pause(0);
  };
  return { requests, open, taken, answer };
}

test("no answer in time is a problem, and so is a failure", async () => {
  assert.deepEqual(await answerTo(never, { deadline: 10 }), { error: GONE });
  assert.deepEqual(await answerTo(Promise.reject(new Error("gone"))), { error: GONE });
  assert.equal(await answerTo(Promise.resolve(3), { deadline: 10 }), 3);
});

test("a sign of life puts the deadline off", async () => {
  let signs = 3;
  const alive = () => {
    signs -= 1;
    return signs > 0;
  };
  assert.deepEqual(await answerTo(never, { deadline: 5, alive }), { error: GONE });
  assert.equal(signs, 0);
  assert.equal(
    await answerTo(
      pause(30).then(() => 1),
      { deadline: 5, alive: () => true },
    ),
    1,
  );
});

test("a late answer never takes the place of a newer one", async () => {
  const { requests, taken, answer } = held({ most: 2, between: true });
  requests.ask();
  requests.ask();
  await answer(1, "newer");
  await answer(0, "older");
  assert.deepEqual(taken, ["newer"]);
});

test("beyond the most under way the newest question waits, and is asked", async () => {
  const { requests, open, taken, answer } = held();
  for (let i = 0; i < 5; i += 1) requests.ask();
  assert.equal(open.length, 1);
  assert.equal(requests.waiting, true);
  await answer(0, "first"); // of a state that is no more
  assert.deepEqual([open.length, taken], [2, []]);
  await answer(1, "last");
  assert.deepEqual([taken, requests.waiting, requests.flying], [["last"], false, 0]);
});

test("answers in between are taken where they are wanted", async () => {
  const { requests, taken, answer } = held({ between: true });
  requests.ask();
  requests.ask();
  await answer(0, "first");
  await answer(1, "last");
  assert.deepEqual(taken, ["first", "last"]);
});

test("what is given up is never taken, and one can ask again", async () => {
  const { requests, taken, answer } = held();
  requests.ask();
  requests.ask();
  requests.drop();
  assert.deepEqual([requests.flying, requests.waiting], [0, false]);
  await answer(0, "late");
  assert.deepEqual(taken, []);
  requests.ask();
  await answer(1, "asked");
  assert.deepEqual(taken, ["asked"]);
});

test("work that goes on is asked for again, and tells how far it is", async () => {
  const far = [];
  const { requests, open, taken, answer } = held({
    again: ({ working }) => (working ? 5 : null),
    progress: ({ working }) => far.push(working),
  });
  requests.ask();
  await answer(0, { working: 1 });
  await pause(15);
  await answer(1, { working: 2 });
  await pause(15);
  await answer(2, { done: true });
  assert.deepEqual([far, taken, open.length], [[1, 2], [{ done: true }], 3]);
});

test("another question ends the waiting for the work of before", async () => {
  const { requests, open, taken, answer } = held({ most: 2, again: ({ working }) => (working ? 5 : null) });
  requests.ask();
  requests.ask();
  await answer(0, { working: 1 });
  await pause(15);
  assert.equal(open.length, 2);
  await answer(1, { of: "another" });
  assert.deepEqual(taken, [{ of: "another" }]);
});

test("a question waits until it has settled", async () => {
  const { requests, open } = held({ debounce: 10 });
  for (let i = 0; i < 3; i += 1) {
    requests.ask();
    await pause(3);
  }
  assert.equal(open.length, 0);
  await pause(30);
  assert.equal(open.length, 1);
});

test("of questions that differ the newest alone is answered", async () => {
  const newest = newestOf();
  const [open, told] = [[], []];
  const ask = async (name) => told.push([name, await newest(() => new Promise((done) => open.push(done)))]);
  ask("first");
  ask("second");
  open[0]("of the first");
  await pause(0);
  assert.deepEqual(told, []);
  open[1]("of the second");
  await pause(0);
  assert.deepEqual(told, [["second", "of the second"]]);
  ask("third");
  open[2](null);
  await pause(0);
  assert.deepEqual(told.at(-1), ["third", null]);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { absorb, emptyTrace } from "../../explorer/web/pages/finetune/run_log_data.js";

const step = (number, loss) => ({ kind: "step", step: number, loss, gradient_norm: 1, learning_rate: 0.1, seconds: 0 });
const told = (...records) => {
  const trace = emptyTrace();
  for (const record of records) absorb(trace, record);
  return trace;
};

test("the smooth loss of equal losses is that loss, from the first step on", () => {
  const { smooth } = told(step(1, 3), step(2, 3), step(3, 3));
  for (const value of smooth) assert.ok(Math.abs(value - 3) < 1e-12);
});

test("of two losses the later one counts a little more", () => {
  const { smooth } = told(step(1, 0), step(2, 1));
  assert.ok(Math.abs(smooth[1] - 1 / 1.8) < 1e-12); // 1·0.2 of 0.2 + 0.8·0.2
});

test("records go where they belong", () => {
  const trace = told(
    { kind: "held_out", step: 0, when: "before", spearman: 0.1 },
    step(1, 2),
    { kind: "evaluation", step: 1, spearman: 0.2 },
    { kind: "alarm", step: 1, since: 0 },
    { kind: "checkpoint", step: 1 },
  );
  assert.equal(trace.held.before.spearman, 0.1);
  assert.deepEqual([trace.steps, trace.loss, trace.evaluations.length, trace.alarms.length], [[1], [2], 1, 1]);
});

test("what lay behind the last checkpoint of a continued run is forgotten", () => {
  const before = [step(1, 4), { kind: "evaluation", step: 1 }, step(2, 3)];
  const after = [step(3, 2), { kind: "evaluation", step: 3 }, { kind: "alarm", step: 3 }];
  const again = told(...before, ...after, { kind: "resumed", step: 2 }, step(3, 1));
  assert.deepEqual(
    [again.steps, again.loss, again.evaluations.length, again.alarms.length],
    [[1, 2, 3], [4, 3, 1], 1, 0],
  );
  assert.ok(Math.abs(again.smooth[2] - told(...before, step(3, 1)).smooth[2]) < 1e-12);
});

test("a run that begins again has nothing of before", () => {
  const trace = told(step(1, 4), { kind: "resumed", step: -1 });
  assert.deepEqual([trace.steps, trace.smooth], [[], []]);
});

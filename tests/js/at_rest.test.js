// Whoever keeps asking for frames, with what it found while Gradio's scripts came, gets few of them later.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

const code = readFileSync(new URL("../../explorer/web/kit/at_rest.js", import.meta.url), "utf-8");

test("frames are as they were once our parts begin, and a loop of before becomes slow", () => {
  const [frames, waits] = [[], []];
  const document = new EventTarget();
  const native = (callback) => frames.push(callback);
  const window = { requestAnimationFrame: native, setTimeout: (callback, ms) => waits.push([callback, ms]) };
  new Function("window", "document", code)(window, document);
  const kept = window.requestAnimationFrame;
  const loop = () => kept(loop);

  loop();
  assert.deepEqual([frames.length, waits.length], [1, 0]);
  document.dispatchEvent(new Event("lossprism"));
  window.requestAnimationFrame(() => {});
  assert.deepEqual([frames.length, waits.length], [2, 0]);

  frames[0](); // it asks again
  assert.deepEqual([frames.length, waits.length], [2, 1]);
  assert.equal(waits[0][1], 1000);
  waits[0][0]();
  assert.deepEqual([frames.at(-1), waits.length], [loop, 1]);
});

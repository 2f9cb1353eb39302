import assert from "node:assert/strict";
import { test } from "node:test";
import { bytes, floats } from "../../explorer/web/kit/base64_arrays.js";

const values = new Float32Array([0, -1.5, Infinity, NaN]);
const text = Buffer.from(values.buffer).toString("base64");

test("32-bit floats come back as they were packed", () => assert.deepEqual(floats(text), values));

test("no array is null", () => assert.equal(floats(null), null));

test("bytes come back the slow way too, where the browser knows no other", (context) => {
  const known = Object.getOwnPropertyDescriptor(Uint8Array, "fromBase64");
  if (known) {
    delete Uint8Array.fromBase64;
    context.after(() => Object.defineProperty(Uint8Array, "fromBase64", known));
  }
  assert.deepEqual(bytes(text), new Uint8Array(values.buffer));
});

// A text in an address, and back.
import assert from "node:assert/strict";
import test from "node:test";
import { packed, unpacked } from "../../explorer/web/pages/doctor/set/packed.js";

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

import assert from "node:assert/strict";
import { test } from "node:test";
import "./page.js";
import {
  carriedOver,
  learn,
  lengthsIn,
  nameOfSum,
  summandsOf,
} from "../../explorer/web/kit/combined_loss_names_and_parts.js";
import { pageData } from "../../explorer/web/kit/page_data.js";
import { GONE } from "../../explorer/web/kit/request_scheduling.js";
import { lossesIn } from "../../explorer/web/kit/state_link.js";

/** @param {string[]} names */
const lossWith = (...names) => ({ conventions: { "": { parameters: names.map((name) => ({ name })) } }, summands: [] });

pageData.losses = {
  info_nce: lossWith("temperature"),
  angle: lossWith("scale"),
  "info_nce+angle": {
    ...lossWith("weight_of_info_nce", "weight_of_angle", "temperature_of_info_nce", "scale_of_angle"),
    summands: [
      { loss: "info_nce", prefixes: [], queued: false },
      { loss: "angle", prefixes: [], queued: false },
    ],
  },
};

test("a sum is called by its losses, those on prefixes by their lengths", () => {
  const whole = [
    { loss: "cosent", prefixes: [1, 0.5, 0.25], queued: false },
    { loss: "angle", prefixes: [], queued: false },
    { loss: "siglip", prefixes: [256, 64], queued: false },
  ];
  assert.equal(nameOfSum(whole), "matryoshka(cosent)+angle+matryoshka(siglip,256,64)");
});

test("a loss with a queue is called so, alone and in a sum", () => {
  const queued = { loss: "info_nce", prefixes: [], queued: true };
  assert.equal(nameOfSum([queued]), "queue(info_nce)");
  assert.equal(nameOfSum([queued, { loss: "angle", prefixes: [], queued: false }]), "queue(info_nce)+angle");
});

test("a loss that is no sum is its own only part", () => {
  assert.deepEqual(summandsOf("angle"), [{ loss: "angle", prefixes: [], queued: false }]);
  assert.equal(summandsOf("info_nce+angle").length, 2);
});

test("what was chosen for a loss is chosen for it in a sum, and back", () => {
  const inSum = carriedOver("info_nce", { temperature: 0.2 }, "info_nce+angle");
  assert.deepEqual(inSum, { temperature_of_info_nce: 0.2 });
  const moved = { ...inSum, weight_of_angle: 3, scale_of_angle: 5 };
  assert.deepEqual(carriedOver("info_nce+angle", moved, "angle"), { scale: 5 });
  assert.deepEqual(carriedOver("info_nce+angle", moved, "info_nce"), { temperature: 0.2 });
  assert.deepEqual(carriedOver("info_nce+angle", moved, "info_nce+angle"), moved);
});

test("lengths are even, each once, and without any the loss is on whole, half and quarter", () => {
  assert.deepEqual(lengthsIn("256, 128 64,128"), [256, 128, 64]);
  assert.deepEqual(lengthsIn("63"), [62]);
  assert.deepEqual(lengthsIn("one"), [1, 0.5, 0.25]);
  assert.deepEqual(lengthsIn("1, 0"), [1, 0.5, 0.25]);
  assert.deepEqual(lengthsIn("65536, 65538, 64"), [65536, 64]);
});

test("only sums that are not known yet are asked for", async () => {
  /** @type {string[]} */
  const asked = [];
  const ask = async (name) => {
    asked.push(name);
    return name === "cosent+angle"
      ? { loss: lossWith() }
      : { error: { key: "unknown_loss", values: {}, about: "loss" } };
  };
  await learn(ask, ["info_nce", "info_nce+angle", "cosent+angle", "cosent+angle", "x+y", "nobody"]);
  assert.deepEqual(asked, ["cosent+angle", "x+y"]);
  assert.ok("cosent+angle" in pageData.losses);
  assert.ok(!("x+y" in pageData.losses));
  // That no loss goes by a name stays so.
  await learn(ask, ["x+y"]);
  assert.equal(asked.length, 2);
});

test("a sum of which no answer came is asked for again", async () => {
  const name = "cosent+siglip";
  await learn(async () => ({ error: GONE }), [name]);
  const busy = { key: "shared_busy", values: {}, about: "again" };
  await learn(async () => ({ error: busy }), [name]);
  assert.ok(!(name in pageData.losses));
  await learn(async () => ({ loss: lossWith("scale_of_cosent") }), [name]);
  assert.ok(name in pageData.losses);
});

test("an address of Compare names its losses, blanks beside their signs read over", () => {
  assert.deepEqual(lossesIn("1=cosent+%2B+angle&2=matryoshka(info_nce,+64)"), [
    "cosent+angle",
    "matryoshka(info_nce,64)",
  ]);
  assert.deepEqual(lossesIn("1=cosent%2Bangle&1.scale=3&2=info_nce&base=1"), ["cosent+angle", "info_nce"]);
});

// Links from page to page carry no secret, and the tab that made them opens the whole scenario.
import assert from "node:assert/strict";
import test from "node:test";
import { shareableLink, wholeLink, withScenarioLinks } from "../../explorer/web/kit/redacted_scenario_links.js";
import { packed, unpacked } from "../../explorer/web/kit/state_link.js";

const memory = new Map();
globalThis.sessionStorage = /** @type {any} */ ({
  getItem: (name) => memory.get(name) ?? null,
  setItem: (name, value) => memory.set(name, value),
});
const linkOf = async (scenario) => `1.${await packed(JSON.stringify(scenario), "deflate")}`;
const rowsOf = async (link) => JSON.parse(await unpacked(link.split(".")[1], 10_000, "deflate")).data.rows;

test("a link without secrets stays as it is", async () => {
  for (const link of [
    await linkOf({ data: { rows: [["a", "b", "1"]] } }),
    await linkOf({ loss: "siglip" }),
    "",
    "1.!",
  ]) {
    assert.equal(await shareableLink(link), link);
    assert.equal(wholeLink(link), link);
  }
});

test("a link with secrets is shared without and opened with them, under any loss", async () => {
  const rows = [["see /home/alice/key", "bob@example.org", "1"]];
  const link = await linkOf({ data: { rows, guided: [["bob@example.org", [0.5]]] } });
  const { found } = await withScenarioLinks({
    examine: async () => ({ found: { scenes: [link], scene: link } }),
  }).examine();
  assert.deepEqual(await rowsOf(found.scene), [["see …", "…", "1"]]);
  assert.deepEqual(found.scenes, [found.scene]);
  assert.equal(wholeLink(found.scene), link);
  assert.equal(wholeLink(`${found.scene}.siglip`), `${link}.siglip`);
});

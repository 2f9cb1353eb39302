// The address that is handed on: whoever opens it finds what was seen.
import assert from "node:assert/strict";
import test from "node:test";
import { readerAddress } from "../../explorer/web/kit/browser_history.js";

const SPACE = "somebody/lossprism";
const WITHIN = "https://somebody-lossprism.hf.space/";
const framed = { href: `${WITHIN}?__theme=light#1.old`, space: SPACE, isFirst: true, isFramed: true };

test("in the frame of a Space it is the hub's page, which hands the scene on", () => {
  assert.equal(readerAddress("1.abc", framed), `https://huggingface.co/spaces/${SPACE}#1.abc`);
  assert.equal(readerAddress("", framed), `https://huggingface.co/spaces/${SPACE}`);
});

test("elsewhere it is where the page is, below the path of a host too", () => {
  const alone = { ...framed, href: `${WITHIN}#1.old`, isFramed: false };
  assert.equal(readerAddress("1.abc", alone), `${WITHIN}#1.abc`);
  const below = { href: "https://example.org/losses/?lang=zh#old", space: "", isFirst: true, isFramed: false };
  assert.equal(readerAddress("1.abc", below), "https://example.org/losses/?lang=zh#1.abc");
  assert.equal(readerAddress("", below), "https://example.org/losses/?lang=zh");
});

test("the frame of a notebook is no Space", () => {
  const notebook = { href: "http://127.0.0.1:7860/", isFirst: true, isFramed: true };
  assert.equal(readerAddress("1.abc", notebook), "http://127.0.0.1:7860/#1.abc");
});

test("the hub hands nothing on to the other pages, which are linked by themselves", () => {
  const large = { ...framed, href: `${WITHIN}large#loss=cosent`, isFirst: false };
  assert.equal(readerAddress("loss=siglip", large), `${WITHIN}large#loss=siglip`);
});

test("the signature of whoever is shown a private Space stays theirs", () => {
  const signed = { ...framed, href: `${WITHIN}large?lang=zh&__sign=secret`, isFirst: false };
  assert.equal(readerAddress("run", signed), `${WITHIN}large?lang=zh#run`);
});

test("a scene without a reader's own pairs is shared where a site can show a picture of it", () => {
  const here = { href: "https://example.org/losses/?lang=zh#old", isFirst: true, isFramed: false, isPublic: true };
  assert.equal(readerAddress("1.abc", here), "https://example.org/losses/?lang=zh&scene=1.abc");
  assert.equal(readerAddress("", here), "https://example.org/losses/?lang=zh");
  assert.equal(readerAddress("1.abc", { ...here, isPublic: false }), "https://example.org/losses/?lang=zh#1.abc");
  const long = `1.${"a".repeat(2000)}`;
  assert.equal(readerAddress(long, here), `https://example.org/losses/?lang=zh#${long}`);
  const compare = { ...here, href: "https://example.org/losses/compare", isFirst: false };
  assert.equal(readerAddress("1=cosent&scene=1.abc", compare), `${compare.href}?scene=1%3Dcosent%26scene%3D1.abc`);
  assert.equal(readerAddress("1=cosent", { ...compare, isFramed: true }), `${compare.href}?scene=1%3Dcosent`);
  assert.equal(readerAddress("1.abc", { ...here, isFramed: true }), "https://example.org/losses/?lang=zh#1.abc");
});

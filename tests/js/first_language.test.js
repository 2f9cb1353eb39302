// The language of a page before any module is there, and the words that are sent for.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import vm from "node:vm";

const script = readFileSync(new URL("../../explorer/web/kit/initial_language.js", import.meta.url), "utf8");

/**
 * @param {string} search
 * @param {string | null} stored
 * @param {string} browser
 */
function opened(search, stored, browser) {
  const document = {
    documentElement: { lang: "" },
    /** @type {{ href: string, rel: string }[]} */
    links: [],
    head: { append: (/** @type {any} */ link) => document.links.push(link) },
    createElement: () => ({}),
    body: {
      dataset: {
        served: "served/0",
        folder: "doctor",
        words: "compare doctor",
        languages: '{"en": "English", "zh": "中文"}',
      },
    },
  };
  vm.runInNewContext(script, {
    URLSearchParams,
    document,
    location: { search },
    navigator: { language: browser },
    localStorage: {
      getItem() {
        if (stored === "refused") throw new Error("private window");
        return stored;
      },
    },
  });
  return document;
}

for (const [search, stored, browser, expected] of /** @type {const} */ ([
  ["?lang=zh", "en", "en-US", "zh"],
  ["", "zh", "en-US", "zh"],
  ["", null, "zh-CN", "zh"],
  ["", null, "fr", "en"],
  ["", "refused", "zh-CN", "zh"],
])) {
  test(`the language of ${search || "no address"}, ${stored} stored, in a browser of ${browser}`, () => {
    const { documentElement, links } = opened(search, stored, browser);
    assert.equal(documentElement.lang, expected);
    const addresses = links.map(({ rel, href }) => `${rel} ${href}`);
    assert.deepEqual(
      addresses,
      ["shared", "doctor"].map((part) => `preload served/0/words/${expected}/${part}.json`),
    );
  });
}

// Whether a page is dark before anything is drawn, and when the system changes its mind.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import vm from "node:vm";

const script = readFileSync(new URL("../../explorer/web/kit/initial_theme.js", import.meta.url), "utf8");

/** @param {{ search?: string, stored?: string | null, dark?: boolean }} page */
function opened({ search = "", stored = null, dark = false }) {
  const classes = new Map();
  const system = { matches: dark, changed: () => {} };
  vm.runInNewContext(script, {
    URLSearchParams,
    location: { search },
    document: {
      body: { classList: { toggle: (/** @type {string} */ name, /** @type {boolean} */ on) => classes.set(name, on) } },
    },
    localStorage: {
      getItem() {
        if (stored === "refused") throw new Error("private window");
        return stored;
      },
    },
    matchMedia: () => ({
      get matches() {
        return system.matches;
      },
      addEventListener: (/** @type {string} */ _, /** @type {() => void} */ listener) => {
        system.changed = listener;
      },
    }),
  });
  return { isDark: () => classes.get("dark"), system };
}

test("the address comes before the choice of before, and that before the system", () => {
  for (const asked of ["", "?__theme=system", "?__theme=dark", "?__theme=light", "?a=1&__theme=dark"]) {
    for (const stored of [null, "refused", "dark", "light"]) {
      for (const dark of [true, false]) {
        const said = /=(dark|light)$/.exec(asked)?.[1] ?? (stored === "refused" ? null : stored);
        const expected = said ? said === "dark" : dark;
        assert.equal(opened({ search: asked, stored, dark }).isDark(), expected, `${asked} ${stored} ${dark}`);
      }
    }
  }
});

test("a page that follows the system follows it later too", () => {
  for (const [stored, after] of /** @type {const} */ ([
    [null, true],
    ["light", false],
  ])) {
    const page = opened({ stored });
    page.system.matches = true;
    page.system.changed();
    assert.equal(page.isDark(), after);
  }
});

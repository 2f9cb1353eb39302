import assert from "node:assert/strict";
import { test } from "node:test";
import { liveFormula } from "../../explorer/web/kit/live_formula.js";

const packed = (array) => Buffer.from(array.buffer).toString("base64");
const floats = (...values) => packed(new Float32Array(values));
const integers = (...values) => packed(new Int32Array(values));
const bytes = (...values) => packed(new Uint8Array(values));
const names = { r: () => "3", c: () => "7" };
const plain = (tex) => tex.replace(/\\htmlData\{[^}]*\}/g, "").replace(/[{}]/g, "");

const single = (of, at, rows, columns, ...values) => ({ of, at, rows, columns, parts: 1, values: floats(...values) });

test("a reference is the number at its row or column", () => {
  const numbers = {
    "scores[r]": single("scores", "row", 2, 1, 0.5, -0.25),
    "scores[c]": single("scores", "column", 1, 3, 1, 2, 3),
    scale: single("scale", "", 1, 1, 20),
  };
  const formula = liveFormula({ live: "«scale»(«scores[r]»-«scores[c]»)", numbers });
  assert.equal(plain(formula(0, 0, names)), "20(0.5-1)");
  assert.equal(plain(formula(1, 2, names)), "20((-0.25)-3)");
});

test("a number says what it came from", () => {
  const numbers = { scale: single("scale", "", 1, 1, 20), "s[r,c]": single("s", "cell", 2, 2, 1, 2, 3, 4) };
  const formula = liveFormula({ live: "«scale»«s[r,c]»«r»«c»", numbers });
  assert.equal(
    formula(1, 0, names),
    "\\htmlData{of=scale,at=parameter}{20}\\htmlData{of=s,at=cell}{3}" +
      "\\htmlData{at=row}{3}\\htmlData{at=column}{7}",
  );
});

const over = (kind, more) => ({
  "over terms[r]": {
    ...{ of: "terms", at: "row", rows: 1, columns: 1, parts: 3, kind },
    ...{ values: floats(2, 1, 0), present: bytes(1, 1, 0), pairs: integers(4, 5, -1) },
    ...{ left: integers(0), rest: floats(0), ...more },
  },
});
const overall = (kind, more) => liveFormula({ live: "«over terms[r]»", numbers: over(kind, more) })(0, 0, names);

test("a sum writes out its few largest terms, and the others as one", () => {
  assert.equal(plain(overall("Σ exp")), "e^2 + e^1");
  assert.equal(plain(overall("Σ")), "2 + 1");
  assert.equal(
    plain(overall("Σ", { left: integers(12), rest: floats(-3) })),
    "2 + 1 + \\underbrace(-3)_12\\,\\textothers",
  );
});

test("of the largest or the least only the first few are written", () => {
  assert.equal(plain(overall("max", { left: integers(12) })), "2,\\, 1,\\, \\ldots");
  assert.match(overall("min"), /pair=4/);
});

test("a sum without terms is 0", () => assert.equal(overall("Σ", { present: bytes(0, 0, 0) }), "0"));

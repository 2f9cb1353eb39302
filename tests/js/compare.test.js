// The losses of Compare in its address, and what its bars are made of.
import assert from "node:assert/strict";
import test from "node:test";
import "./page.js"; // first: what draws makes elements
import { addressFor, carried, KEPT } from "../../explorer/web/kit/compare_link.js";
import { formOf, readWithLosses } from "../../explorer/web/kit/loss_convention_lookup.js";
import { numbered } from "../../explorer/web/kit/state_link.js";
import { Store } from "../../explorer/web/kit/state_store.js";
import { barsPath, equalised, largestOf, orderOf } from "../../explorer/web/pages/compare/bar_layout.js";
import { latexOf, marked, PAPER_INKS, plain } from "../../explorer/web/pages/compare/formula_latex_document.js";
import { stepsAt } from "../../explorer/web/pages/compare/state.js";

/** @type {any} */
const LOSSES = {
  a: {
    former: { "b; d": "b & c; d" },
    conventions: {
      "": {
        parameters: [
          { name: "scale", kind: "number" },
          { name: "both", kind: "switch" },
          { name: "kind", kind: "choice" },
          { name: "weights", kind: "list" },
        ],
      },
      "b & c; d": { parameters: [{ name: "margin", kind: "number" }] },
    },
  },
};
/** @type {import("../../explorer/web/kit/state_link.js").Side[]} */
const SIDES = [
  { loss: "a", convention: "", parameters: { scale: 0.05, both: false, kind: "1", weights: [1, -0.5, 2e-7] } },
  { loss: "a", convention: "b & c; d", parameters: { margin: -3 } },
  { loss: "a", convention: "", parameters: {} },
];

const { table } = new Store([{ name: "sides", default: [], kind: "losses", high: 6, link: "1" }]);
const sidesOf = (text) => readWithLosses(LOSSES, table, text).sides;

test("what is written reads back, whatever a convention is called", () => {
  assert.deepEqual(sidesOf(new URLSearchParams(numbered(SIDES)).toString()), SIDES);
});

test("the scene of an address stands in it, or is kept beside it where that would be too long", () => {
  const kept = new Map();
  globalThis.localStorage = /** @type {any} */ ({
    getItem: (name) => kept.get(name) ?? null,
    setItem: (name, value) => kept.set(name, value),
  });
  const scenario = /** @type {any} */ ({ data: { rows: [["a", "b", "1"]] }, rules: { twins: "keep" }, view: {} });
  const linkIn = (address) => new URLSearchParams(address.split("#")[1]).get("scene");
  assert.equal(linkIn(addressFor(SIDES, { link: "short", most: 5, scenario })), "short");
  assert.equal(carried(), null);
  const address = addressFor(SIDES, { link: "longer", most: 5, scenario });
  assert.equal(linkIn(address), KEPT);
  assert.deepEqual(sidesOf(address.split("#")[1]), SIDES);
  assert.deepEqual(carried(), { data: scenario.data, rules: scenario.rules });
});

test("a loss that there is not stays named, and its parameters with it", () => {
  assert.deepEqual(sidesOf("1=gone&1.scale=3&2=a&2.gone=1"), [
    { loss: "gone", convention: "", parameters: { scale: 3 } },
    { loss: "a", convention: "", parameters: {} },
  ]);
  assert.equal(formOf(LOSSES, { loss: "gone", convention: "" }), undefined);
});

test("a convention is found by a name that it had, with its parameters", () => {
  const said = new URLSearchParams([
    ["1", "a"],
    ["1@", "b; d"],
    ["1.margin", "-3"],
  ]);
  assert.deepEqual(sidesOf(said.toString()), [SIDES[1]]);
});

test("at most six, and none after a gap", () => {
  const many = new URLSearchParams(Array.from({ length: 9 }, (_, i) => [String(i + 1), "a"]));
  assert.equal(sidesOf(many.toString()).length, 6);
  assert.equal(sidesOf("1=a&3=a").length, 1);
});

test("steps are as many as sides, and stay where none is named", () => {
  assert.deepEqual(stepsAt([2], 3, [[1, 5]]), [2, 5, -1]);
  assert.deepEqual(stepsAt([2, 3, 4], 2, [[0, null]]), [2, 3]);
});

test("equalised gradients have length 1; what is all zero stays", () => {
  const found = equalised(Float32Array.of(3, -4));
  assert.ok(Math.abs(Math.hypot(...found) - 1) < 1e-6);
  assert.deepEqual([...equalised(Float32Array.of(0, 0))], [0, 0]);
  assert.equal(largestOf([Float32Array.of(1, -7), null, Float32Array.of(2)]), 7);
  assert.equal(largestOf([null, Float32Array.of(0)]), 1);
});

test("bars stand in one order for all strips", () => {
  const base = Float32Array.of(0.5, -1, 0.5);
  assert.deepEqual(orderOf("base", { count: 3, labels: [0, 1, 2], base }), [1, 0, 2]);
  assert.deepEqual(orderOf("label", { count: 3, labels: [0, 2, 2], base }), [1, 2, 0]);
  assert.deepEqual(orderOf("base", { count: 3, labels: [], base: null }), [0, 1, 2]);
});

test("a bar stands above or below the middle, and none where there is no height or no number", () => {
  const path = barsPath([0, 1, -0.5, Number.NaN], { middle: 31, reach: 29, step: 10 });
  assert.equal(path, "M11.20 31h7.60v-29.00h-7.60zM21.20 31h7.60v14.50h-7.60z");
});

const PART = (/** @type {string} */ ink, /** @type {string} */ inside) => `\\htmlData{ink=${ink}, base=3}{${inside}}`;
const COLOURS = { base: "#0065a8", other: "#c04a00", parameter: "#5b35c8" };

test("only the outermost part that differs is marked", () => {
  /** @type {(ink: string, part: string) => string} */
  const mark = (ink, part) => `<${ink}|${part}>`;
  const inner = PART("shared", `a_{\\{i\\}} + ${PART("other", "b")}`);
  const whole = `\\log(${PART("changed", `${PART("base", inner)} - ${PART("parameter", "\\lambda")}`)})`;
  assert.equal(marked(whole, mark), "\\log({<base|{a_{\\{i\\}} + {b}}> - <parameter|\\lambda>})");
  assert.equal(marked(PART("shared", `x + ${PART("other", "y")}`), mark), "{x + <other|y>}");
  assert.equal(marked("x^{2}", mark), "x^{2}");
  assert.deepEqual(Object.keys(PAPER_INKS), Object.keys(COLOURS));
});

test("a formula is taken away with its colours or without, its braces in order", () => {
  const part = `${PART("base", "s_{ij}")} + ${PART("shared", "x")} ${PART("parameter", "\\tau")}`;
  assert.equal(plain(part), "{s_{ij}} + {x} {\\tau}");
  for (const colours of [COLOURS, null]) {
    const whole = latexOf([part], "A\n\\end{document}", colours);
    const [open, close] = ["{", "}"].map((sign) => whole.split(sign).length);
    assert.equal(open, close);
    assert.equal(whole.split("\n").filter((line) => line.startsWith("\\end{document}")).length, 1);
    assert.equal(whole.includes("color"), colours !== null);
    assert.equal(whole.includes("{\\textcolor{lpbase}{s_{ij}}}"), colours !== null);
    assert.equal(whole.includes("{\\underbrace{s_{ij}}_{\\text{base}}}"), colours === null);
    assert.equal(whole.includes("\\definecolor{lpother}{HTML}{C04A00}"), colours !== null);
  }
});

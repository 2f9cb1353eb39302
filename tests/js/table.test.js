import assert from "node:assert/strict";
import { test } from "node:test";
import { happen } from "./page.js"; // first: the table makes elements

const { sortableTable } = await import("../../explorer/web/kit/sortable_table.js");

const ROWS = [
  { name: "b", size: 2 },
  { name: "a", size: NaN },
  { name: "c", size: 10 },
];

function made(options = {}) {
  const root = document.createElement("div");
  const said = [];
  const table = sortableTable(
    root,
    {
      key: "cities",
      columns: [
        { key: "name", cell: (row) => row.name, by: (row) => row.name },
        { key: "size", cell: (row) => [String(row.size), "km²"], by: (row) => row.size, spare: true },
      ],
      ...options,
    },
    (what, row) => said.push(row ? [what, row.name] : [what]),
  );
  table.update({ data: ROWS });
  document.body.replaceChildren(root);
  const lines = () => [...root.querySelectorAll("tbody tr")].filter((line) => !line.hidden);
  return {
    root,
    table,
    said,
    lines,
    names: () => lines().map((line) => line.children[0].textContent),
    heads: [...root.querySelectorAll("th")],
    sort: (place) => happen(root.querySelectorAll("th button")[place], "click"),
  };
}

test("rows stand as they come until a column is chosen", () => {
  const { names, heads } = made();
  assert.deepEqual(names(), ["b", "a", "c"]);
  assert.deepEqual(
    heads.map((head) => head.getAttribute("aria-sort")),
    ["none", "none"],
  );
});

test("words come from A to Z, and the second time the other way round", () => {
  const { names, sort, heads } = made();
  sort(0);
  assert.deepEqual(names(), ["a", "b", "c"]);
  assert.equal(heads[0].getAttribute("aria-sort"), "ascending");
  sort(0);
  assert.deepEqual(names(), ["c", "b", "a"]);
});

test("numbers come largest first, and what has none stays at the end", () => {
  const { names, sort } = made();
  sort(1);
  assert.deepEqual(names(), ["c", "b", "a"]);
  sort(1);
  assert.deepEqual(names(), ["b", "c", "a"]);
});

test("more rows than are shown wait behind a button", () => {
  const { root, names } = made({ most: 2 });
  const more = root.querySelector(".lp-more-rows");
  assert.deepEqual([names().length, more.hidden], [2, false]);
  happen(more, "click");
  assert.equal(names().length, 3);
  happen(more, "click");
  assert.equal(names().length, 2);
});

test("a spare column is hidden while no row has a number for it", () => {
  const { table, heads } = made();
  assert.equal(heads[1].hidden, false);
  table.update({ data: [ROWS[1]] });
  assert.equal(heads[1].hidden, true);
});

test("a line says which row is reached, left, picked", () => {
  const { lines, said } = made({ sorted: { column: 0, down: false }, picks: true });
  happen(lines()[0], "mouseenter");
  happen(lines()[0], "mouseleave");
  happen(lines()[1].children[0], "click");
  happen(lines()[2], "keydown", { key: "Enter" });
  assert.deepEqual(said, [["reach", "a"], ["leave"], ["pick", "b"], ["pick", "c"]]);
});

test("a box is ticked for its row, and does not pick it", () => {
  const box = { label: (row) => `take ${row.name}`, checked: (row) => row.name === "c" };
  const { lines, said } = made({ columns: [{ key: "take", by: () => 0, box }], picks: true });
  const boxes = lines().map((line) => line.querySelector("input"));
  assert.deepEqual(
    boxes.map(({ checked }) => checked),
    [false, false, true],
  );
  happen(boxes[1], "click");
  happen(boxes[1], "change");
  assert.deepEqual(said, [["tick", "a"]]);
});

test("what is pointed at elsewhere is lit, also after sorting", () => {
  const { table, lines, sort } = made();
  table.update({ state: { lit: (row) => row.name === "a" } });
  const lit = () => lines().map((line) => line.classList.contains("lp-lit"));
  assert.deepEqual(lit(), [false, true, false]);
  sort(0);
  assert.deepEqual(lit(), [true, false, false]);
});

test("a cell of several lines has them all in its title", () => {
  const { lines } = made();
  assert.equal(lines()[0].children[1].title, "2\nkm²");
  assert.deepEqual(
    [...lines()[0].children[1].querySelectorAll("span")].map((span) => span.textContent),
    ["2", "km²"],
  );
});

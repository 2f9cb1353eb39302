// What a spreadsheet copies is read cell by cell.
import assert from "node:assert/strict";
import { test } from "node:test";
import { cellsOfText } from "../../explorer/web/kit/spreadsheet_clipboard_parser.js";

/** As spreadsheets write a cell: quoted where it holds a tab, a line end or a quote. */
const written = (cell) => (/[\t\n"]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
const PIECES = ["a", "猫", " ", "\t", "\n", '"', ",", ""];

test("cells that a spreadsheet wrote are read as they were", () => {
  for (const one of PIECES)
    for (const two of PIECES)
      for (const three of PIECES) {
        const cells = [
          [one + two, three],
          [two + three + one, "end"],
        ];
        const text = cells.map((row) => row.map(written).join("\t")).join("\r\n");
        assert.deepEqual(cellsOfText(text), cells, JSON.stringify(text));
        assert.deepEqual(cellsOfText(`${text}\n`), cells);
      }
});

test("a quote inside an unquoted cell is a quote, as one that nothing closes", () => {
  assert.deepEqual(cellsOfText('5" of snow\tIt snowed.'), [['5" of snow', "It snowed."]]);
  assert.deepEqual(cellsOfText('"open\tnext'), [['"open', "next"]]);
});

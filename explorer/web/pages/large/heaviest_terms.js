// The heaviest of all terms, whether there are a thousand or 10¹².
import { h, worded } from "../../kit/dom.js";
import { grouped, percent, read, show } from "../../kit/number_format.js";
import { sortableTable } from "../../kit/sortable_table.js";
import { say } from "../../kit/translated_sentences.js";
import { linesOf } from "./pair_text_lookup.js";

/** @type {(root: HTMLElement, page: import("./state.js").LargePage) => void} */
export default function terms(root, page) {
  /** @param {import("../../wire").LargeTerm} term */
  const label = (term) => `${show(term.row.label)} · ${show(term.column.label)}`;
  const list = h("div.lp-whole-words");
  const table = sortableTable(
    list,
    {
      key: "ui.heaviest",
      most: 10,
      picks: true,
      columns: [
        {
          key: "ui.row",
          cell: (/** @type {import("../../wire").LargeTerm} */ t) => linesOf(page, t.row),
          by: (t) => t.row.entry,
          wide: true,
        },
        { key: "ui.column", cell: (t) => linesOf(page, t.column), by: (t) => t.column.entry, wide: true },
        { key: "large.labels", cell: label, by: (t) => t.column.label - t.row.label },
        { key: "ui.value", cell: (t) => show(t.value), by: (t) => read(t.value) },
        { key: "ui.share", cell: (t) => percent(t.share), by: (t) => t.share },
      ],
    },
    (...event) => {
      if (event[0] === "pick") reveal(event[1]);
    },
  );
  const note = h("p.lp-note");
  root.append(worded("h2", "ui.heaviest"), note, list);

  // A click shows the term in the map, with its neighbours.
  /** @param {import("../../wire").LargeTerm} term */
  function reveal({ cell }) {
    const [rows, columns] = page.answer?.shape ?? [0, 0];
    /** @type {(middle: number, all: number) => [number, number]} */
    const around = (middle, all) => [Math.max(0, middle - 20), Math.min(all, middle + 21)];
    page.zoom([...around(cell[0], rows), ...around(cell[1], columns)]);
    page.mark(cell);
    document.querySelector(".lp-large_map .lp-stage")?.scrollIntoView({ block: "nearest" });
  }
  const light = () => table.update({ state: { lit: ({ cell }) => String(cell) === String(page.cell) } });

  function draw() {
    if (!page.answer || !page.details) return;
    const { heaviest } = page.details;
    const { terms: all } = page.answer.figures;
    table.update({ data: heaviest });
    light();
    const carried = heaviest.reduce((sum, term) => sum + term.share, 0);
    note.textContent = heaviest.length
      ? say("large.heaviest_note", {
          count: heaviest.length,
          terms: grouped(all),
          share: percent(carried),
        })
      : say("ui.no_terms");
  }

  page.on("learning", () => {
    note.textContent = say("large.doing.heaviest");
  });
  page.on("details", draw);
  page.on("cell", light);
  page.on("language", draw);
}

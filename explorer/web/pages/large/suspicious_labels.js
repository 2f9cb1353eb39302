// Where label and encoder disagree, over all pairs: both sentences whole, and what the reader makes of it.
import { h, worded } from "../../kit/dom.js";
import { correctionsList, expectedWords, verdictOf, whyNone } from "../../kit/label_corrections.js";
import { grouped, percent, show } from "../../kit/number_format.js";
import { sortableTable } from "../../kit/sortable_table.js";
import { say } from "../../kit/translated_sentences.js";
import { linesOf } from "./pair_text_lookup.js";

/** @typedef {import("../../wire").LargeSuspect} LargeSuspect */

/** @type {(root: HTMLElement, page: import("./state.js").LargePage) => void} */
export default function suspects(root, page) {
  const none = h("p.lp-note", { hidden: true });
  const doubtful = worded("p.lp-doubtful", "ui.suspects_doubtful", { hidden: true });
  const note = worded("p.lp-note", "ui.suspects_note");
  const expected = h("p.lp-note", { "aria-live": "polite" });
  const cut = h("p.lp-note", { hidden: true });

  const list = h("div.lp-whole-words");
  const table = sortableTable(list, {
    key: "ui.suspects",
    most: 10,
    columns: [
      {
        key: "ui.pair",
        wide: true,
        cell: (/** @type {LargeSuspect} */ { pair }) => linesOf(page, pair),
        by: ({ pair }) => pair.entry,
        acts: (row) =>
          verdictOf({
            pair: () => [row().pair.first, row().pair.second],
            label: () => row().pair.label,
            fitting: () => row().fitting,
            editable: () => Boolean(page.judged?.editable),
            correct: (first, second, label) => page.correct(first, second, label),
          }),
      },
      { key: "ui.label", cell: ({ pair }) => show(pair.label), by: ({ pair }) => pair.label },
      { key: "ui.similarity", cell: ({ pair }) => show(pair.score), by: ({ pair }) => pair.score },
      { key: "ui.would_fit", cell: ({ fitting }) => show(fitting), by: ({ fitting }) => fitting },
      { key: "ui.contradicts", cell: ({ rate }) => percent(rate), by: ({ rate }) => rate },
    ],
  });

  const corrections = correctionsList({
    note: "large.corrections_note",
    undo: (first, second) => page.correct(first, second, null),
    take: (what) => page.downloads.take(what),
  });
  root.append(worded("h2", "ui.suspects"), doubtful, note, expected, none, list, cut, corrections.element);

  function draw() {
    corrections.fill(page.corrections);
    const { judged } = page;
    if (!judged) return;
    const { suspects: listed, count, disagreement: usual } = judged;
    doubtful.hidden = !judged.doubtful;
    none.hidden = count > 0;
    none.textContent = say(whyNone(judged, "large.no_suspects"));
    note.hidden = count === 0;
    list.hidden = count === 0;
    expected.hidden = !usual && count > 0;
    expected.textContent = usual ? expectedWords(count, usual) : "";
    cut.hidden = count <= listed.length;
    cut.textContent = say("large.suspects_cut", { count: listed.length, all: grouped(count) });
    table.update({ data: listed });
  }

  page.on("judging", () => {
    expected.hidden = false;
    expected.textContent = say("large.doing.judging");
  });
  page.on("judged", draw);
  page.on("state", () => corrections.fill(page.corrections));
  page.on("language", draw);
}

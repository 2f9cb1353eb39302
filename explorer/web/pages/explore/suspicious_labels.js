// Where label and encoder disagree: both sentences whole, a second opinion, and what the reader makes of it.
import { h, setText, worded } from "../../kit/dom.js";
import { correctionsList, expectedWords, verdictOf, whyNone } from "../../kit/label_corrections.js";
import { percent, show } from "../../kit/number_format.js";
import { agree } from "../../kit/reader_consent.js";
import { sortableTable } from "../../kit/sortable_table.js";
import { say } from "../../kit/translated_sentences.js";
import { takeawayRequests } from "./download_requests.js";

/** @typedef {import("../../wire").Suspect} Suspect */

/** @typedef {import("./state.js").ExplorePage} ExplorePage */
/** @typedef {import("../../kit/types").Asking<import("../../wire").ExploreServer>} Server */

/**
 * `secondOpinionOf`: which label fits by another model, where one was asked.
 * @param {ExplorePage} page
 * @param {(suspect: Suspect) => number} secondOpinionOf
 * @returns {import("../../kit/sortable_table.js").Column<Suspect>[]}
 */
function columnsOf(page, secondOpinionOf) {
  /** @param {Suspect} suspect */
  const labelOf = ({ pair }) => page.batch?.labels[pair] ?? NaN;
  /** @type {(suspect: Suspect) => [string, string]} */
  const textsOf = ({ pair }) => [page.batch?.first[pair] ?? "", page.batch?.second[pair] ?? ""];
  return [
    {
      key: "ui.pair",
      wide: true,
      cell: (one) => {
        const [a, b] = textsOf(one);
        const of = page.batch;
        return [
          { of, before: `${page.numberOf(one.pair)} · `, text: a },
          { of, text: b },
        ];
      },
      by: ({ pair }) => page.numberOf(pair),
      acts: (row) =>
        verdictOf({
          pair: () => textsOf(row()),
          label: () => labelOf(row()),
          fitting: () => row().fitting,
          editable: () => Boolean(page.batch?.editable),
          correct: (a, b, label) => page.correct(a, b, label),
        }),
    },
    { key: "ui.label", cell: (one) => show(labelOf(one)), by: labelOf },
    { key: "ui.would_fit", cell: ({ fitting }) => show(fitting), by: ({ fitting }) => fitting },
    { key: "ui.second_opinion", cell: (one) => show(secondOpinionOf(one)), by: secondOpinionOf, spare: true },
    { key: "ui.contradicts", cell: ({ rate }) => percent(rate), by: ({ rate }) => rate },
  ];
}

/**
 * A form that asks another model for its opinion of the batch.
 * @param {ExplorePage} page
 * @param {Server} server
 * @param {(opinion: import("../../wire").Opinion, batch: string) => void} take with the key of the batch
 */
function opinionForm(page, server, take) {
  const model = h("input", { type: "text", id: "lp-second-model", spellcheck: false, autocomplete: "off" });
  const ask = worded("button.lp-button", "ui.second_ask", { type: "submit", id: "lp-second-ask" });
  async function submit(/** @type {Event} */ event) {
    event.preventDefault();
    const key = page.batch?.key ?? "";
    ask.disabled = true;
    agree(model.value);
    const answer = await server.second_opinion({ scenario: page.scenario, model: model.value });
    ask.disabled = false;
    if (answer.error) page.warn(answer.error);
    else take(answer, key);
  }
  return h(
    "form.lp-row.lp-wrap",
    { hidden: true, onsubmit: submit },
    h("label.lp-inline", worded("span", "ui.second_opinion"), model),
    ask,
    worded("span.lp-note", "ui.second_about"),
  );
}

/**
 * @param {ExplorePage} page
 * @param {Server} server
 */
export function suspectsPart(page, server) {
  const none = h("p.lp-note", { hidden: true });
  const doubtful = worded("p.lp-doubtful", "ui.suspects_doubtful", { hidden: true });
  const note = worded("p.lp-note", "ui.suspects_note");
  const expected = h("p.lp-note");
  /** @type {{ of: import("../../wire").Opinion, batch: string } | null} */
  let opinion = null;
  /** @param {Suspect} suspect */
  const secondOpinionOf = ({ pair }) => (opinion?.batch === page.batch?.key ? (opinion?.of.fitting[pair] ?? NaN) : NaN);
  const list = h("div.lp-whole-words", { hidden: true }); // until there is something to say
  const table = sortableTable(
    list,
    { key: "ui.suspects", columns: columnsOf(page, secondOpinionOf), sorted: { column: 4, down: true } },
    (...event) => page.point(event[0] === "reach" ? [event[1].pair] : []),
  );
  const form = opinionForm(page, server, (of, batch) => {
    opinion = { of, batch };
    draw();
  });
  const { save } = takeawayRequests(page, server);
  const corrections = correctionsList({
    note: "ui.corrections_note",
    undo: (a, b) => page.correct(a, b, null),
    take: (what) => save(what),
  });

  const element = h(
    "section",
    worded("h2", "ui.suspects"),
    doubtful,
    note,
    expected,
    none,
    list,
    form,
    corrections.element,
  );

  function draw() {
    const { picture, batch } = page;
    if (!picture || !batch) return;
    const { suspects, disagreement: usual } = picture;
    doubtful.hidden = !batch.foreign;
    none.hidden = suspects.length > 0;
    setText(none, say(whyNone(picture.figures, "ui.no_suspects")));
    note.hidden = !none.hidden;
    list.hidden = !none.hidden;
    form.hidden = !none.hidden || !batch.editable;
    expected.hidden = !usual;
    if (usual) setText(expected, expectedWords(suspects.length, usual));
    table.update({ data: suspects });
    corrections.fill(page.scenario.data.corrections);
  }

  return {
    element,
    draw,
    /** @param {(pairs: number[]) => boolean} all whether these pairs are pointed at */
    light: (all) => table.update({ state: { lit: ({ pair }) => all([pair]) } }),
  };
}

// Where label and encoder disagree: both sentences whole, a second opinion, and what the reader makes of it.

import { h, reword, worded } from "../../kit/dom.js";
import { percent, show } from "../../kit/numbers.js";
import { GONE } from "../../kit/server.js";
import { sortableTable } from "../../kit/table.js";
import { say } from "../../kit/words.js";
import { takingFrom } from "./taking.js";

/** @typedef {import("../../wire").Suspect} Suspect */

/**
 * @param {import("./state.js").Scene} channel
 * @param {import("../../kit/types").Asking<import("../../wire").ExploreServer>} server
 */
export function suspectsPart(channel, server) {
  const none = worded("p.lp-note", "ui.no_suspects");
  const doubtful = worded("p.lp-doubtful", "ui.suspects_doubtful", { hidden: true });
  const expected = h("p.lp-note");
  /** @type {import("../../wire").Opinion | null} */
  let opinion = null;
  let opinionOf = ""; // the key of the batch that it is about

  /** @param {Suspect} suspect */
  const labelOf = ({ pair }) => channel.batch?.labels[pair] ?? NaN;
  /** @param {Suspect} suspect */
  const textsOf = ({ pair }) => [channel.batch?.first[pair] ?? "", channel.batch?.second[pair] ?? ""];
  /** @param {Suspect} suspect */
  const second = ({ pair }) => (opinionOf === channel.batch?.key ? (opinion?.fitting[pair] ?? NaN) : NaN);

  /**
   * Another label, the one that would fit, or out: for the pair of whatever row stands there.
   * @param {() => Suspect} row
   */
  function verdictOf(row) {
    /** @param {string} label */
    const correct = (label) => {
      const [a, b] = textsOf(row());
      channel.correct(a, b, label);
    };
    const label = h("input.lp-number", {
      type: "number",
      step: "any",
      onchange: () => {
        if (label.value.trim() !== "") correct(label.value.trim());
      },
    });
    const fit = h("button.lp-button", { type: "button", onclick: () => correct(String(row().fitting)) });
    const out = h("button.lp-button", { type: "button", onclick: () => correct("") });
    const box = h("div.lp-row.lp-wrap.lp-verdict-of-pair", {}, label, fit, out);
    box.addEventListener("lp-row", () => {
      label.value = String(labelOf(row()));
      label.setAttribute("aria-label", say("ui.correct_label"));
      fit.textContent = say("ui.correct_fit", { value: show(row().fitting) });
      out.textContent = say("ui.correct_out");
      box.hidden = !channel.batch?.editable;
    });
    return box;
  }

  const table = sortableTable({
    key: "ui.suspects",
    columns: [
      {
        key: "ui.pair",
        wide: true,
        cell: (/** @type {Suspect} */ one) => {
          const [a, b] = textsOf(one);
          return [`${channel.numberOf(one.pair)} · ${a}`, b];
        },
        by: ({ pair }) => channel.numberOf(pair),
        acts: verdictOf,
      },
      { key: "ui.label", cell: (one) => show(labelOf(one)), by: labelOf },
      { key: "ui.would_fit", cell: ({ fitting }) => show(fitting), by: ({ fitting }) => fitting },
      { key: "ui.second_opinion", cell: (one) => show(second(one)), by: second, spare: true },
      { key: "ui.contradicts", cell: ({ rate }) => percent(rate), by: ({ rate }) => rate },
    ],
    sorted: { column: 4, down: true },
    reach: ({ pair }) => channel.point([pair]),
    leave: () => channel.point(),
  });
  table.element.classList.add("lp-whole-words");

  // ---- A second opinion --------------------------------------------------------------------

  const model = h("input", { type: "text", id: "lp-second-model", spellcheck: false, autocomplete: "off" });
  const ask = worded("button.lp-button", "ui.second_ask", { type: "submit", id: "lp-second-ask" });
  const form = h(
    "form.lp-row.lp-wrap",
    {
      onsubmit: async (/** @type {Event} */ event) => {
        event.preventDefault();
        const key = channel.batch?.key ?? "";
        ask.disabled = true;
        const answer = await server.second_opinion({ scenario: channel.scenario, model: model.value });
        ask.disabled = false;
        if (!answer || answer.error) channel.warn(answer?.error ?? GONE);
        else {
          [opinion, opinionOf] = [answer, key];
          draw();
        }
      },
    },
    h("label.lp-inline", {}, worded("span", "ui.second_opinion"), model),
    ask,
    worded("span.lp-note", "ui.second_about"),
  );

  // ---- What was corrected ------------------------------------------------------------------

  const count = h("h3");
  const list = h("ul.lp-corrections");
  const { save } = takingFrom(channel, server);
  const corrections = h(
    "div",
    { hidden: true },
    count,
    worded("p.lp-note", "ui.corrections_note"),
    list,
    h(
      "div.lp-row.lp-wrap",
      {},
      worded("button.lp-button", "ui.take_corrected", { type: "button", onclick: () => save("corrected_csv") }),
      worded("button.lp-button", "ui.take_corrections", { type: "button", onclick: () => save("corrections_csv") }),
    ),
  );

  function tellCorrections() {
    const made = channel.scenario.data.corrections;
    corrections.hidden = !made.length;
    count.textContent = say("ui.corrections", { count: made.length });
    list.replaceChildren(
      ...made.map(([a, b, label]) =>
        h(
          "li",
          {},
          h("strong", {}, label === "" ? say("ui.correction_out") : `${say("ui.label")} ${label}`),
          " ",
          h("span", {}, `${a} | ${b}`),
          " ",
          worded("button.lp-crumb", "ui.undo", { type: "button", onclick: () => channel.correct(a, b, null) }),
        ),
      ),
    );
  }

  const element = h(
    "section",
    {},
    worded("h2", "ui.suspects"),
    doubtful,
    worded("p.lp-note", "ui.suspects_note"),
    expected,
    none,
    table.element,
    form,
    corrections,
  );

  function draw() {
    const { picture, batch } = channel;
    if (!picture || !batch) return;
    const { suspects, disagreement: usual } = picture;
    doubtful.hidden = !batch.foreign;
    none.hidden = suspects.length > 0;
    table.element.hidden = !none.hidden;
    form.hidden = !none.hidden || !batch.editable;
    expected.hidden = !usual;
    if (usual)
      expected.textContent = say("ui.suspects_expected", {
        count: suspects.length,
        expected: show(usual.expected, 2),
        low: usual.low,
        high: usual.high,
      });
    table.fill(suspects);
    tellCorrections();
  }

  return {
    element,
    draw,
    reword: () => reword(element),
    /** @param {(pairs: number[]) => boolean} all whether these pairs are pointed at */
    light: (all) => table.light(({ pair }) => all([pair])),
  };
}

// What if something about the batch were different: every loss before and after.
import { clip, h, reword, worded } from "../../../kit/dom.js";
import { numberField } from "../../../kit/fields.js";
import { apart, read, show } from "../../../kit/numbers.js";
import { say } from "../../../kit/words.js";
import { labelOf } from "../legend.js";
import { downloads } from "../taking.js";
import { experiment, headOf, refusedCell, varyTable } from "./experiment.js";
import { noticedWords } from "./wording.js";

/** @typedef {import("./experiment.js").Side} Side */
/** @typedef {import("../../../wire").ChangedState} State */

const KINDS = ["flip", "drop", "duplicate", "false_negative", "shift", "spread"];
const OF_PAIRS = KINDS.slice(0, 4);
/** @type {Record<string, [number, number, number]>} how far scores are shifted, or spread; and to begin with */
const REACH = { shift: [-1, 1, 0.2], spread: [0, 3, 0.5] };

/**
 * @param {import("./experiment.js").ComparePage} channel
 * @param {import("../../../kit/types").Asking<import("./experiment.js").CompareServer>} server
 * @returns {import("./experiment.js").Tool}
 */
export function whatIfTool(channel, server) {
  const entry = /** @type {import("../../../wire").StateEntry} */ (channel.store.table.get("by"));
  const change = h(
    "select",
    { id: "lp-vary-change", onchange: () => choose(change.value) },
    KINDS.map((name) => worded("option", `compare.vary.change.${name}`, { value: name })),
  );
  const pair = h("select", { id: "lp-vary-pair", onchange: () => channel.set({ pair: Number(pair.value) }) });
  const pairField = h("label.lp-inline", {}, worded("span", "compare.vary.pair"), pair);
  const asks = h("select", { id: "lp-vary-asks", onchange: () => channel.set({ by: Number(asks.value) }) });
  const asksField = h("label.lp-inline", {}, worded("span", "compare.vary.asks"), asks);
  const fields = Object.entries(REACH).map(([kind, [low, high, initial]]) => ({
    kind,
    ...numberField(
      { ...entry, low, high, default: initial },
      { key: `compare.vary.by.${kind}`, name: `vary-${kind}`, change: (by) => channel.set({ by }) },
    ),
  }));
  // A pair that was pointed at in a picture above is a press away.
  const last = h("button.lp-button", { type: "button", hidden: true, onclick: () => takePointed() });
  const hint = worded("span.lp-note", "compare.vary.pointed_hint");
  const sentences = h("p.lp-note.lp-vary-sentences");
  const summary = h("p.lp-vary-summary", { role: "status" });
  const heads = ["ui.loss", "figure.loss", "compare.vary.ratio", "figure.gradient", "figure.floor", "figure.collapse"];
  const { table, headings, body } = varyTable([...heads, "compare.vary.notices"]);
  const taking = downloads(channel, { name: "what-if", csv: asCsv });
  const box = h("div", {}, summary, h("div.lp-scroll", { tabIndex: 0, "data-title": "compare.vary.what_if" }, table));
  const asking = experiment(channel, server, {
    name: "what_if",
    box,
    asked: () => ({ change: kindNow(), pair: pairNow(), by: byNow() }),
    take,
  });
  const element = h(
    "div",
    {},
    h(
      "div.lp-bar.lp-vary-controls",
      {},
      h("label.lp-inline", {}, worded("span", "compare.vary.change"), change),
      pairField,
      asksField,
      fields.map(({ element: field }) => field),
      last,
      hint,
      taking.element,
    ),
    sentences,
    asking.note,
    box,
  );

  // ---- What is changed -----------------------------------------------------------------------

  /** @returns {string} */
  const kindNow = () => channel.store.state.change;
  const count = () => channel.batch?.labels.length ?? 1;
  const ofPairs = () => OF_PAIRS.includes(kindNow());
  // A pair of a larger batch than this one is its last.
  const pairNow = () => Math.min(channel.store.state.pair, count() - 1);
  function byNow() {
    const { by } = channel.store.state;
    if (kindNow() === "false_negative") return Math.max(0, Math.min(Math.trunc(by), count() - 1));
    return ofPairs() ? 0 : by;
  }
  let pointed = -1;

  /** @param {string} kind */
  function choose(kind) {
    channel.set({ change: kind, ...(REACH[kind] ? { by: REACH[kind][2] } : {}) });
  }

  function takePointed() {
    channel.set({ pair: pointed });
  }

  function remember() {
    const { pairs } = channel.pointed;
    if (pairs.length) pointed = pairs[pairs.length - 1];
    offerPointed();
  }

  function offerPointed() {
    const known = ofPairs() && pointed >= 0 && pointed < count();
    last.hidden = !known || pointed === pairNow();
    hint.hidden = !ofPairs() || known;
    last.textContent = known ? say("compare.vary.pointed", { pair: channel.numberOf(pointed) }) : "";
  }

  let listed = "";
  function offer() {
    const { batch } = channel;
    if (!batch) return;
    change.value = kindNow();
    // Where scores are moved, so is what is differentiated by.
    const gradient = headings[heads.indexOf("figure.gradient")];
    gradient.dataset.say = ofPairs() ? "figure.gradient" : "compare.vary.gradient_by_scores";
    reword(table);
    const all = Array.from({ length: count() }, (_, place) => place);
    if (listed !== `${batch.key}|${document.documentElement.lang}`) {
      listed = `${batch.key}|${document.documentElement.lang}`;
      for (const select of [pair, asks])
        select.replaceChildren(
          ...all.map((place) =>
            h("option", { value: place }, `${channel.numberOf(place)} · ${clip(batch.first[place] ?? "", 34)}`),
          ),
        );
    }
    pair.value = String(pairNow());
    asks.value = String(byNow());
    pairField.hidden = !ofPairs();
    asksField.hidden = kindNow() !== "false_negative";
    for (const { kind, element: field, set } of fields) {
      field.hidden = kind !== kindNow();
      if (!field.hidden) set(channel.store.state.by);
    }
    sentences.hidden = !ofPairs();
    const label = batch.labelled ? say("compare.labelled", { label: show(batch.labels[pairNow()]) }) : "";
    const texts = [batch.first, batch.second].map((one) => `“${clip(one[pairNow()] ?? "", 80)}”`);
    sentences.textContent = [...texts, label].filter(Boolean).join(" · ");
    offerPointed();
  }

  // ---- What came of it -----------------------------------------------------------------------

  /** @type {import("../../../wire").ChangedSide[]} */
  let found = [];
  /** @type {Side[]} */
  let of = [];

  /**
   * @param {import("../../../wire").ChangedSides} answer
   * @param {Side[]} sides
   */
  function take({ sides: told }, sides) {
    found = told;
    of = sides;
    draw();
  }

  function draw() {
    body.replaceChildren(...found.map(lineOf));
    summary.textContent = noticedWords(found.map(({ found: one }) => (one?.after ? one.notices : null)));
  }

  /**
   * @param {import("../../../wire").ChangedSide} side
   * @param {number} place
   */
  function lineOf({ found: one, problem }, place) {
    const wrong = one ? one.refused : problem;
    if (!one?.after) return h("tr", {}, headOf(of, place), wrong && refusedCell(wrong, heads.length));
    const { before, after, ratio, notices } = one;
    /** @param {keyof State} name */
    const both = (name) => {
      const [from, to] = [before[name], after[name]];
      if (from === null && to === null) return h("td", {}, "—");
      const [first, second] = told(from, to);
      return first === second ? h("td", {}, first) : h("td", {}, `${first} → `, h("b", {}, second));
    };
    return h(
      "tr",
      {},
      headOf(of, place),
      both("loss"),
      h(
        "td",
        {},
        ratio === null ? say("compare.vary.unknown") : `× ${show(ratio, Math.abs(Number(ratio) - 1) < 0.01 ? 6 : 3)}`,
      ),
      both("gradient"),
      both("floor"),
      both("collapse"),
      h(notices ? "td" : "td.lp-faint", {}, `${notices ? "●" : "○"} ${say(notices ? "ui.yes" : "ui.no")}`),
    );
  }

  /**
   * Two numbers with as many digits as tell them apart, or the same one twice where rounding does not.
   * @param {import("../../../wire").Real | null} from
   * @param {import("../../../wire").Real | null} to
   */
  function told(from, to) {
    const [first, second] = [read(from), read(to)];
    const near = Math.abs(Number(first) - Number(second)) <= 1e-9 * Math.abs(Number(first));
    if (first === null || second === null || near || show(first) !== show(second))
      return [show(from), show(near ? from : to)];
    return apart([first, second]);
  }

  function asCsv() {
    const names = /** @type {(keyof State)[]} */ (["loss", "gradient", "floor", "collapse"]);
    /** @type {(string | number)[][]} */
    const rows = [
      ["loss", "change", "pair", "by", ...names.flatMap((name) => [`${name}_before`, `${name}_after`]), "notices"],
    ];
    for (const [place, { found: one }] of found.entries())
      if (one)
        rows.push([
          ...[labelOf(of, place), kindNow(), ofPairs() ? Number(channel.numberOf(pairNow())) : "", byNow()],
          ...names.flatMap((name) => [one.before[name] ?? "", one.after?.[name] ?? ""]),
          String(one.notices),
        ]);
    return rows;
  }

  channel.on("pointed", remember);

  return {
    element,
    look: (inSight) => {
      offer();
      asking.look(inSight);
    },
    update: () => {
      offer();
      asking.ask();
    },
    reword: () => {
      offer();
      draw();
    },
  };
}

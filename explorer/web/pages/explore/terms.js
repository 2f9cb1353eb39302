// The heaviest terms of the sum, and where label and encoder disagree.
import { nameOf } from "../../kit/card.js";
import { h, reword, worded } from "../../kit/dom.js";
import { percent, read, show } from "../../kit/numbers.js";
import { sortableTable } from "../../kit/table.js";
import { language, say } from "../../kit/words.js";
import { suspectsPart } from "./suspects.js";

/** @typedef {import("../../wire").Term} Term */
/** @typedef {import("../../wire").Item} Item */

/**
 * @param {HTMLElement} root
 * @param {import("./state.js").Scene} channel
 * @param {import("../../kit/types").Asking<import("../../wire").ExploreServer>} server
 */
export default function terms(root, channel, server) {
  const headline = h("p.lp-note");

  /** @param {Item} item */
  const called = (item) => nameOf((pair) => channel.numberOf(pair), item.axis, item.item, item.pair);

  /**
   * What a term's row or column stands for, in lines: its number, then its words.
   * @param {Item | undefined} item
   */
  function linesOf(item) {
    if (!item || !channel.batch) return [""];
    const { first, second, sentences } = channel.batch;
    const number = called(item);
    if (item.axis === "pair") return [`${number} · ${first[item.pair] ?? ""}`, second[item.pair] ?? ""];
    if (item.axis === "candidate" && item.pair >= 0)
      return [`${channel.numberOf(item.pair)} · ${second[item.pair] ?? ""}`];
    if (item.sentence >= 0) return [`${number} · ${sentences[item.sentence]}`];
    return [`${say(`axis.one.${item.axis}`)} ${item.item + 1}`];
  }
  /** @param {Item | undefined} item */
  const placeOf = (item) => (item ? called(item) : -1);
  /** @param {Term} term */
  const rowOf = (term) => term.items.at(-2);
  /** @param {Term} term */
  const columnOf = (term) => term.items.at(-1);
  /** @param {Term} term */
  const pairsOf = (term) => [...new Set(term.items.map((item) => item.pair).filter((pair) => pair >= 0))];

  const list = h("div");
  const terms = sortableTable(
    list,
    {
      key: "ui.heaviest",
      columns: [
        {
          key: "ui.row",
          wide: true,
          cell: (/** @type {Term} */ term) => linesOf(rowOf(term)),
          by: (term) => placeOf(rowOf(term)),
        },
        {
          key: "ui.column",
          wide: true,
          cell: (term) => linesOf(columnOf(term)),
          by: (term) => placeOf(columnOf(term)),
        },
        { key: "ui.value", cell: (term) => show(term.value, 4), by: (term) => read(term.value) },
        { key: "ui.share", cell: (term) => percent(term.share), by: (term) => term.share },
      ],
      sorted: { column: 3, down: true },
    },
    (...told) => {
      if (told[0] !== "reach") {
        channel.point();
        return;
      }
      const [, term] = told;
      const [row, column] = term.items.map((item) => item.item);
      channel.point(pairsOf(term), term.items.length === 2 ? [row, column] : null);
    },
  );
  const suspects = suspectsPart(channel, server);
  root.append(worded("h2", "ui.heaviest"), headline, list, suspects.element);

  /**
   * How the weight is spread, and of which line of the definition it is the gradient.
   * @param {import("../../wire").Figures} figures
   */
  function told({ active, terms, carried, beside }) {
    const blank = language() === "zh" ? "" : " ";
    const [before, after] = say("ui.weight_note", { step: "<>" }).split("<>");
    return [
      say("ui.heaviest_note", { count: active, terms, share: percent(carried ?? 0) }),
      blank,
      before,
      h("code", {}, channel.spec.terms),
      after,
      beside ? blank + say("ui.weight_beside") : "",
    ];
  }

  /** @param {import("../../wire").Figures} figures */
  function missing({ terms: count }) {
    if (channel.picture?.parts) return "ui.terms_of_parts";
    return count === null ? "ui.terms_unnamed" : "ui.no_terms";
  }

  function draw() {
    const { picture, batch } = channel;
    if (!picture || !batch) return;
    const { heaviest, figures } = picture;
    terms.update({ data: heaviest });
    // The terms of some losses are one pair each: those have no row and column.
    const single = heaviest[0]?.items.length === 1;
    list.classList.toggle("lp-single", single);
    list.querySelectorAll("th [data-say]")[1].setAttribute("data-say", single ? "ui.pair" : "ui.column");
    reword(list);
    headline.replaceChildren(
      ...(heaviest.length ? told(figures) : [say(missing(figures), { step: channel.spec.terms })]),
    );
    suspects.draw();
  }

  function mark() {
    const { pairs } = channel.pointed;
    /** @param {number[]} listed */
    const all = (listed) => pairs.length > 0 && pairs.every((pair) => listed.includes(pair));
    terms.update({ state: { lit: (term) => all(pairsOf(term)) } });
    suspects.light(all);
  }

  channel.on("picture", draw);
  channel.on("pointed", mark);
  channel.on("language", draw);
}

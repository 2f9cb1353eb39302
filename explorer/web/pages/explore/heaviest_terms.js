// The heaviest terms of the sum, and where label and encoder disagree.
import { nameOf } from "../../kit/cell_card.js";
import { h, reword, worded } from "../../kit/dom.js";
import { percent, read, show } from "../../kit/number_format.js";
import { sortableTable } from "../../kit/sortable_table.js";
import { language, say } from "../../kit/translated_sentences.js";
import { suspectsPart } from "./suspicious_labels.js";

/** @typedef {import("../../wire").Term} Term */
/** @typedef {import("../../wire").Item} Item */

/** @typedef {import("./state.js").ExplorePage} ExplorePage */

/** @param {Term} term */
const rowOf = (term) => term.items.at(-2);
/** @param {Term} term */
const columnOf = (term) => term.items.at(-1);
/** @param {Term} term */
const pairsOf = (term) => [...new Set(term.items.map((item) => item.pair).filter((pair) => pair >= 0))];

/** @type {(page: ExplorePage, item: Item) => string | number} What a row or column of the matrix is called. */
const called = (page, item) => nameOf((pair) => page.numberOf(pair), item.axis, item.item, item.pair);

/**
 * What a term's row or column stands for, in lines: its number, then its words.
 * @type {(page: ExplorePage, item: Item | undefined) => import("../../kit/batch_text_with_picture.js").BatchText[]}
 */
function linesOf(page, item) {
  const of = page.batch;
  if (!item || !of) return [{ text: "" }];
  const before = `${called(page, item)} · `;
  const second = of.second[item.pair] ?? "";
  if (item.axis === "pair")
    return [
      { of, before, text: of.first[item.pair] ?? "" },
      { of, text: second },
    ];
  if (item.axis === "candidate" && item.pair >= 0)
    return [{ of, before: `${page.numberOf(item.pair)} · `, text: second }];
  if (item.sentence >= 0) return [{ of, before, text: of.sentences[item.sentence] }];
  return [{ text: `${say(`axis.one.${item.axis}`)} ${item.item + 1}` }];
}

/** @type {(page: ExplorePage) => import("../../kit/sortable_table.js").Column<Term>[]} */
function columnsOf(page) {
  /** @type {(key: string, itemOf: (term: Term) => Item | undefined) => import("../../kit/sortable_table.js").Column<Term>} */
  const words = (key, itemOf) => ({
    key,
    wide: true,
    cell: (term) => linesOf(page, itemOf(term)),
    by: (term) => {
      const item = itemOf(term);
      return item ? called(page, item) : -1;
    },
  });
  return [
    words("ui.row", rowOf),
    words("ui.column", columnOf),
    { key: "ui.value", cell: (term) => show(term.value, 4), by: (term) => read(term.value) ?? NaN },
    { key: "ui.share", cell: (term) => percent(term.share), by: (term) => term.share },
  ];
}

/**
 * How the weight is spread, and of which line of the definition it is the gradient.
 * @type {(spec: ExplorePage["spec"], figures: import("../../wire").Figures) => (string | HTMLElement)[]}
 */
function spreadOfWeight(spec, { active, terms, carried, beside }) {
  const blank = language() === "zh" ? "" : " ";
  const [before, after] = say("ui.weight_note", { step: "<>" }).split("<>");
  return [
    say("ui.heaviest_note", { count: active, terms, share: percent(carried ?? 0) }),
    blank,
    before,
    h("code", spec.terms),
    after,
    beside ? blank + say("ui.weight_beside") : "",
  ];
}

/** @param {ExplorePage} page */
function reasonOfNone({ picture }) {
  if (picture?.parts) return "ui.terms_of_parts";
  return picture?.figures.terms === null ? "ui.terms_unnamed" : "ui.no_terms";
}

/**
 * @param {HTMLElement} root
 * @param {import("./state.js").ExplorePage} page
 * @param {import("../../kit/types").Asking<import("../../wire").ExploreServer>} server
 */
export default function terms(root, page, server) {
  const headline = h("p.lp-note");

  const list = h("div");
  const terms = sortableTable(
    list,
    {
      key: "ui.heaviest",
      columns: columnsOf(page),
      sorted: { column: 3, down: true },
    },
    (...event) => {
      if (event[0] !== "reach") {
        page.point();
        return;
      }
      const [, term] = event;
      const [row, column] = term.items.map((item) => item.item);
      page.point(pairsOf(term), term.items.length === 2 ? [row, column] : null);
    },
  );
  const suspects = suspectsPart(page, server);
  root.append(worded("h2", "ui.heaviest"), headline, list, suspects.element);

  function draw() {
    const { picture, batch } = page;
    if (!picture || !batch) return;
    const { heaviest, figures } = picture;
    terms.update({ data: heaviest });
    // The terms of some losses are one pair each: those have no row and column.
    const single = heaviest[0]?.items.length === 1;
    list.classList.toggle("lp-single", single);
    list.querySelectorAll("th [data-say]")[1].setAttribute("data-say", single ? "ui.pair" : "ui.column");
    reword(list);
    headline.replaceChildren(
      ...(heaviest.length ? spreadOfWeight(page.spec, figures) : [say(reasonOfNone(page), { step: page.spec.terms })]),
    );
    suspects.draw();
  }

  function mark() {
    const { pairs } = page.pointed;
    /** @param {number[]} listed */
    const all = (listed) => pairs.length > 0 && pairs.every((pair) => listed.includes(pair));
    terms.update({ state: { lit: (term) => all(pairsOf(term)) } });
    suspects.light(all);
  }

  page.on("picture", draw);
  page.on("pointed", mark);
  page.on("language", draw);
}

// The head of the page: every side's figures in one table, and which values say nothing beside each other.
import { h, reword, worded } from "../../kit/dom.js";
import { counted, percent, read, show } from "../../kit/numbers.js";
import { problemBox } from "../../kit/problem.js";
import { landmarkScale } from "../../kit/scale.js";
import { entitle } from "../../kit/title.js";
import { has, language, say } from "../../kit/words.js";
import { letterOf, named, nameOf } from "./legend.js";
import { downloads } from "./taking.js";

/** @typedef {import("../../wire").ComparedFigures} Figures */

/**
 * A column of the table: what stands in its cells, "" for what a loss does not have.
 * @type {{ key: string, cell: (figures: Figures) => string }[]}
 */
const COLUMNS = [
  { key: "figure.gradient", cell: ({ gradient_norm }) => show(gradient_norm, 3) },
  { key: "figure.effective", cell: ({ effective }) => (effective === null ? "" : counted(effective, 3)) },
  { key: "compare.moving", cell: ({ moving, terms }) => ofAll(moving, terms) },
  { key: "compare.order", cell: rightly },
];

/**
 * The columns of the file: plain numbers at full precision, "" for what a loss does not have.
 * @type {Record<string, (figures: Figures) => number | string | boolean | null | undefined>}
 */
const CSV_COLUMNS = {
  value: ({ loss }) => loss,
  minimum: ({ floor }) => floor,
  minimum_is_lower_bound: ({ floor, floor_is_bound }) => (floor === null ? "" : Number(floor_is_bound)),
  value_at_collapse: ({ collapse }) => collapse,
  gradient_norm: ({ gradient_norm }) => gradient_norm,
  effective_terms: ({ effective }) => effective,
  moving_terms: ({ moving }) => moving,
  terms: ({ terms }) => terms,
  ranked_first: ({ places }) => places?.first,
  anchors: ({ places }) => places?.anchors,
  violated: ({ violated, ordered }) => (ordered ? violated : ""),
  comparisons: ({ ordered }) => ordered || "",
};

/**
 * @param {number | null} part
 * @param {number | null} all
 */
const ofAll = (part, all) => (part === null || all === null ? "" : say("figure.of", { part, all }));

/**
 * A loss that looks for the right one is judged by where that stands, any other by the order of the pairs.
 * @param {Figures} figures
 */
function rightly({ places, ordered, violated }) {
  if (places) return `${say(`figure.first_${places.kind}`)}: ${ofAll(places.first, places.anchors)}`;
  return ordered ? say("compare.violated", { share: percent(violated / ordered), all: ordered }) : "";
}

/**
 * @param {HTMLElement} root
 * @param {import("./state.js").ComparePage} channel
 */
export default function figures(root, channel) {
  const problem = problemBox(channel, () => channel.compared !== null);
  const about = h("p.lp-about");
  const asked = h("p.lp-asked", { hidden: true });
  const body = h("tbody");
  const heads = COLUMNS.map(({ key }) => worded("th", key, { scope: "col" }));
  const table = h(
    "table.lp-compared",
    {},
    h(
      "thead",
      {},
      h("tr", {}, worded("th", "ui.loss", { scope: "col" }), worded("th", "compare.value", { scope: "col" }), heads),
    ),
    body,
  );
  const judged = h("div.lp-judged");
  const taking = downloads(channel, { name: "compared", csv: asCsv });
  root.append(
    problem,
    h("div.lp-head", {}, h("div", {}, worded("h1", "compare.title"), about, asked)),
    h("div.lp-bar", {}, worded("h2", "compare.numbers"), taking.element),
    h("div.lp-scroll", { role: "region", tabIndex: 0, "data-title": "compare.numbers" }, table),
    judged,
  );
  reword(root);

  /**
   * Whether the value of a side may be read beside the base's.
   * @param {number} place
   */
  function reasonsOf(place) {
    return channel.twoOf(channel.pair[0], place)?.reasons ?? [];
  }

  /** @type {HTMLElement[]} */
  let lines = [];
  let built = "";

  // The question that the page began with, as long as it is the one that is shown.
  function ask() {
    const { question } = channel.store.state;
    asked.hidden = !has(`compare.answer.${question}`);
    if (!asked.hidden)
      asked.replaceChildren(h("b", {}, say(`compare.question.${question}`)), " ", say(`compare.answer.${question}`));
  }

  function draw() {
    ask();
    const { compared, batch, of: sides } = channel;
    if (!compared || !batch) return;
    about.textContent = say("compare.about", { count: batch.labels.length, sides: sides.length });
    const [base, other] = channel.pair;
    const key = `${JSON.stringify(sides.map(({ loss, convention, parameters }) => [loss, convention, parameters]))}${base}${other}${language()}`;
    if (key !== built) {
      built = key;
      lines = sides.map((_side, place) => lineOf(place));
      body.replaceChildren(...lines);
    }
    for (const [place, side] of compared.sides.entries()) fill(place, side);
    judge();
  }

  /** @param {number} place */
  function lineOf(place) {
    const [base, other] = channel.pair;
    const role = place === base ? "base" : place === other ? "other" : "";
    const choose = h(
      "button.lp-side-choice",
      {
        type: "button",
        "aria-pressed": String(Boolean(role)),
        title: say(role === "base" ? "compare.is_base" : "compare.hold"),
        onclick: () => (place === base ? undefined : channel.hold(base, place)),
      },
      named(channel.of, place),
    );
    const mark = role ? worded("small.lp-role", `compare.${role}`) : null;
    const turn =
      role === "other"
        ? h(
            "button.lp-square",
            { type: "button", "data-title": "compare.turn", onclick: () => channel.hold(place, base) },
            "⇅",
          )
        : null;
    return h(
      role ? `tr.lp-${role}` : "tr",
      {},
      h("th.lp-side-cell", { scope: "row" }, choose, " ", mark, " ", turn),
      h("td.lp-loss-cell"),
      COLUMNS.map(() => h("td")),
    );
  }

  /**
   * @param {number} place
   * @param {import("../../wire").ComparedSide} side
   */
  function fill(place, { figures: found, problem: wrong }) {
    const apart = reasonsOf(place).length > 0;
    const now = JSON.stringify([found, wrong, apart, channel.pair[0], language()]);
    if (lines[place].dataset.shown === now) return; // another side was moved
    lines[place].dataset.shown = now;
    const [, loss, ...cells] = /** @type {HTMLElement[]} */ ([...lines[place].children]);
    for (const cell of cells) cell.hidden = Boolean(wrong);
    loss.toggleAttribute("data-refused", Boolean(wrong));
    if (wrong || !found) {
      loss.setAttribute("colspan", String(COLUMNS.length + 1));
      loss.replaceChildren(h("span.lp-wrong", {}, wrong ? say(wrong.key, wrong.values) : ""));
      return;
    }
    loss.removeAttribute("colspan");
    loss.classList.toggle("lp-not-comparable", apart);
    const letter = letterOf(channel.pair[0]);
    const sign = apart
      ? h(
          "small.lp-apart",
          { title: say("compare.not_beside", { letter }) },
          " ",
          say("compare.not_beside_short", { letter }),
        )
      : "";
    loss.replaceChildren(h("strong", {}, show(found.loss, 5)), sign, h("div.lp-marks", {}, landmarkScale(found)));
    cells.forEach((cell, i) => {
      const text = COLUMNS[i].cell(found) || "—";
      if (cell.textContent !== text) cell.textContent = text;
    });
  }

  // What may be read beside what: of the two that are held against each other in words.
  function judge() {
    const [base, other] = channel.pair;
    const letters = { first: letterOf(base), second: letterOf(other) };
    const two = channel.twoOf(base, other);
    if (!two) {
      judged.replaceChildren();
      return;
    }
    const lines = two.reasons.map(({ key, values }) => h("li", {}, say(key, base < other ? values : turned(values))));
    const heading = lines.length ? say("compare.not_comparable_of", letters) : say("compare.comparable_of", letters);
    judged.replaceChildren(h("p", {}, heading), h("ul.lp-remarks", {}, lines, explained(base, other)));
  }

  /**
   * Of one loss in two conventions: by what the values differ here, and what the conventions say of it.
   * @param {number} base
   * @param {number} other
   */
  function explained(base, other) {
    const [one, two] = [channel.of[base], channel.of[other]];
    if (one.loss !== two.loss || one.convention === two.convention) return [];
    const notes = [base, other].flatMap((place) => {
      const { loss, convention } = channel.of[place];
      const note = channel.formOf(channel.of[place])?.note;
      const key = `loss.${loss}.note.${convention}`;
      const said = { letter: letterOf(place), convention, note: has(key) ? say(key) : note };
      return note ? [h("li", {}, say("compare.note_of", said))] : [];
    });
    const values = [base, other].map((place) => Number(read(channel.compared?.sides[place].figures?.loss)));
    if (!values[0] || !values.every(Number.isFinite)) return notes;
    const ratio = { first: letterOf(base), second: letterOf(other), ratio: show(values[1] / values[0], 6) };
    return [h("li", {}, say("compare.value_ratio", ratio)), ...notes];
  }

  /** @type {(values: Record<string, any>) => Record<string, any>} */
  const turned = ({ first, second, ...others }) => ({ ...others, first: second, second: first });

  function asCsv() {
    const rows = (channel.compared?.sides ?? []).map(({ figures: found, parameters }, place) => {
      const { loss, convention } = channel.of[place];
      const numbers = Object.values(CSV_COLUMNS).map((number) => String((found && number(found)) ?? ""));
      return [loss, convention, JSON.stringify(parameters), ...numbers];
    });
    return [["loss", "convention", "parameters", ...Object.keys(CSV_COLUMNS)], ...rows];
  }

  const entitleSides = () => entitle(channel.sides.map(nameOf).join(say("ui.versus")));

  channel.on("compared", draw);
  channel.on("state", () => {
    entitleSides();
    draw();
  });
  channel.on("language", () => {
    entitleSides();
    built = "";
    draw();
  });
}

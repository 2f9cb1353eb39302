// The sidebar: a question to begin with, the losses side by side, and the batch they are put on.
import { h, reword, worded } from "../../kit/dom.js";
import { foldable, labelled, section } from "../../kit/fields.js";
import { lossFinder } from "../../kit/finder.js";
import { pageData } from "../../kit/page_data.js";
import { guideWords, teacherWords } from "../../kit/second_models.js";
import {
  conventionField,
  groupsOf,
  lossSelect,
  parameterList,
  randomFields,
  tabbed,
  tellSkipped,
  twinsField,
} from "../../kit/sidebar.js";
import { say } from "../../kit/words.js";
import { chip, letterOf, nameOf } from "./legend.js";

/** @typedef {"example" | "random" | "table"} Source */

/** @type {Source[]} */
const SOURCES = ["example", "random", "table"];

/**
 * @param {HTMLElement} root
 * @param {import("./state.js").ComparePage} channel
 * @param {import("../../kit/types").Asking<import("../../wire").CompareServer>} server
 */
export default function controls(root, channel, server) {
  const { losses } = pageData;
  const { examples, questions, most, least, usual } = pageData.compare;

  // ---- A question --------------------------------------------------------------------------

  const question = h(
    "select",
    {
      id: "lp-question",
      "data-title": "compare.question",
      onchange: () => {
        if (question.value) channel.begin(question.value);
      },
    },
    worded("option", "compare.question.none", { value: "" }),
    Object.keys(questions).map((name) => worded("option", `compare.question.${name}`, { value: name })),
  );

  // ---- The losses --------------------------------------------------------------------------

  const list = h("ol.lp-sides-chosen");
  const more = worded("button.lp-button", "compare.add", { type: "button", id: "lp-add-side", onclick: add });

  const byName = lossFinder("lp-add-side-name", (loss, convention) => addSide({ loss, convention, parameters: {} }));

  // One that is not here yet, of those that people train with most.
  function add() {
    const known = channel.sides.map(({ loss }) => loss);
    const loss = usual.find((name) => name in losses && !known.includes(name)) ?? known[0];
    addSide({ loss, convention: "", parameters: {} });
  }
  /** @param {import("../../wire").ChosenLoss} side */
  function addSide(side) {
    channel.add(side);
    cards[channel.sides.length - 1]?.focus();
  }

  /** @param {number} place */
  function cardOf(place) {
    const chosen = lossSelect(`lp-side-${place}`, (loss) =>
      channel.setSide(place, { loss, convention: "", parameters: {} }),
    );
    const convention = conventionField(`lp-side-convention-${place}`, (name) =>
      channel.setSide(place, { convention: name, parameters: {} }),
    );
    const parameters = parameterList((name, value) => {
      channel.setParameter(place, name, value);
      tell();
    });
    const fold = h(
      "details.lp-fold.lp-side-parameters",
      {},
      worded("summary", "compare.parameters"),
      parameters.element,
    );
    const remove = h(
      "button.lp-square",
      { type: "button", "data-title": "compare.remove", onclick: () => channel.remove(place) },
      "×",
    );
    const open = h(
      "button.lp-square",
      { type: "button", "data-title": "compare.open_on_explore", onclick: () => explore(place) },
      "↗",
    );
    const said = h("p.lp-note.lp-side-said");
    const box = h(
      "li.lp-side-card",
      {},
      h("div.lp-row", {}, chip(place), chosen.element, open, remove),
      said,
      convention.element,
      fold,
    );
    reword(box);

    // The titles follow the language.
    const fill = () => chosen.fill(groupsOf(losses));
    const tell = () => {
      const side = channel.sides[place];
      const differs = Object.keys(side.parameters).length > 0;
      said.textContent = differs ? nameOf({ ...side, convention: "" }) : "";
      said.hidden = !differs;
    };
    fill();
    return {
      box,
      fill,
      focus: () => chosen.element.focus(),
      update() {
        const side = channel.sides[place];
        const form = channel.formOf(side);
        chosen.set(side.loss);
        chosen.element.setAttribute("aria-label", say("compare.loss_of", { letter: letterOf(place) }));
        remove.hidden = channel.sides.length <= least;
        if (!form) return;
        convention.set(losses[side.loss], side.convention);
        parameters.set(
          `${side.loss}|${side.convention}|${JSON.stringify(form.parameters)}`,
          form.parameters,
          side.parameters,
        );
        fold.hidden = !form.parameters.length;
        tell();
      },
    };
  }

  /** @type {ReturnType<typeof cardOf>[]} */
  const cards = [];
  function listSides() {
    const count = channel.sides.length;
    while (cards.length < count) cards.push(cardOf(cards.length));
    list.replaceChildren(...cards.slice(0, count).map(({ box }) => box));
    for (const card of cards.slice(0, count)) card.update();
    more.disabled = count >= most;
    byName.element.hidden = count >= most;
  }

  /** @param {number} place */
  async function explore(place) {
    const text = await channel.exploreLink(channel.sides[place]);
    if (text) location.href = `./#${text}`;
  }

  // ---- The batch ---------------------------------------------------------------------------

  const example = h(
    "select",
    { id: "lp-compare-example", onchange: () => channel.set({ data: { source: "example", example: example.value } }) },
    Object.keys(examples).map((id) => worded("option", `example.${id}.title`, { value: id })),
  );
  const about = h("p.lp-note");
  /** @type {(name: string, value: number | string) => void} */
  const setRandom = (name, value) =>
    channel.set({ data: { source: "random", random: { [name]: value } } }, { announce: false });
  const random = randomFields(channel.store.table, "data.random.", { labelsId: "lp-compare-labels" }, setRandom);
  const tableNote = h("p.lp-note");
  const secondModels = h("p.lp-note");
  const edit = worded("button.lp-button", "compare.edit_on_explore", { type: "button", onclick: () => explore(0) });
  const skipped = h("ul.lp-skipped", { hidden: true });
  const twins = twinsField("lp-compare-twins", ["keep", "leave_out"], (chosen) =>
    channel.set({ rules: { twins: chosen } }),
  );
  const panels = {
    example: h("div.lp-panel", {}, labelled("ui.example", example), about),
    random: h(
      "div.lp-panel",
      {},
      ["pairs", "candidates", "dimension"].map(random.element),
      random.labels,
      ["grades", "agreement", "mislabelled", "imbalance", "hard_negatives", "guide", "seed"].map(random.element),
    ),
    table: h("div.lp-panel", {}, tableNote, edit),
  };
  const sources = tabbed(
    {
      called: (name) => (name === "table" ? "compare.source.table" : `source.${name}`),
      names: SOURCES,
      tabId: "lp-compare-source",
      panels,
      panelId: "lp-compare-panel",
    },
    (source) => {
      sources.set(source);
      if (source !== "table") channel.set({ data: { source } });
      else if (channel.store.state.data.rows.length) channel.set({ data: { source } });
    },
  );

  function aboutData() {
    const { data } = channel.store.state;
    const batch = channel.problem ? null : channel.batch; // a refusal says what is missing of the new one
    const asksGuide = channel.sides.some((side) => channel.formOf(side)?.asks_guide);
    random.element("guide").hidden = !asksGuide && !data.random.guide;
    const asksTeacher = channel.sides.some((side) => channel.formOf(side)?.asks_teacher);
    const guide = asksGuide && batch ? guideWords(data, batch.guided) : "";
    const teacher = asksTeacher && batch ? teacherWords(data, batch.taught) : "";
    secondModels.textContent = [guide, teacher].filter(Boolean).join(" · ");
    const { note } = examples[data.example] ?? {};
    about.textContent = [say(`example.${data.example}.about`), note ? say(note) : ""].join(" ").trim();
    const count = data.rows.length;
    tableNote.textContent = count ? say("compare.rows", { count }) : say("compare.no_rows");
    tellSkipped(skipped, channel.skipped.length, channel.skipped);
  }

  // ---- Together ----------------------------------------------------------------------------

  root.append(
    section("compare.begin", question),
    section("compare.losses", list, more, byName.element),
    foldable("ui.data", sources.element, Object.values(panels), secondModels, skipped, twins.element),
  );
  reword(root);

  channel.on("state", () => {
    const { data, rules, question: asked } = channel.store.state;
    question.value = asked in questions ? asked : "";
    listSides();
    example.value = data.example;
    random.set(data.random);
    sources.set(data.source);
    twins.set(rules.twins);
    twins.element.hidden = !channel.sides.some((side) => channel.formOf(side)?.counted);
    aboutData();
  });
  channel.on("skipped", aboutData);
  channel.on("batch", aboutData);
  channel.on("problem", aboutData);
  channel.on("language", () => {
    byName.list();
    for (const card of cards) card.fill();
    listSides();
    aboutData();
  });
  channel.connect(server);
}

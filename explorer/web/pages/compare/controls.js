// The controls: the losses that are compared, each folded to its name, and the batch.
import { Section, Select, SkippedRows, TabPanel, Tabs } from "../../kit/components.js";
import { LossFields } from "../../kit/loss_fields.js";
import { letterOf, Named } from "../../kit/loss_legend.js";
import { pageData } from "../../kit/page_data.js";
import { group, h, show } from "../../kit/preact_view.js";
import { RandomFields, SameTexts } from "../../kit/scenario_fields.js";
import { guideWords, teacherWords } from "../../kit/second_models.js";
import { useState } from "../../kit/vendor/preact/hooks.js";
import { say } from "../../kit/words.js";
import { Unfoldable } from "./folding_section.js";

/** @typedef {{ channel: import("./state.js").ComparePage }} Page */
/** @typedef {Page & { place: number }} Placed */

const SOURCES = /** @type {const} */ (["example", "random", "table"]);

/** @param {Page} properties */
function Controls({ channel }) {
  channel.observe("state", "compared", "skipped", "batch", "problem");
  return group(
    h(
      Section,
      { title: say("compare.losses") },
      h(
        "ol.lp-sides-chosen",
        null,
        channel.sides.map((_side, place) => h(SideCard, { key: place, channel, place })),
      ),
      channel.sides.length < pageData.compare.most ? h(AddLoss, { channel }) : null,
    ),
    h(Unfoldable, {
      channel,
      name: "data",
      title: say("ui.data"),
      kind: "lp-fold",
      content: () => h(Batch, { channel }),
    }),
  );
}

// ---- The losses ----------------------------------------------------------------------------

/** @param {Placed} properties */
const SideCard = ({ channel, place }) =>
  h(
    "li",
    null,
    h(Unfoldable, {
      channel,
      name: `side-${place}`,
      kind: "lp-side-card",
      title: h(Named, { sides: channel.sides, place }),
      content: () => h(SideFields, { channel, place }),
    }),
  );

/** @param {Placed} properties */
function SideFields({ channel, place }) {
  return group(
    h(LossFields, {
      id: `lp-side-${place}`,
      label: say("compare.loss_of", { letter: letterOf(place) }),
      side: channel.sides[place],
      choose: (change) => channel.setSide(place, change),
      change: (name, value) => channel.setParameter(place, name, value),
    }),
    h(
      "div.lp-row",
      null,
      h(
        "button.lp-button",
        { type: "button", title: say("compare.open_on_explore"), onClick: () => openOnExplore(channel, place) },
        say("compare.edit_on_explore"),
      ),
      channel.sides.length > pageData.compare.least
        ? h("button.lp-button", { type: "button", onClick: () => channel.remove(place) }, say("compare.remove"))
        : null,
    ),
  );
}

/** @param {Page} properties */
function AddLoss({ channel }) {
  // One that is not compared yet, of those that people train with most.
  function addUsual() {
    const known = channel.sides.map(({ loss }) => loss);
    const loss = pageData.compare.usual.find((name) => name in pageData.losses && !known.includes(name)) ?? known[0];
    channel.unfold(`side-${channel.sides.length}`, true);
    channel.add({ loss, convention: "", parameters: {} });
  }
  return h("button.lp-button", { type: "button", id: "lp-add-side", onClick: addUsual }, say("compare.add"));
}

/** @type {(channel: import("./state.js").ComparePage, place: number) => Promise<void>} */
async function openOnExplore(channel, place) {
  const link = await channel.exploreLink(channel.sides[place]);
  if (link) location.href = `./#${link}`;
}

// ---- The batch -----------------------------------------------------------------------------

/** @param {Page} properties */
function Batch({ channel }) {
  const { data, rules } = channel.store.state;
  // Without pairs of one's own, their panel only says where to enter them.
  const [isEmptyTable, showEmptyTable] = useState(false);
  const source = isEmptyTable ? "table" : /** @type {keyof typeof PANELS} */ (data.source);
  const forms = channel.sides.map((side) => channel.formOf(side));
  return group(
    h(Tabs, {
      id: "lp-compare-source",
      label: say("ui.data"),
      names: [...SOURCES],
      chosen: source,
      title: (name) => say(name === "table" ? "compare.source.table" : `source.${name}`),
      choose: (name) => {
        const isEmpty = name === "table" && !data.rows.length;
        showEmptyTable(isEmpty);
        if (!isEmpty) channel.set({ data: { source: name } });
      },
    }),
    h(TabPanel, { id: "lp-compare-source", chosen: source }, h(PANELS[source], { channel })),
    h("p.lp-note", null, secondModels(channel, forms)),
    h(SkippedRows, { count: channel.skipped.length, reasons: channel.skipped }),
    forms.some((form) => form?.counted)
      ? h(SameTexts, {
          id: "lp-compare-twins",
          value: rules.twins,
          change: (twins) => channel.set({ rules: { twins } }),
        })
      : null,
  );
}

/**
 * The guide and the teacher of the batch, where a loss needs them.
 * @type {(channel: import("./state.js").ComparePage, forms: (import("../../wire").Form | undefined)[]) => string}
 */
function secondModels({ problem, batch, store }, forms) {
  if (problem || !batch) return ""; // a refusal says what is missing of the new batch
  const { data } = store.state;
  const guide = forms.some((form) => form?.asks_guide) ? guideWords(data, batch.guided) : "";
  const teacher = forms.some((form) => form?.asks_teacher) ? teacherWords(data, batch.taught) : "";
  return [guide, teacher].filter(Boolean).join(" · ");
}

/** @param {Page} properties */
function Example({ channel }) {
  const { examples } = pageData.compare;
  const { example } = channel.store.state.data;
  const note = examples[example]?.note;
  return group(
    h(Select, {
      id: "lp-compare-example",
      name: say("ui.example"),
      value: example,
      options: Object.keys(examples).map((id) => [id, say(`example.${id}.title`)]),
      change: (id) => channel.set({ data: { source: "example", example: id } }),
    }),
    h("p.lp-note", null, [say(`example.${example}.about`), note ? say(note) : ""].join(" ").trim()),
  );
}

/** @param {Page} properties */
function RandomBatch({ channel }) {
  const { random } = channel.store.state.data;
  const needsGuide = channel.sides.some((side) => channel.formOf(side)?.asks_guide);
  return h(RandomFields, {
    table: channel.store.table,
    prefix: "data.random.",
    labelsId: "lp-compare-labels",
    values: random,
    hidden: needsGuide || random.guide ? [] : ["guide"],
    change: (name, value) =>
      channel.set({ data: { source: "random", random: { [name]: value } } }, { announce: false }),
  });
}

/** @param {Page} properties */
function OwnPairs({ channel }) {
  const count = channel.store.state.data.rows.length;
  return group(
    h("p.lp-note", null, count ? say("compare.rows", { count }) : say("compare.no_rows")),
    h("button.lp-button", { type: "button", onClick: () => openOnExplore(channel, 0) }, say("compare.edit_on_explore")),
  );
}

const PANELS = { example: Example, random: RandomBatch, table: OwnPairs };

/**
 * @param {HTMLElement} root
 * @param {import("./state.js").ComparePage} channel
 * @param {import("../../kit/types").Asking<import("../../wire").CompareServer>} server
 */
export default function controls(root, channel, server) {
  show(root, Controls, { channel });
  channel.connect(server);
}

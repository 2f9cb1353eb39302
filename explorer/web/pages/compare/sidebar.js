// The controls: the losses that are compared, each folded to its name, and the batch.

import { letterOf, Named } from "../../kit/compared_loss_labels.js";
import { Section, TabPanel, Tabs } from "../../kit/components.js";
import { ExampleChoice } from "../../kit/example_choice.js";
import { SkippedRows } from "../../kit/file_reading_results.js";
import { SameTexts } from "../../kit/label_scale_and_duplicate_text_fields.js";
import { LossFields } from "../../kit/loss_choice.js";
import { guideWords, teacherWords } from "../../kit/model_names_as_shown.js";
import { pageData } from "../../kit/page_data.js";
import { group, h, show } from "../../kit/preact_view.js";
import { RandomFields } from "../../kit/random_batch_fields.js";
import { say } from "../../kit/translated_sentences.js";
import { useState } from "../../kit/vendor/preact/hooks.js";
import { FoldingSection } from "./folding_section.js";

/** @typedef {{ page: import("./state.js").ComparePage }} Page */
/** @typedef {Page & { place: number }} Placed */

const SOURCES = /** @type {const} */ (["example", "random", "table"]);

/** @param {Page} properties */
function Controls({ page }) {
  page.observe("state", "compared", "skipped", "batch", "problem");
  return group(
    h(
      Section,
      { title: say("compare.losses") },
      h(
        "ol.lp-sides-chosen",
        page.sides.map((_side, place) => h(SideCard, { key: place, page, place })),
      ),
      page.sides.length < page.most ? h(AddLoss, { page }) : null,
    ),
    h(FoldingSection, {
      page,
      name: "data",
      title: say("ui.data"),
      kind: "lp-fold",
      content: () => h(Batch, { page }),
    }),
  );
}

// ---- The losses ----------------------------------------------------------------------------

/** @param {Placed} properties */
const SideCard = ({ page, place }) =>
  h(
    "li",
    h(FoldingSection, {
      page,
      name: `side-${place}`,
      kind: "lp-side-card",
      title: h(Named, { sides: page.sides, place }),
      content: () => h(SideFields, { page, place }),
    }),
  );

/** @param {Placed} properties */
function SideFields({ page, place }) {
  return group(
    h(LossFields, {
      id: `lp-side-${place}`,
      label: say("compare.loss_of", { letter: letterOf(place) }),
      side: page.sides[place],
      choose: (change) => page.setSide(place, change),
      change: (name, value) => page.setParameter(place, name, value),
    }),
    h(
      "div.lp-row",
      h(
        "button.lp-button",
        { title: say("compare.open_on_explore"), onClick: () => openOnExplore(page, place) },
        say("compare.edit_on_explore"),
      ),
      page.sides.length > page.least
        ? h("button.lp-button", { onClick: () => page.remove(place) }, say("compare.remove"))
        : null,
    ),
  );
}

/** @param {Page} properties */
function AddLoss({ page }) {
  // One that is not compared yet, of those that people train with most.
  function addUsual() {
    const known = page.sides.map(({ loss }) => loss);
    const loss = pageData.compare.usual.find((name) => name in pageData.losses && !known.includes(name)) ?? known[0];
    page.unfold(`side-${page.sides.length}`, true);
    page.add({ loss, convention: "", parameters: {} });
  }
  return h("button.lp-button", { id: "lp-add-side", onClick: addUsual }, say("compare.add"));
}

/** @type {(page: import("./state.js").ComparePage, place: number) => Promise<void>} */
async function openOnExplore(page, place) {
  const link = await page.exploreLink(page.sides[place]);
  if (link) location.href = `./#${link}`;
}

// ---- The batch -----------------------------------------------------------------------------

/** @param {Page} properties */
function Batch({ page }) {
  const { data, rules } = page.store.state;
  // Without pairs of one's own, their panel only says where to enter them.
  const [isEmptyTable, showEmptyTable] = useState(false);
  const source = isEmptyTable ? "table" : /** @type {keyof typeof PANELS} */ (data.source);
  const forms = page.sides.map((side) => page.formOf(side));
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
        if (!isEmpty) page.set({ data: { source: name } });
      },
    }),
    h(TabPanel, { id: "lp-compare-source", chosen: source }, h(PANELS[source], { page })),
    h("p.lp-note", secondModels(page, forms)),
    h(SkippedRows, { count: page.skipped.length, reasons: page.skipped }),
    forms.some((form) => form?.counted)
      ? h(SameTexts, {
          id: "lp-compare-twins",
          value: rules.twins,
          change: (twins) => page.set({ rules: { twins } }),
        })
      : null,
  );
}

/**
 * The guide and the teacher of the batch, where a loss needs them.
 * @type {(page: import("./state.js").ComparePage, forms: (import("../../wire").Form | undefined)[]) => string}
 */
function secondModels({ problem, batch, store }, forms) {
  if (problem || !batch) return ""; // a refusal says what is missing of the new batch
  const { data } = store.state;
  const guide = forms.some((form) => form?.asks_guide) ? guideWords(data, batch.guided) : "";
  const teacher = forms.some((form) => form?.asks_teacher) ? teacherWords(data, batch.taught) : "";
  return [guide, teacher].filter(Boolean).join(" · ");
}

/** @param {Page} properties */
const Example = ({ page }) =>
  h(ExampleChoice, {
    id: "lp-compare-example",
    examples: pageData.compare.examples,
    chosen: page.store.state.data.example,
    change: (example) => page.set({ data: { source: "example", example } }),
  });

/** @param {Page} properties */
function RandomBatch({ page }) {
  const { random } = page.store.state.data;
  const needsGuide = page.sides.some((side) => page.formOf(side)?.asks_guide);
  return h(RandomFields, {
    table: page.store.table,
    prefix: "data.random.",
    labelsId: "lp-compare-labels",
    values: random,
    hidden: needsGuide || random.guide ? [] : ["guide"],
    change: (name, value) => page.set({ data: { source: "random", random: { [name]: value } } }, { announce: false }),
  });
}

/** @param {Page} properties */
function OwnPairs({ page }) {
  const count = page.store.state.data.rows.length;
  return group(
    h("p.lp-note", count ? say("compare.rows", { count }) : say("compare.no_rows")),
    h("button.lp-button", { onClick: () => openOnExplore(page, 0) }, say("compare.edit_on_explore")),
  );
}

const PANELS = { example: Example, random: RandomBatch, table: OwnPairs };

/**
 * @param {HTMLElement} root
 * @param {import("./state.js").ComparePage} page
 * @param {import("../../kit/types").Asking<import("../../wire").CompareServer>} server
 */
export default function controls(root, page, server) {
  show(root, Controls, { page });
  page.connect(server);
}

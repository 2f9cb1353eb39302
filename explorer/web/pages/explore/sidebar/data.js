// Where the batch comes from: an example, a table or file of one's own, or drawn at random.
import { Fold, TabPanel, Tabs, useDraft } from "../../../kit/components.js";
import { ExampleChoice } from "../../../kit/example_choice.js";
import { SkippedRows } from "../../../kit/file_reading_results.js";
import { pageData } from "../../../kit/page_data.js";
import { group, h } from "../../../kit/preact_view.js";
import { RandomFields } from "../../../kit/random_batch_fields.js";
import { say } from "../../../kit/translated_sentences.js";
import { EncoderFold } from "./encoder.js";
import { FilePanel } from "./file.js";
import { RulesFold } from "./positives_and_negatives.js";

/** @typedef {import("../state.js").ExplorePage} ExplorePage */
/** @typedef {import("./file.js").FileReading} FileReading */
/** @typedef {"example" | "table" | "file" | "random"} Source */
/** @typedef {{ page: ExplorePage, reading: FileReading }} Properties */

/** @type {Source[]} */
const SOURCES = ["example", "table", "file", "random"];
/** @type {Record<Source, import("../../../kit/types").Component<Properties>>} */
const PANELS = { example: ExamplePanel, table: TablePanel, file: FilePanel, random: RandomPanel };

/** @param {Properties} properties */
export function DataFold({ page, reading }) {
  page.observe("scenario", "batch", "source");
  const { data } = page.scenario;
  const name = data.source === "example" ? say(`example.${data.example}.title`) : "";
  /** @type {{ now: Source }} */
  const tab = useDraft(sourceOf(data)); // a tab may be looked into before its source is the scenario's
  return h(
    Fold,
    {
      title: group(
        h("span", say("ui.data_and_encoder")),
        " ",
        h("small", { "data-batch-text": "" }, name || data.file || say(`source.${data.source}`)),
      ),
      kind: "lp-fold",
    },
    h(Tabs, {
      id: "lp-source",
      label: say("ui.data_and_encoder"),
      names: SOURCES,
      chosen: tab.now,
      title: (one) => say(`source.${one}`),
      choose: (one) => {
        tab.now = /** @type {Source} */ (one);
        openSource(page, tab.now);
        page.publish("source");
      },
    }),
    h(TabPanel, { id: "lp-source", chosen: tab.now }, h(PANELS[tab.now], { page, reading })),
    h(EncoderFold, { page }),
    h(RulesFold, { page }),
  );
}

/** @type {(data: import("../../../wire").Data) => Source} */
const sourceOf = ({ source, file }) => (source === "table" && file ? "file" : /** @type {Source} */ (source));

/** @type {(page: ExplorePage, source: Source) => void} */
function openSource(page, source) {
  const { data } = page.scenario;
  if (source === "example" || source === "random") page.set({ data: { source } });
  if (source === "file" && data.file) page.set({ data: { source: "table" } });
  if (source === "table") {
    if (data.rows.length) page.setRows(data.rows);
    page.publish("edit");
  }
}

/** @param {Properties} properties */
function ExamplePanel({ page }) {
  return group(
    h(ExampleChoice, {
      id: "lp-example",
      examples: pageData.explore.examples,
      chosen: page.scenario.data.example,
      change: (example) => page.set({ data: { source: "example", example } }),
    }),
    page.batch?.editable
      ? h("button.lp-button", { id: "lp-edit-copy", onClick: () => editCopy(page) }, say("ui.edit_copy"))
      : null,
  );
}

/** @type {(page: ExplorePage) => void} An example or a file becomes rows of one's own, to change at will. */
function editCopy(page) {
  if (!page.batch) return;
  const { first, second, labels, labelled } = page.batch;
  /** @type {import("../../../kit/types").Row[]} */
  const rows = labels.map((label, i) => [first[i], second[i], labelled ? String(label) : ""]);
  page.setRows(rows);
  page.publish("edit");
}

/** @param {Properties} properties */
function TablePanel({ page }) {
  page.observe("skipped");
  const count = page.scenario.data.rows.length;
  const key = page.limited ? "ui.table_limited" : "ui.rows_entered";
  const entered = [say(key, { count, most: pageData.limits.pairs }), page.madeOf()];
  return group(
    h("p.lp-note", say("ui.table_about")),
    h("button.lp-button", { onClick: () => page.publish("edit") }, say("ui.edit_pairs")),
    h("p.lp-note", count ? entered.filter(Boolean).join(" ") : ""),
  );
}

/** @param {Properties} properties */
function RandomPanel({ page }) {
  const { random } = page.scenario.data;
  return h(RandomFields, {
    table: page.store.table,
    prefix: "data.random.",
    labelsId: "lp-random-labels",
    values: random,
    hidden: page.form.asks_guide || random.guide ? [] : ["guide"],
    change: (name, value) => page.set({ data: { source: "random", random: { [name]: value } } }, { announce: false }),
  });
}

/**
 * Rows that were left out: of the file by their numbers in it, of the table by theirs.
 * @param {{ page: ExplorePage }} properties
 */
export function RowsLeftOut({ page }) {
  page.observe("scenario", "skipped");
  const { source, file, reading } = page.scenario.data;
  const isFile = source === "table" && file !== "";
  const ofFile = isFile
    ? reading.reasons.map(([row, key, values]) => ({ row, key, values: Object.fromEntries(values) }))
    : [];
  const count = (isFile ? reading.left_out : 0) + page.skipped.length;
  return h(SkippedRows, { count, reasons: [...ofFile, ...page.skipped] });
}

// Where the batch comes from: an example, a table or file of one's own, or drawn at random.
import { Fold, Select, SkippedRows, TabPanel, Tabs, useDraft } from "../../../kit/components.js";
import { pageData } from "../../../kit/page_data.js";
import { group, h } from "../../../kit/preact_view.js";
import { RandomFields } from "../../../kit/scenario_fields.js";
import { say } from "../../../kit/words.js";
import { EncoderFold } from "./encoder.js";
import { FilePanel } from "./file.js";
import { RulesFold } from "./rules.js";

/** @typedef {import("../state.js").ExplorePage} ExplorePage */
/** @typedef {import("./file.js").FileReading} FileReading */
/** @typedef {"example" | "table" | "file" | "random"} Source */
/** @typedef {{ channel: ExplorePage, reading: FileReading }} Properties */

/** @type {Source[]} */
const SOURCES = ["example", "table", "file", "random"];
/** @type {Record<Source, import("preact").FunctionComponent<Properties>>} */
const PANELS = { example: ExamplePanel, table: TablePanel, file: FilePanel, random: RandomPanel };

/** @param {Properties} properties */
export function DataFold({ channel, reading }) {
  channel.observe("scenario", "batch", "source");
  const { data } = channel.scenario;
  const name = data.source === "example" ? say(`example.${data.example}.title`) : "";
  /** @type {{ now: Source }} */
  const tab = useDraft(sourceOf(data)); // a tab may be looked into before its source is the scenario's
  return h(
    Fold,
    {
      title: group(
        h("span", null, say("ui.data_and_encoder")),
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
        openSource(channel, tab.now);
        channel.publish("source");
      },
    }),
    h(TabPanel, { id: "lp-source", chosen: tab.now }, h(PANELS[tab.now], { channel, reading })),
    h(EncoderFold, { channel }),
    h(RulesFold, { channel }),
  );
}

/** @type {(data: import("../../../wire").Data) => Source} */
const sourceOf = ({ source, file }) => (source === "table" && file ? "file" : /** @type {Source} */ (source));

/** @type {(channel: ExplorePage, source: Source) => void} */
function openSource(channel, source) {
  const { data } = channel.scenario;
  if (source === "example" || source === "random") channel.set({ data: { source } });
  if (source === "file" && data.file) channel.set({ data: { source: "table" } });
  if (source === "table") {
    if (data.rows.length) channel.setRows(data.rows);
    channel.publish("edit");
  }
}

/** @param {Properties} properties */
function ExamplePanel({ channel }) {
  const { examples } = pageData.explore;
  const { example } = channel.scenario.data;
  const { note } = examples[example] ?? {};
  return group(
    h(Select, {
      id: "lp-example",
      name: say("ui.example"),
      value: example,
      options: Object.keys(examples).map((id) => [id, say(`example.${id}.title`)]),
      change: (id) => channel.set({ data: { source: "example", example: id } }),
    }),
    h("p.lp-note", null, [say(`example.${example}.about`), note ? say(note) : ""].join(" ").trim()),
    channel.batch?.editable
      ? h(
          "button.lp-button",
          { type: "button", id: "lp-edit-copy", onClick: () => editCopy(channel) },
          say("ui.edit_copy"),
        )
      : null,
  );
}

/** @type {(channel: ExplorePage) => void} An example or a file becomes rows of one's own, to change at will. */
function editCopy(channel) {
  if (!channel.batch) return;
  const { first, second, labels, labelled } = channel.batch;
  /** @type {import("../../../kit/types").Row[]} */
  const rows = labels.map((label, i) => [first[i], second[i], labelled ? String(label) : ""]);
  channel.setRows(rows);
  channel.publish("edit");
}

/** @param {Properties} properties */
function TablePanel({ channel }) {
  channel.observe("skipped");
  const count = channel.scenario.data.rows.length;
  const key = channel.limited ? "ui.table_limited" : "ui.rows_entered";
  const entered = [say(key, { count, most: pageData.limits.pairs }), channel.madeOf()];
  return group(
    h("p.lp-note", null, say("ui.table_about")),
    h("button.lp-button", { type: "button", onClick: () => channel.publish("edit") }, say("ui.edit_pairs")),
    h("p.lp-note", null, count ? entered.filter(Boolean).join(" ") : ""),
  );
}

/** @param {Properties} properties */
function RandomPanel({ channel }) {
  const { random } = channel.scenario.data;
  return h(RandomFields, {
    table: channel.store.table,
    prefix: "data.random.",
    labelsId: "lp-random-labels",
    values: random,
    hidden: channel.form.asks_guide || random.guide ? [] : ["guide"],
    change: (name, value) =>
      channel.set({ data: { source: "random", random: { [name]: value } } }, { announce: false }),
  });
}

/**
 * Rows that were left out: of the file by their numbers in it, of the table by theirs.
 * @param {{ channel: ExplorePage }} properties
 */
export function RowsLeftOut({ channel }) {
  channel.observe("scenario", "skipped");
  const { source, file, reading } = channel.scenario.data;
  const isFile = source === "table" && file !== "";
  const ofFile = isFile
    ? reading.reasons.map(([row, key, values]) => ({ row, key, values: Object.fromEntries(values) }))
    : [];
  const count = (isFile ? reading.left_out : 0) + channel.skipped.length;
  return h(SkippedRows, { count, reasons: [...ofFile, ...channel.skipped] });
}

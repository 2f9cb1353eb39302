// Where the pairs of a plan come from: ready-made ones, files, a scenario of Explore, a dataset of the hub.
import { Select, TabPanel, Tabs } from "../../../kit/components.js";
import { exampleOptions } from "../../../kit/example_choice.js";
import { ColumnFields, EncodingField } from "../../../kit/file_reading_fields.js";
import { withLabels } from "../../../kit/file_reading_results.js";
import { FilePicker } from "../../../kit/file_upload.js";
import { percent, show } from "../../../kit/number_format.js";
import { pageData } from "../../../kit/page_data.js";
import { group, h } from "../../../kit/preact_view.js";
import { agreeToSet } from "../../../kit/reader_consent.js";
import { stored } from "../../../kit/storage.js";
import { say } from "../../../kit/translated_sentences.js";
import { Button, Note, ProblemLine, TextBox } from "../form_components.js";
import { lossOf, readyMade, wholeLossOf } from "../plan_names.js";

/** @typedef {{ page: import("../state.js").FinetunePage }} Page */
/** @typedef {import("../plan_data_files_state.js").Entry} Entry */

const SMALL_HELD_OUT = 30; // pairs: below this the page says what they cannot show
const TABS = /** @type {const} */ (["example", "file", "link", "hub"]);

/** @param {Page} properties */
export function DataFields({ page }) {
  const { source, link } = page.plan.data;
  const chosen = /** @type {keyof typeof PANELS} */ (source === "practice" ? "example" : source);
  return group(
    h(Tabs, {
      id: "lp-finetune-source",
      label: say("finetune.source"),
      names: [...TABS],
      chosen,
      title: (name) => say(`finetune.source.${name}`),
      choose: (tab) =>
        tab === "example"
          ? page.setPlan({ data: readyMade(page.beside.ready) })
          : page.setPlan({
              data: { source: tab, ...(tab === "link" && !link ? { link: stored("scene") ?? "" } : {}) },
            }),
    }),
    h(TabPanel, { id: "lp-finetune-source", chosen }, h(PANELS[chosen], { page })),
    h(DataSummary, { page }),
  );
}

/** @param {Page} properties */
function ReadyMadePairs({ page }) {
  const { practice, examples } = pageData.finetune;
  const { ready } = page.beside;
  return group(
    h(Select, {
      id: "lp-finetune-example",
      label: say("finetune.ready"),
      value: ready,
      options: exampleOptions([...practice, ...examples]),
      change: (name) => page.setPlan({ data: readyMade(name) }),
    }),
    h(Note, { text: say(`example.${ready}.about`) }),
  );
}

/** @param {Page} properties */
const FileSource = ({ page }) =>
  group(
    h(Note, { text: say("finetune.file_about") }),
    h(FileField, { page, entry: "file", title: "ui.drop_file" }),
    h(Columns, { page }),
    h(FileField, { page, entry: "held_out_file", title: "finetune.held_out_file" }),
  );

/** @param {Page & { entry: Entry, title: string }} properties */
function FileField({ page, entry, title }) {
  page.observe("files");
  const { files } = page;
  const { name, answer, failure } = files.states[entry];
  const read = answer && !answer.problem ? say("ui.file_read", answer) : name;
  return h(
    "div.lp-panel",
    h(FilePicker, { id: `lp-finetune-${entry}`, title, take: (file) => files.handIn(entry, file) }),
    h(Note, { text: withLabels(read, answer, entry === "file") }),
    h(ProblemLine, { problem: failure }),
    answer && entry === "held_out_file"
      ? h(Button, { name: say("finetune.leave_file"), act: () => files.leave() })
      : null,
  );
}

/**
 * Which column is what, and which hold another wording of the first sentence.
 * @param {Page} properties
 */
function Columns({ page }) {
  page.observe("files");
  const { files } = page;
  const { answer } = files.states.file;
  if (!answer?.columns) return null;
  const { columns, chosen, unread = [] } = answer;
  const { alternatives } = page.plan.data;
  /** @type {(column: string, isTicked: boolean) => void} */
  const tick = (column, isTicked) => {
    const others = alternatives.filter((one) => one !== column);
    page.setPlan({ data: { alternatives: isTicked ? [...others, column] : others } });
  };
  return h(
    "div.lp-columns",
    h(EncodingField, { ...answer, change: (encoding) => files.reread(encoding) }),
    h(ColumnFields, { columns, roles: chosen, change: (role, column) => files.assign(role, column) }),
    unread.length ? h(Note, { text: say("finetune.alternatives") }) : null,
    unread.map((column) =>
      h(
        "label.lp-check",
        { key: column },
        h("input", {
          type: "checkbox",
          name: column,
          checked: alternatives.includes(column),
          onChange: (event) => tick(column, event.currentTarget.checked),
        }),
        h("span", column),
      ),
    ),
  );
}

/** @param {Page} properties */
const ScenarioSource = ({ page }) =>
  group(
    h(Note, { text: say("finetune.link_about") }),
    h(TextBox, {
      page,
      id: "link",
      name: say("finetune.link"),
      value: page.plan.data.link,
      put: (link) => ({ data: { link } }),
    }),
    h(TakeLinkedChoices, { page }),
  );

/**
 * A scenario says more than its pairs: the loss that was chosen there, and the rules.
 * @param {Page} properties
 */
function TakeLinkedChoices({ page }) {
  const { plan, checked } = page;
  const linked = checked?.of_scene;
  /** @param {import("../../../wire").ChosenThere} chosen */
  const rules = (chosen) =>
    JSON.stringify([
      wholeLossOf(chosen),
      chosen.threshold,
      chosen.label_range,
      chosen.extra_negatives,
      linked?.twins && chosen.twins,
      linked?.guide && chosen.guide,
      linked?.teacher_model && chosen.teacher_model,
    ]);
  if (!linked || rules(linked) === rules(plan)) return null;
  return h(Button, {
    id: "lp-finetune-take-scene",
    name: say("finetune.take_scene", { name: lossOf(linked) }),
    act: () => page.takeOver(structuredClone(linked)),
  });
}

/** @param {Page} properties */
const HubSource = ({ page }) =>
  group(
    h(TextBox, {
      page,
      id: "hub",
      name: say("finetune.hub"),
      value: page.plan.data.hub,
      example: "sentence-transformers/stsb",
      put: (text) => {
        agreeToSet(text);
        return { data: { hub: text.trim() } };
      },
    }),
    h(TextBox, {
      page,
      id: "split",
      name: say("finetune.split"),
      value: page.plan.data.split,
      put: (text) => ({ data: { split: text.trim() || "train" } }),
    }),
  );

/**
 * What the server found in the data, or why it cannot be used; a problem of the file stands at the file.
 * @param {Page} properties
 */
function DataSummary({ page }) {
  page.observe("files");
  const { checked, plan, files } = page;
  if (!checked) return null;
  const { error } = checked;
  if (error?.about === "unfilled") return null; // the start says it
  if (error) {
    const isAtFile = plan.data.source === "file" && JSON.stringify(files.states.file.failure) === JSON.stringify(error);
    return isAtFile || page.placeOf(error) !== "data" ? null : h(ProblemLine, { problem: error });
  }
  return h(Note, { text: foundWords(checked) });
}

/** @param {import("../../../wire").Checked} checked */
function foundWords(checked) {
  const { labels, labelled, train, held_out, skipped, notes, shared } = checked;
  const [low, high, count] = labels;
  const key = labelled ? "finetune.found" : "finetune.found_positives";
  const words = [
    say(key, { train, held_out, low: show(low), high: show(high), count }),
    skipped ? say("finetune.left_out", { count: skipped }) : "",
    ...(notes ?? []).map((note) => say(note.key, note.values)),
    held_out < SMALL_HELD_OUT ? smallWords(checked) : "",
    shared ? say("finetune.shared", { count: shared }) : "",
  ];
  return words.filter(Boolean).join(" ");
}

/** @type {(checked: import("../../../wire").Checked) => string} What so few held-out pairs cannot show. */
function smallWords({ held_out: count, by_chance: reach, level }) {
  if (reach === null) return say("finetune.few_queries", { share: percent(1 / count) });
  return say("finetune.few", { count, reach: show(reach, 2), level });
}

const PANELS = { example: ReadyMadePairs, file: FileSource, link: ScenarioSource, hub: HubSource };

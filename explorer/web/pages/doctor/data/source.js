// Where the rows of a dataset come from: an example, a file, the hub, or what was pasted.
import { TextField, useDraft } from "../../../kit/components.js";
import { clip } from "../../../kit/dom.js";
import { exampleOptions } from "../../../kit/example_choice.js";
import { withLabels } from "../../../kit/file_reading_results.js";
import { FileArrival } from "../../../kit/file_upload.js";
import { grouped } from "../../../kit/number_format.js";
import { pageData } from "../../../kit/page_data.js";
import { group, h } from "../../../kit/preact_view.js";
import { agreeToSet } from "../../../kit/reader_consent.js";
import { Slider } from "../../../kit/slider.js";
import { say, sentences } from "../../../kit/translated_sentences.js";
import { SourceSelect } from "../example_or_own_data_select.js";
import { PastedRows } from "../pasted_rows_box.js";

/** @typedef {{ page: import("../state.js").DoctorPage }} Page */

const SOURCES = /** @type {const} */ (["example", "file", "hub", "typed"]);

/** @param {Page} properties */
export function DataSource({ page }) {
  page.observe("examined");
  const { kind } = /** @type {{ kind: keyof typeof PANELS }} */ (page.data.state);
  return group(
    h(SourceSelect, {
      id: "lp-doctor-from",
      word: "doctor.from",
      kinds: SOURCES,
      examples: exampleOptions(pageData.doctor.sets),
      state: page.data.state,
      choose: (source) => page.data.begin(source),
    }),
    h(PANELS[kind], { page }),
  );
}

/** How the file that is checked was read, or what there is to choose from; null where there is no file. */
export function fileOf(/** @type {import("../state.js").DoctorPage} */ { data: { read } }) {
  if (read?.findings) return read.file ?? null;
  return read?.undecided ? read : null;
}

/**
 * How a file was read, by this name of it.
 * @param {import("../../../wire").LargeFile | import("../../../wire").UndecidedData | null} file
 * @param {string} name
 */
function readNote(file, name) {
  if (!file) return "";
  if ("undecided" in file) return say(file.columns.length ? "ui.file_undecided" : "ui.encoding_undecided", { name });
  const counts = { name: clip(name), used: grouped(file.used), total: grouped(file.total) };
  const ofClasses = "class" in file.chosen;
  const read = say(ofClasses ? "doctor.class.read" : file.limited ? "large.file_limited" : "large.file_read", counts);
  return withLabels(read, file);
}

/**
 * The slider of a count in a draft.
 * @type {(page: import("../state.js").DoctorPage, draft: { now: Record<string, any> }, name: string, title: string) =>
 *   import("preact").VNode}
 */
export const draftSlider = (page, draft, name, title) =>
  h(Slider, {
    ...{ name, title, entry: page.store.entry(`data.${name}`), value: draft.now[name], logarithmic: true },
    change: (value) => {
      draft.now[name] = value;
    },
  });

/** @param {Page} properties */
const ExampleNote = ({ page }) => h("p.lp-note", sentences(say(`example.${page.data.state.example}.about`))[0]);

/** @param {Page} properties */
function FileSource({ page }) {
  const { name } = page.data.state;
  const file = fileOf(page);
  const note = file ? `${readNote(file, name)} ${say("doctor.file_again")}` : clip(name);
  return h(FileArrival, {
    page,
    id: "lp-doctor-file",
    kinds: "doctor.file_kinds",
    most: pageData.doctor.bytes,
    note,
    take: (one, called) => page.data.begin({ kind: "file", file: one, name: called }),
  });
}

/** @param {Page} properties */
function HubSource({ page }) {
  const { hub, split, rows } = page.data.state;
  const draft = useDraft({ hub, split: split === "train" ? "" : split, rows });
  function fetchRows() {
    const { hub: id, split: part, rows: count } = draft.now;
    if (!id.trim()) return document.getElementById("lp-doctor-hub")?.focus();
    agreeToSet(id);
    page.data.begin({ kind: "hub", hub: id.trim(), split: part.trim() || "train", rows: count });
  }
  /** @type {(name: "hub" | "split", example: string, title: string) => import("preact").VNode} */
  const box = (name, example, title) =>
    h(TextField, {
      name: title,
      id: `lp-doctor-${name}`,
      value: draft.now[name],
      example,
      enter: fetchRows,
      change: (value) => {
        draft.now[name] = value;
      },
    });
  return group(
    box("hub", say("doctor.for_example", { value: "sentence-transformers/stsb" }), say("doctor.hub")),
    box("split", "train", say("doctor.hub_split")),
    draftSlider(page, draft, "rows", "doctor.hub_rows"),
    h("button.lp-button", { type: "button", id: "lp-doctor-fetch", onClick: fetchRows }, say("doctor.hub_fetch")),
    h("p.lp-note", readNote(fileOf(page), hub)),
    h("p.lp-note", say("doctor.hub_about")),
  );
}

/** @param {Page} properties */
const PastedSource = ({ page }) =>
  group(
    h(PastedRows, {
      id: "lp-doctor-pasted",
      name: say("doctor.pasted"),
      value: page.data.state.pasted,
      example: "sentence1\tsentence2\tscore",
      change: (pasted) => page.data.begin({ kind: "typed", pasted }),
    }),
    h("p.lp-note", readNote(fileOf(page), say("doctor.pasted_table"))),
  );

const PANELS = { example: ExampleNote, file: FileSource, hub: HubSource, typed: PastedSource };

// Where the log of a run comes from: an example, a file, what was pasted, or a folder of saved batches.
import { TextField, useDraft } from "../../../kit/components.js";
import { clip } from "../../../kit/dom.js";
import { FileArrival } from "../../../kit/file_upload.js";
import { pageData } from "../../../kit/page_data.js";
import { group, h } from "../../../kit/preact_view.js";
import { agree } from "../../../kit/reader_consent.js";
import { say } from "../../../kit/translated_sentences.js";
import { SourceSelect } from "../example_or_own_data_select.js";
import { PastedRows } from "../pasted_rows_box.js";

/** @typedef {{ page: import("../state.js").DoctorPage }} Page */

const SOURCES = /** @type {const} */ (["example", "file", "typed", "kept"]);

/** @param {Page} properties */
export function RunSource({ page }) {
  page.observe("examined_run");
  const { run } = page;
  const { kind, example } = /** @type {{ kind: keyof typeof PANELS, example: string }} */ (run.state);
  return group(
    h(SourceSelect, {
      id: "lp-doctor-by",
      word: "doctor.by",
      kinds: SOURCES,
      examples: logOptions(),
      state: { kind, example },
      choose: (source) => run.begin(source),
    }),
    h(PANELS[kind], { page }),
  );
}

export const logOptions = () => pageData.doctor.logs.map((name) => [name, say(`doctor.log.${name}`)]);

const ExampleNote = () => h("p.lp-note", say("doctor.log_note"));

/**
 * @param {Page & { id: string, note: string, take: (file: string, name: string) => void }} properties
 */
export const LogArrival = ({ page, ...options }) =>
  h(FileArrival, {
    page,
    kinds: "doctor.log_kinds",
    most: pageData.doctor.log_bytes,
    ...options,
  });

/** @param {Page} properties */
const FileSource = ({ page }) =>
  h(LogArrival, {
    page,
    id: "lp-doctor-log-file",
    note: page.run.state.name ? `${clip(page.run.state.name)} ${say("doctor.file_again")}` : "",
    take: (file, name) => page.run.begin({ kind: "file", file, name }),
  });

/** @param {Page} properties */
const PastedSource = ({ page: { run } }) =>
  group(
    h(PastedRows, {
      id: "lp-doctor-pasted-log",
      name: say("doctor.pasted_log"),
      value: run.state.pasted,
      example: "{'loss': 0.6925, 'grad_norm': 1.2, 'epoch': 0.1}",
      change: (pasted) => run.begin({ kind: "typed", pasted }),
    }),
    h("p.lp-note", say("doctor.typed_note")),
  );

/** @param {Page} properties */
function FolderSource({ page: { run } }) {
  const draft = useDraft(run.state.folder);
  function list() {
    const folder = draft.now.trim();
    if (!folder) return document.getElementById("lp-doctor-folder")?.focus();
    agree(folder);
    run.begin({ kind: "kept", folder });
  }
  return group(
    h(TextField, {
      name: say("doctor.kept_folder"),
      id: "lp-doctor-folder",
      value: draft.now,
      example: "runs/my-model",
      enter: list,
      change: (value) => {
        draft.now = value;
      },
    }),
    h("button.lp-button", { type: "button", id: "lp-doctor-kept", onClick: list }, say("doctor.kept_list")),
    h("p.lp-note", say("doctor.kept_note")),
  );
}

const PANELS = { example: ExampleNote, file: FileSource, typed: PastedSource, kept: FolderSource };

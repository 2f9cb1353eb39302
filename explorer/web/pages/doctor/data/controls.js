// The sidebar of the check of a dataset: its rows, the loss and the batch size that it is checked for.
import { Field, FileArrival, Fold, Section, Slider, TextField, useDraft } from "../../../kit/components.js";
import { clip } from "../../../kit/dom.js";
import { withLabels } from "../../../kit/files.js";
import { registered } from "../../../kit/loss_finder.js";
import { grouped } from "../../../kit/number_format.js";
import { pageData } from "../../../kit/page_data.js";
import { group, h } from "../../../kit/preact_view.js";
import { agree, agreeToSet, GONE } from "../../../kit/server.js";
import { groupsOf } from "../../../kit/sidebar_parts.js";
import { say, sentences } from "../../../kit/words.js";
import { PastedRows } from "../pasted_rows.js";
import { SourceSelect } from "../source_select.js";
import { Columns } from "./columns.js";

/** @typedef {{ page: import("../state.js").DoctorPage }} Page */

const LARGEST_SLID = 4096; // batch that the slider reaches
const SOURCES = /** @type {const} */ (["example", "file", "hub", "typed"]);

/** @param {Page} properties */
export function DataControls({ page }) {
  page.observe("examined");
  const { kind } = /** @type {{ kind: keyof typeof PANELS }} */ (page.data.state);
  const file = fileOf(page);
  return group(
    h(SourceSelect, {
      id: "lp-doctor-from",
      word: "doctor.from",
      kinds: SOURCES,
      examples: pageData.doctor.sets.map((name) => [name, say(`example.${name}.title`)]),
      state: page.data.state,
      choose: (source) => page.data.begin(source),
    }),
    h(PANELS[kind], { page }),
    file && kind !== "example" ? h(Columns, { file, check: page.data }) : null,
    h(Purpose, { page }),
    h(EncoderFields, { page }),
  );
}

/** How the file that is checked was read, or what there is to choose from; null where there is no file. */
function fileOf(/** @type {import("../state.js").DoctorPage} */ { data: { read } }) {
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
 * @param {import("../state.js").DoctorPage} page
 * @param {string} name
 */
function entryOf({ store }, name) {
  const entry = store.table.get(`data.${name}`);
  if (!entry) throw new RangeError(name);
  return entry;
}

/** @param {Page} properties */
const Ready = ({ page }) => h("p.lp-note", null, sentences(say(`example.${page.data.state.example}.about`))[0]);

/** @param {Page} properties */
function OwnFile({ page }) {
  const { name } = page.data.state;
  const file = fileOf(page);
  const note = file ? `${readNote(file, name)} ${say("doctor.file_again")}` : clip(name);
  return h(FileArrival, {
    page,
    id: "lp-doctor-file",
    kinds: "doctor.file_kinds",
    most: pageData.doctor.bytes,
    note,
    put: async (piece) => (await page.server?.hand_in(piece)) ?? { error: GONE },
    take: (one, called) => page.data.begin({ kind: "file", file: one, name: called }),
  });
}

/** @param {Page} properties */
function FromHub({ page }) {
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
    h(Slider, {
      entry: entryOf(page, "rows"),
      value: draft.now.rows,
      title: "doctor.hub_rows",
      name: "rows",
      logarithmic: true,
      change: (value) => {
        draft.now.rows = value;
      },
    }),
    h("button.lp-button", { type: "button", id: "lp-doctor-fetch", onClick: fetchRows }, say("doctor.hub_fetch")),
    h("p.lp-note", null, readNote(fileOf(page), hub)),
    h("p.lp-note", null, say("doctor.hub_about")),
  );
}

/** @param {Page} properties */
const Pasted = ({ page }) =>
  group(
    h(PastedRows, {
      id: "lp-doctor-pasted",
      name: say("doctor.pasted"),
      value: page.data.state.pasted,
      example: "sentence1\tsentence2\tscore",
      change: (pasted) => page.data.begin({ kind: "typed", pasted }),
    }),
    h("p.lp-note", null, readNote(fileOf(page), say("doctor.pasted_table"))),
  );

/**
 * What the dataset is checked for: a loss in batches of a size.
 * @param {Page} properties
 */
function Purpose({ page }) {
  const { batch, margin } = page.data.state;
  const loss = registered(page.data.state.loss);
  const ours = Object.fromEntries(Object.entries(pageData.losses).filter(([, { group: one }]) => one !== "own"));
  const hasMargin = pageData.doctor.with_margin.includes(loss);
  return h(
    Section,
    { title: say("doctor.examined_for") },
    h(
      "select",
      {
        id: "lp-doctor-for",
        "aria-label": say("ui.loss"),
        value: loss,
        onChange: (event) => page.data.set({ loss: event.currentTarget.value }),
      },
      groupsOf(ours).map(({ label, losses }) =>
        h(
          "optgroup",
          { label },
          losses.map(([value, title]) => h("option", { key: value, value }, title)),
        ),
      ),
    ),
    h(Slider, {
      entry: entryOf(page, "batch"),
      value: batch,
      title: "doctor.batch_size",
      name: "batch",
      high: LARGEST_SLID,
      logarithmic: true,
      change: (value) => page.data.set({ batch: value }),
    }),
    hasMargin
      ? h(NumberBox, {
          id: "lp-doctor-margin",
          title: say("doctor.for_margin"),
          value: margin === null ? "" : String(margin),
          step: "any",
          fits: () => true,
          change: (value) => page.data.set({ margin: value === "" ? null : Number(value) }),
        })
      : null,
  );
}

/**
 * A box for a number; one that does not fit is marked and not taken.
 * @param {{ id: string, title: string, value: string, step: number | "any", fits: (value: string) => boolean,
 *   change: (value: string) => void }} properties
 */
function NumberBox({ id, title, value, step, fits, change }) {
  const draft = useDraft(value);
  return h(
    Field,
    { name: title },
    h("input", {
      type: "number",
      id,
      value: draft.now,
      step,
      onInput: ({ currentTarget: box }) => {
        draft.now = box.value;
        const isGood = !box.validity.badInput && fits(box.value);
        box.classList.toggle("lp-bad", !isGood);
        if (isGood) change(box.value);
      },
    }),
  );
}

/** @param {Page} properties */
function EncoderFields({ page }) {
  const { encoder, most, tokens } = page.data.state;
  const longest = entryOf(page, "tokens").high ?? 0;
  const draft = useDraft({ encoder, most });
  function encode() {
    agree(draft.now.encoder);
    page.data.set({ ...draft.now, encoder: draft.now.encoder.trim() || pageData.doctor.encoder });
  }
  return h(
    Fold,
    { title: say("doctor.encoder"), kind: "lp-fold", open: Boolean(encoder) },
    h(TextField, {
      name: say("ui.encoder"),
      id: "lp-doctor-encoder",
      value: draft.now.encoder,
      example: pageData.doctor.encoder,
      change: (value) => {
        draft.now.encoder = value;
      },
    }),
    h(Slider, {
      entry: entryOf(page, "most"),
      value: draft.now.most,
      title: "doctor.encoded_pairs",
      name: "most",
      logarithmic: true,
      change: (value) => {
        draft.now.most = value;
      },
    }),
    h(
      "div.lp-row.lp-wrap",
      null,
      h("button.lp-button", { type: "button", id: "lp-doctor-encode", onClick: encode }, say("doctor.encode")),
      encoder
        ? h(
            "button.lp-button",
            { type: "button", onClick: () => page.data.set({ encoder: "" }) },
            say("doctor.without"),
          )
        : null,
    ),
    h("p.lp-note", null, say("doctor.encoder_note")),
    h(NumberBox, {
      id: "lp-doctor-tokens",
      title: say("doctor.tokens"),
      value: String(tokens),
      step: 1,
      fits: (value) =>
        value !== "" && Number.isInteger(Number(value)) && Number(value) >= 0 && Number(value) <= longest,
      change: (value) => page.data.set({ tokens: Number(value) }),
    }),
  );
}

const PANELS = { example: Ready, file: OwnFile, hub: FromHub, typed: Pasted };

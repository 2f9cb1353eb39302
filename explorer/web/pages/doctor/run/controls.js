// The sidebar of the check of a run: its log, its curves, and what is known beside it.
import { FileArrival, Fold, Section, Select, TextField, useDraft } from "../../../kit/components.js";
import { clip } from "../../../kit/dom.js";
import { pageData } from "../../../kit/page_data.js";
import { group, h } from "../../../kit/preact_view.js";
import { agree, GONE } from "../../../kit/server.js";
import { say } from "../../../kit/words.js";
import { exampleOf, LOSSES } from "../number/controls.js";
import { PastedRows } from "../pasted_rows.js";
import { SourceSelect } from "../source_select.js";

/** @typedef {{ page: import("../state.js").DoctorPage }} Page */

const SOURCES = /** @type {const} */ (["example", "file", "typed", "kept"]);

/** @param {Page} properties */
export function RunControls({ page }) {
  page.observe("examined_run");
  const { run } = page;
  const { kind } = /** @type {{ kind: keyof typeof PANELS }} */ (run.state);
  const { counts, settings } = pageData.doctor;
  const [batch, ...others] = counts;
  const more = [...others, ...settings];
  return group(
    h(SourceSelect, {
      id: "lp-doctor-by",
      word: "doctor.by",
      kinds: SOURCES,
      examples: logOptions(),
      state: { kind, example: run.state.example },
      choose: (source) => run.begin(source),
    }),
    h(PANELS[kind], { page }),
    h(Curves, { page }),
    kind === "kept" && !run.found
      ? null
      : group(
          h(KnownField, { page, name: "loss" }),
          h(KnownField, { page, name: batch }),
          h(
            Fold,
            { title: say("doctor.more_known", { count: more.length }), open: more.some((name) => run.state[name]) },
            h(
              "div.lp-doctor-counts",
              null,
              more.map((name) => h(KnownField, { page, name })),
            ),
          ),
          h(OtherRun, { page }),
        ),
  );
}

/**
 * Something that is known of the run, or with the prefix "other_" of the run beside it. What the log says
 * stands in it while it is empty.
 * @param {Page & { name: string, prefix?: "" | "other_" }} properties
 */
function KnownField({ page: { run }, name, prefix = "" }) {
  const logged = prefix ? run.found?.beside?.known[name] : run.found?.known[name];
  const isLoss = name === "loss";
  return h(TextField, {
    name: say(isLoss ? "doctor.loss" : `doctor.field.${name}`),
    id: `lp-run-${prefix}${name}`,
    value: run.state[prefix + name],
    example: logged === undefined || logged === "" ? (isLoss ? "" : exampleOf(name)) : String(logged),
    list: isLoss ? LOSSES : undefined,
    decimal: !isLoss,
    change: (value) => run.set({ [prefix + name]: value }),
  });
}

const logOptions = () => pageData.doctor.logs.map((name) => [name, say(`doctor.log.${name}`)]);

const Ready = () => h("p.lp-note", null, say("doctor.log_note"));

/**
 * @param {Page & { id: string, note: string, take: (file: string, name: string) => void }} properties
 */
const LogArrival = ({ page, ...options }) =>
  h(FileArrival, {
    page,
    kinds: "doctor.log_kinds",
    most: pageData.doctor.log_bytes,
    put: async (piece) => (await page.server?.hand_in(piece)) ?? { error: GONE },
    ...options,
  });

/** @param {Page} properties */
const OwnFile = ({ page }) =>
  h(LogArrival, {
    page,
    id: "lp-doctor-log-file",
    note: page.run.state.name ? `${clip(page.run.state.name)} ${say("doctor.file_again")}` : "",
    take: (file, name) => page.run.begin({ kind: "file", file, name }),
  });

/** @param {Page} properties */
const Pasted = ({ page: { run } }) =>
  group(
    h(PastedRows, {
      id: "lp-doctor-pasted-log",
      name: say("doctor.pasted_log"),
      value: run.state.pasted,
      example: "{'loss': 0.6925, 'grad_norm': 1.2, 'epoch': 0.1}",
      change: (pasted) => run.begin({ kind: "typed", pasted }),
    }),
    h("p.lp-note", null, say("doctor.typed_note")),
  );

/** @param {Page} properties */
function Folder({ page: { run } }) {
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
    h("p.lp-note", null, say("doctor.kept_note")),
  );
}

/**
 * Which columns of the log are its curves and its steps, where there is a choice.
 * @param {Page} properties
 */
function Curves({ page: { run } }) {
  const { found } = run;
  if (!found) return null;
  const names = Object.keys(found.curves);
  /** @type {(name: "curve" | "held_out" | "step", title: string, options: string[], value: string) => import("preact").VNode} */
  const select = (name, title, options, value) =>
    h(Select, {
      id: `lp-run-${name}`,
      name: say(title),
      value,
      options: [
        ...(value ? [] : [["", "–"]]),
        ...options.map((one) => [one, one === "#" ? say("doctor.step_rows") : one]),
      ],
      change: (one) => run.set({ [name]: one }),
    });
  return group(
    run.state.kind === "file" && found.steps.length > 1
      ? select("step", "doctor.step_column", found.steps, found.step)
      : null,
    names.length > 1 ? select("curve", "doctor.curve", names, found.curve) : null,
    names.length > 1 ? select("held_out", "doctor.held_out", names, found.held_out) : null,
  );
}

/**
 * Another run to compare with, and what is known of that one.
 * @param {Page} properties
 */
function OtherRun({ page }) {
  const { run } = page;
  const { other, other_name: name } = run.state;
  const { of_other } = pageData.doctor;
  /** @param {Record<string, string>} change */
  function choose(change) {
    run.set(change);
    page.publish("state");
  }
  // What was known of a run leaves with it, and so does its file.
  const forgotten = Object.fromEntries(["file", "name", ...of_other].map((one) => [`other_${one}`, ""]));
  return h(
    Section,
    { title: say("doctor.beside_it") },
    h(Select, {
      id: "lp-run-other",
      label: say("doctor.beside_log"),
      value: other,
      options: [["none", say("doctor.beside_none")], ...logOptions(), ["file", say("doctor.by.file")]],
      change: (one) => choose({ ...(one === "none" ? forgotten : {}), other: one }),
    }),
    other === "file"
      ? h(LogArrival, {
          page,
          id: "lp-doctor-other-file",
          note: name ? clip(name) : "",
          take: (file, called) => choose({ other: "file", other_file: file, other_name: called }),
        })
      : null,
    other === "none" ? null : of_other.map((one) => h(KnownField, { page, name: one, prefix: "other_" })),
  );
}

const PANELS = { example: Ready, file: OwnFile, typed: Pasted, kept: Folder };

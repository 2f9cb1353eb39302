// The sidebar of the check of a run: its curves, and what is known beside it.
import { Fold, Section, Select, TextField } from "../../../kit/components.js";
import { clip } from "../../../kit/dom.js";
import { pageData } from "../../../kit/page_data.js";
import { group, h } from "../../../kit/preact_view.js";
import { say } from "../../../kit/translated_sentences.js";
import { exampleOf, LOSSES } from "../number/number_and_sidebar_fields.js";
import { LogArrival, logOptions } from "./source.js";

/** @typedef {{ page: import("../state.js").DoctorPage }} Page */

const CHOSEN_CURVES = ["step", "curve", "held_out"];

/** @param {Page} properties */
export function RunControls({ page }) {
  page.observe("examined_run");
  const { run } = page;
  const { kind } = run.state;
  const { counts, settings } = pageData.doctor;
  const [batch, ...others] = counts;
  const more = [...others, ...settings];
  const curves = curvesOf(run);
  return group(
    kind === "kept" && !run.examined
      ? null
      : group(
          h(KnownField, { page, name: "loss" }),
          h(KnownField, { page, name: batch }),
          h(
            Fold,
            {
              title: say("ui.more_settings", { count: curves.length + more.length }),
              open: [...CHOSEN_CURVES, ...more].some((name) => run.state[name]),
            },
            curves,
            h(
              "div.lp-doctor-counts",
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
  const logged = prefix ? run.examined?.beside?.known[name] : run.examined?.known[name];
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

/**
 * Which columns of the log are its curves and its steps, where there is a choice.
 * @param {import("./check_state_and_requests.js").RunCheck} run
 */
function curvesOf(run) {
  const { examined } = run;
  if (!examined) return [];
  const names = Object.keys(examined.curves);
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
  const ofSteps = run.state.kind === "file" && examined.steps.length > 1;
  return [
    ...(ofSteps ? [select("step", "doctor.step_column", examined.steps, examined.step)] : []),
    ...(names.length > 1
      ? [
          select("curve", "doctor.curve", names, examined.curve),
          select("held_out", "doctor.held_out", names, examined.held_out),
        ]
      : []),
  ];
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

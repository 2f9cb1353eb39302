// What was checked, and what was found: one heading, then the report on the number, the dataset or the run.
import { ProblemBox } from "../../kit/components.js";
import { h, show } from "../../kit/preact_view.js";
import { Progress } from "../../kit/progress.js";
import { entitle } from "../../kit/title.js";
import { say } from "../../kit/translated_sentences.js";
import { useLayoutEffect } from "../../kit/vendor/preact/hooks.js";
import { DataReport } from "./data/report.js";
import { NumberReport } from "./number/explanations.js";
import { RunReport } from "./run/report.js";

const REPORTS = { number: NumberReport, data: DataReport, run: RunReport };
const TOPICS = ["state", "explained", "examined", "examined_run"];

/** @param {{ page: import("./state.js").DoctorPage }} properties */
function ReportPanel({ page }) {
  page.observe(...TOPICS);
  const { check, explained } = page;
  const value = check === "number" && explained ? explained.value.trim() : "";
  useLayoutEffect(() => entitle(say("doctor.document", { what: value || nameOf(page) })));
  return h(
    "div",
    { id: `doctor-${check}` },
    h(ProblemBox, { page, isShown: () => page.isShown }),
    h("h1", value ? say("doctor.why", { value }) : say(`doctor.check.${check}`)),
    h(Progress, { page }),
    h(REPORTS[check], { page }),
  );
}

/**
 * What the dataset or the run is called that is open.
 * @param {import("./state.js").DoctorPage} page
 */
function nameOf({ check, data, run }) {
  if (check === "number") return say("doctor.check.number");
  const { kind, example, name, hub, folder } = check === "data" ? data.state : run.state;
  if (kind === "example") return say(check === "data" ? `example.${example}.title` : `doctor.log.${example}`);
  return name || hub || folder || say(`doctor.check.${check}`);
}

/**
 * @param {HTMLElement} root
 * @param {import("./state.js").DoctorPage} page
 */
export default (root, page) => show(root, ReportPanel, { page });

// What is the matter with a dataset, the worst first; then which losses can learn from it, and a cleaned table.
import { Fold } from "../../../kit/components.js";
import { grouped } from "../../../kit/number_format.js";
import { group, h } from "../../../kit/preact_view.js";
import { say, titleOf } from "../../../kit/translated_sentences.js";
import { Lines, listed } from "../finding_card.js";
import { EncoderReport } from "./encoder_report.js";
import { DataFault, Searched } from "./finding_evidence.js";
import { SuitableLosses } from "./suitable_losses.js";

/** @typedef {import("./check_state_and_requests.js").DataCheck} DataCheck */

/** @param {{ page: import("../state.js").DoctorPage }} properties */
export function DataReport({ page: { data } }) {
  const { examined, classes, similarities } = data;
  if (classes) return h(ClassReport, { data, examined: classes });
  if (similarities) return h(Similarities, { similarities });
  if (!examined) return h(About, { text: say("doctor.about_data") });
  const { loss, batch } = data.state;
  const count = { count: examined.pairs, loss: titleOf(loss), batch };
  const rows = examined.rows < examined.pairs ? say("doctor.in_rows", { rows: examined.rows, batch }) : "";
  const about = say(examined.findings.length ? "doctor.examined" : "doctor.examined_none", count);
  return group(
    h(Findings, { about: `${about} ${rows}`, findings: examined.findings }),
    data.encoded ? h(EncoderReport, { data, examined, encoded: data.encoded }) : null,
    h(SuitableLosses, { data }),
    h(Cleaning, { data }),
    h(Searched, { looked: examined.looked, unlooked: examined.not_looked, open: !examined.findings.length }),
  );
}

/** @param {{ text: string }} properties */
const About = ({ text }) => h("p.lp-about", { "aria-live": "polite" }, text);

/** @typedef {import("./finding_evidence.js").Finding} Finding */

/** @param {{ about: string, findings: Finding[] }} properties */
const Findings = ({ about, findings }) =>
  group(
    h(About, { text: about }),
    listed(findings, (finding) => h(DataFault, { finding })),
  );

/**
 * Similarities without texts: the rows of a finding are numbers alone.
 * @param {{ similarities: import("../../../wire").DoctoredSimilarities }} properties
 */
const Similarities = ({ similarities: { about, findings } }) =>
  h(Findings, {
    about: about.join(" "),
    findings: findings.map(({ name, severity, said, advice }) => ({ name, severity, said, advice })),
  });

/**
 * A table of texts with their classes, for losses on classes.
 * @param {{ data: DataCheck, examined: import("../../../wire").ExaminedClasses }} properties
 */
function ClassReport({ data, examined }) {
  const count = { count: examined.rows, classes: examined.classes, batch: data.state.batch };
  const about = [
    say(examined.findings.length ? "doctor.class.examined" : "doctor.class.examined_none", count),
    say("doctor.about_classes"),
    examined.skipped ? say("doctor.class.skipped", { count: examined.skipped }) : "",
  ];
  /** @param {"largest" | "smallest"} name */
  const sizes = (name) =>
    say(`doctor.class.${name}`, {
      classes: examined[name].map((one) => `${one.name} (${grouped(one.count)})`).join(say("ui.between")),
    });
  const ends = /** @type {const} */ (["largest", "smallest"]).filter((name) => examined[name].length);
  return group(
    h(Findings, { about: about.join(" "), findings: examined.findings }),
    h(SuitableLosses, { data }),
    h(Cleaning, { data }),
    h(Searched, { looked: examined.looked, open: !examined.findings.length }, h(Lines, { lines: ends.map(sizes) })),
  );
}

/**
 * The rows that stay, and those that were left out, to take away.
 * @param {{ data: DataCheck }} properties
 */
function Cleaning({ data }) {
  const { classes, examined } = data;
  const { kept = 0 } = examined ?? classes ?? {};
  const total = examined?.pairs ?? classes?.rows ?? 0;
  const { rows = 0, kept_rows: keptRows = 0 } = examined ?? {};
  const changes = total > kept || (classes?.respelled ?? 0) > 0;
  const cleaned = rows < total && !classes ? "cleaned_rows" : "cleaned";
  const key = `doctor${classes ? ".class" : ""}.${changes ? cleaned : "clean_all"}`;
  /** @type {(what: "kept" | "left_out") => import("preact").VNode} */
  const take = (what) => h("button.lp-button", { onClick: () => data.takeAway(what) }, say(`doctor.take_${what}`));
  return h(
    "div.lp-clean",
    h(
      Fold,
      { title: say("doctor.clean") },
      h("p.lp-about", say(key, { kept, total, rows: keptRows, all: rows })),
      changes ? h("div.lp-row.lp-wrap", take("kept"), take("left_out")) : null,
    ),
  );
}

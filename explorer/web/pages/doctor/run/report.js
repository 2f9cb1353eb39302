// What is the matter with a run, the worst first, beside its curves between minimum and collapse.
import { floats } from "../../../kit/base64_arrays.js";
import { Notes } from "../../../kit/components.js";
import { clip } from "../../../kit/dom.js";
import { lineChart } from "../../../kit/line_chart.js";
import { grouped } from "../../../kit/number_format.js";
import { group, h, hosted } from "../../../kit/preact_view.js";
import { say } from "../../../kit/translated_sentences.js";
import { Card, Fault, Lines, listed } from "../finding_card.js";

/** @typedef {import("../../../wire").ExaminedRunLog} Found */
/** @typedef {Pick<Found, "drawn" | "collapse" | "floor">} Curves */

const COLOURS = ["accent", "up"];

/** @param {{ page: import("../state.js").DoctorPage }} properties */
export function RunReport({ page: { run } }) {
  if (run.batches) {
    const { batches, unfinished, state } = run;
    return h(SavedBatches, { batches, unfinished, folder: state.folder });
  }
  if (run.examined) return h(Report, { examined: run.examined, run });
  const about = run.state.kind === "kept" ? "doctor.about_kept" : "doctor.about_run";
  return h("p.lp-about", { "aria-live": "polite" }, say(about));
}

/** @param {{ examined: Found, run: import("./check_state_and_requests.js").RunCheck }} properties */
function Report({ examined, run }) {
  const [read, ...known] = examined.about;
  const { findings, link, scene } = examined;
  return group(
    h("p.lp-about", { "aria-live": "polite" }, read),
    listed(findings, (finding) => h(Fault, { finding })),
    findings.length ? null : h("ol.lp-findings", h(Card, { text: say("doctor.run.none_found") })),
    h(Plot, { title: "doctor.run_curves", heading: "h2", examined }),
    h("div.lp-known", examined.collapse === null ? h(Lines, { lines: known }) : h(Notes, { notes: known })),
    h(
      "div.lp-row.lp-wrap",
      link ? h("a.lp-button", { href: link }, say("doctor.what_is_its_value")) : null,
      scene ? h("a.lp-button", { href: `./#${scene}` }, say("doctor.run.open")) : null,
    ),
    examined.beside ? h(Comparison, { other: examined.beside, run }) : null,
  );
}

/** @param {{ other: NonNullable<Found["beside"]>, run: import("./check_state_and_requests.js").RunCheck }} properties */
function Comparison({ other, run: { state } }) {
  const name = state.other === "file" ? clip(state.other_name) : `“${say(`doctor.log.${state.other}`)}”`;
  return h(
    "section.lp-beside",
    h("h2", say("doctor.beside_title", { name })),
    listed(other.findings, (finding) => h(Fault, { finding })),
    h(Lines, { lines: other.about }),
    h(Plot, { title: "doctor.beside_curves", heading: "h3", examined: other }),
  );
}

/**
 * The batches that a training saved, each with the scenario that it opens in.
 * @param {{ batches: import("../../../wire").ListedBatch[], unfinished: number, folder: string }} properties
 */
function SavedBatches({ batches, unfinished, folder }) {
  const name = folder.split(/[\\/]/).at(-1) || folder;
  return group(
    h("p.lp-about", { "aria-live": "polite" }, say("doctor.kept_count", { count: batches.length, name })),
    h("p.lp-note", say(unfinished ? "doctor.kept_unfinished" : "doctor.kept_followed", { count: unfinished })),
    h(
      "ol.lp-findings.lp-faults.lp-kept",
      batches.map(({ step, said, scene }) =>
        h(
          "li.lp-finding",
          { "data-step": step },
          h("div.lp-finding-head", h("strong", say("doctor.kept_step", { step: grouped(step) }))),
          h("p", said),
          h("a.lp-button", { href: `./#${scene}` }, say("doctor.kept_open")),
        ),
      ),
    ),
  );
}

/** @param {{ title: string, heading: "h2" | "h3", examined: Curves }} properties */
const Plot = ({ title, heading, examined }) =>
  h(
    "div.lp-run-plot",
    hosted({
      kind: "figure",
      make: (root) => lineChart(root, { key: title, height: 260, heading }),
      update: (chart) => chart.update({ data: seriesOf(examined) }),
    }),
  );

/**
 * The curves, and lines at the value at collapse and at the minimum.
 * @param {Curves} examined
 */
function seriesOf(examined) {
  /** @type {import("../../../kit/line_chart.js").Series[]} */
  const series = examined.drawn.map(({ name, steps, values }, i) => ({
    name,
    colour: COLOURS[i],
    dash: i,
    x: floats(steps),
    y: floats(values),
  }));
  const every = series.flatMap(({ x }) => (x.length ? [x[0], x[x.length - 1]] : []));
  /** @type {import("../../../kit/types").Span} */
  const span = [Math.min(...every), Math.max(...every)];
  for (const name of /** @type {const} */ (["collapse", "floor"])) {
    const value = examined[name];
    if (value !== null) series.push({ name: say(`figure.${name}`), colour: name, dash: 2, x: span, y: [value, value] });
  }
  return { series, span };
}

// What is the matter with a run, the worst first, under its curves between floor and collapse.
import { floats } from "../../../kit/arrays.js";
import { lineChart } from "../../../kit/chart.js";
import { clip, h, reword, worded } from "../../../kit/dom.js";
import { grouped } from "../../../kit/numbers.js";
import { problemBox } from "../../../kit/problem.js";
import { say } from "../../../kit/words.js";
import { adviceOf, findingCard } from "../card.js";

/** @typedef {import("../../../wire").RunFinding} Finding */

const COLOURS = ["accent", "up"];

/**
 * @param {HTMLElement} root
 * @param {import("../state.js").DoctorPage} channel
 */
export default function findings(root, channel) {
  const door = channel.run;
  const problem = problemBox(channel, () => Boolean(door.found || door.batches));
  const about = h("p.lp-about", { "aria-live": "polite" });
  const known = h("ul.lp-remarks");
  const [figure, otherFigure] = [h("figure"), h("figure")];
  const chart = lineChart(figure, { key: "doctor.run_curves", height: 260 });
  const plot = h("div.lp-run-plot", { hidden: true }, figure);
  const otherChart = lineChart(otherFigure, { key: "doctor.beside_curves", height: 260 });
  const otherAbout = h("ul.lp-remarks");
  const otherTitle = h("h2");
  const compared = h("ol.lp-findings.lp-faults");
  const otherPlot = h("div.lp-run-plot", {}, otherFigure);
  const beside = h("section.lp-beside", { hidden: true }, otherTitle, compared, otherAbout, otherPlot);
  const kept = h("div", { hidden: true });
  const list = h("ol.lp-findings.lp-faults");
  const further = h("div.lp-row.lp-wrap");
  root.append(
    problem,
    h("div.lp-head", {}, h("div", {}, worded("h1", "doctor.title"), about)),
    known,
    kept,
    plot,
    list,
    further,
    beside,
  );
  reword(root);

  function draw() {
    const { found, batches } = door;
    plot.hidden = !found;
    kept.hidden = !batches;
    beside.hidden = !found?.beside;
    kept.replaceChildren();
    if (batches) drawKept(batches);
    if (!found) {
      if (!batches) about.textContent = say(door.state.kind === "kept" ? "doctor.about_kept" : "doctor.about_run");
      for (const one of [known, list, further]) one.replaceChildren();
      return;
    }
    const [read, ...rest] = found.about;
    about.textContent = read;
    known.replaceChildren(...rest.map((one) => h("li", {}, one)));
    drawCurves(chart, found);
    drawBeside();
    list.replaceChildren(...found.findings.map(cardOf));
    if (!found.findings.length) list.append(h("li.lp-finding", {}, h("p", {}, say("doctor.run.none_found"))));
    further.replaceChildren(
      ...(found.link ? [h("a.lp-button", { href: found.link }, say("doctor.what_is_its_value"))] : []),
      ...(found.scene ? [h("a.lp-button", { href: `./#${found.scene}` }, say("doctor.run.open"))] : []),
    );
  }

  // The batches that a training kept, each with the scene that it opens in.
  /** @param {import("../../../wire").ListedBatch[]} batches */
  function drawKept(batches) {
    const name = door.state.folder.split(/[\\/]/).at(-1) || door.state.folder;
    about.textContent = say("doctor.kept_count", { count: batches.length, name });
    kept.replaceChildren(
      h(
        "ol.lp-findings.lp-faults.lp-kept",
        {},
        batches.map(({ step, said, scene }) =>
          h(
            "li.lp-finding",
            { "data-step": step },
            h("div.lp-finding-head", {}, h("strong", {}, say("doctor.kept_step", { step: grouped(step) }))),
            h("p", {}, said),
            h("a.lp-button", { href: `./#${scene}` }, say("doctor.kept_open")),
          ),
        ),
      ),
    );
  }

  function drawBeside() {
    const other = door.found?.beside;
    if (!other) return;
    const { other: kind, other_name: name } = door.state;
    otherTitle.textContent = say("doctor.beside_title", {
      name: kind === "file" ? clip(name) : `“${say(`doctor.log.${kind}`)}”`,
    });
    compared.replaceChildren(...other.findings.map(cardOf));
    otherAbout.replaceChildren(...other.about.map((one) => h("li", {}, one)));
    drawCurves(otherChart, other);
  }

  /**
   * @param {import("../../../kit/chart.js").LineChart} chart
   * @param {Pick<import("../../../wire").ExaminedRunLog, "drawn" | "collapse" | "floor">} found
   */
  function drawCurves(chart, found) {
    /** @type {import("../../../kit/chart.js").Series[]} */
    const series = found.drawn.map(({ name, steps, values }, i) => ({
      name,
      colour: COLOURS[i],
      dash: i,
      x: floats(steps),
      y: floats(values),
    }));
    const every = series.flatMap(({ x }) => (x.length ? [x[0], x[x.length - 1]] : []));
    /** @type {import("../../../kit/types").Span} */
    const ends = [Math.min(...every), Math.max(...every)];
    for (const name of /** @type {const} */ (["collapse", "floor"])) {
      const value = found[name];
      if (value === null) continue;
      series.push({ name: say(`figure.${name}`), colour: name, dash: 2, x: ends, y: [value, value] });
    }
    chart.update({ data: { series, span: ends } });
  }

  /** @param {Finding} finding */
  function cardOf(finding) {
    return findingCard(finding, ...adviceOf(finding.advice));
  }

  channel.on("state", () => {
    root.hidden = channel.door !== "run";
  });
  channel.on("examined_run", draw);
  channel.on("language", draw);
}

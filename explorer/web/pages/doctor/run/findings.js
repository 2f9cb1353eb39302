// What is the matter with a run, the worst first, under its curves between floor and collapse.
import { floats } from "../../../kit/arrays.js";
import { lineChart } from "../../../kit/chart.js";
import { h, reword, worded } from "../../../kit/dom.js";
import { problemBox } from "../../../kit/problem.js";
import { say } from "../../../kit/words.js";
import { findingCard, pasteOf } from "../card.js";

/** @typedef {import("../../../wire").RunFinding} Finding */

const COLOURS = ["accent", "up"];

/**
 * @param {HTMLElement} root
 * @param {import("../state.js").DoctorPage} channel
 */
export default function findings(root, channel) {
  const door = channel.run;
  const problem = problemBox(channel, () => door.found !== null);
  const about = h("p.lp-about", { "aria-live": "polite" });
  const known = h("ul.lp-remarks");
  const chart = lineChart({ key: "doctor.run_curves", height: 260 });
  const plot = h("div.lp-run-plot", { hidden: true }, chart.element);
  const list = h("ol.lp-findings.lp-faults");
  const further = h("div.lp-row.lp-wrap");
  root.append(
    problem,
    h("div.lp-head", {}, h("div", {}, worded("h1", "doctor.title"), about)),
    known,
    plot,
    list,
    further,
  );
  reword(root);

  function draw() {
    const { found } = door;
    plot.hidden = !found;
    if (!found) {
      about.textContent = say("doctor.about_run");
      for (const one of [known, list, further]) one.replaceChildren();
      return;
    }
    const [read, ...rest] = found.about;
    about.textContent = read;
    known.replaceChildren(...rest.map((one) => h("li", {}, one)));
    drawCurves();
    list.replaceChildren(...found.findings.map(cardOf));
    if (!found.findings.length) list.append(h("li.lp-finding", {}, h("p", {}, say("doctor.run.none_found"))));
    further.replaceChildren(
      ...(found.link ? [h("a.lp-button", { href: found.link }, say("doctor.what_is_its_value"))] : []),
    );
  }

  function drawCurves() {
    const { found } = door;
    if (!found) return;
    /** @type {import("../../../kit/chart.js").Series[]} */
    const series = found.drawn.map(({ name, steps, values }, i) => ({
      name,
      colour: COLOURS[i],
      dash: i,
      x: floats(steps),
      y: floats(values),
    }));
    const every = series.flatMap(({ x }) => (x.length ? [x[0], x[x.length - 1]] : []));
    const ends = [Math.min(...every), Math.max(...every)];
    for (const name of /** @type {const} */ (["collapse", "floor"])) {
      const value = found[name];
      if (value === null) continue;
      series.push({ name: say(`figure.${name}`), colour: name, dash: 2, x: ends, y: [value, value] });
    }
    chart.draw(series, ends[0], ends[1]);
  }

  /** @param {Finding} finding */
  function cardOf(finding) {
    const [told, ...pastes] = finding.advice;
    return findingCard(finding, h("p", {}, told), ...pastes.map(pasteOf));
  }

  channel.on("state", () => {
    root.hidden = channel.door !== "run";
  });
  channel.on("examined_run", draw);
  channel.on("language", draw);
}

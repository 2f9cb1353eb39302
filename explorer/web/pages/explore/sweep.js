// What if a parameter were different: the loss, its gradient and its active terms along the range,
// with the two rules of thumb drawn in; and short trainings, which settle what rules cannot. Worked
// out when asked for.
import { heightsOf } from "../../kit/axis.js";
import { themeColour } from "../../kit/colours.js";
import { h, setText, worded } from "../../kit/dom.js";
import { figureButtons } from "../../kit/figure_choices.js";
import { saved } from "../../kit/files.js";
import { parameterValue } from "../../kit/form.js";
import { counted, percent, read, show } from "../../kit/numbers.js";
import { pageData } from "../../kit/page_data.js";
import { axisOver, band, plotlyChart } from "../../kit/plotly.js";
import { GONE } from "../../kit/server.js";
import { aboutTrials, valuesOf } from "../../kit/trials.js";
import { parameterName, say, titleOf } from "../../kit/words.js";
import { verdictOf } from "./wording.js";

/** @typedef {import("../../kit/types").Span} Span */
/** @typedef {"loss" | "gradient" | "active"} Name */

/**
 * The gradient spans decades, the loss sometimes; a share runs from 0 to 1.
 * @type {{ name: Name, write: (value: number) => string, logarithmic?: boolean, range?: Span }[]}
 */
const PANELS = [
  { name: "loss", write: (v) => show(v, 3) },
  { name: "gradient", write: (v) => show(v, 3), logarithmic: true },
  { name: "active", write: percent, range: [0, 1] },
];
const HEIGHT = 172;
const EXPORTED = /** @type {const} */ ([420, 190]); // pixels of a panel in a file
const MARGINS = { l: 46, r: 18, t: 10, b: 26 };
/** @type {Span} */
const BAND = [0.1, 10];

/**
 * @param {HTMLElement} root
 * @param {import("./state.js").Scene} channel
 * @param {import("../../kit/types").Asking<import("../../wire").ExploreServer>} server
 */
export default function sweep(root, channel, server) {
  const choice = h("select", {
    id: "lp-sweep",
    onchange: () => {
      found = null;
      ask();
    },
  });
  const choiceField = h("label.lp-inline", {}, worded("span", "sweep.parameter"), choice);
  const verdict = h("p.lp-sweep-verdict", { role: "status" });
  const key = h("p.lp-sweep-key");
  const panels = PANELS.map((panel) => {
    const said = h("span.lp-value");
    const head = h("div.lp-sweep-head", {}, worded("span", `sweep.${panel.name}`), said);
    const box = h("div.lp-sweep-panel", {}, head);
    const chart = plotlyChart(
      () => figureOf(panel),
      (plot) => {
        plot.on("plotly_hover", ({ points }) => point(points[0].x));
        plot.on("plotly_unhover", () => point(null));
        plot.on("plotly_click", ({ points }) => choose(points[0].x));
      },
    );
    box.append(chart.box);
    return { ...panel, said, chart, box };
  });
  const charts = h(
    "div.lp-sweep-panels",
    {},
    panels.map(({ box }) => box),
  );
  const trial = h("button.lp-button", {
    type: "button",
    id: "lp-sweep-trials",
    onclick: async () => {
      trial.disabled = true;
      const { file, columns, header, encoding } = channel.heldFile() ?? {};
      const { scenario } = channel;
      const answer = await server.trials({ scenario, parameter: choice.value, file, columns, header, encoding });
      trial.disabled = false;
      if (!answer || answer.error) channel.warn(answer?.error ?? GONE);
      else location.href = `finetune#${answer.started.join()}`;
    },
  });
  const tryOut = h("p.lp-note");
  const details = h(
    "details.lp-more",
    { ontoggle: ask },
    worded("summary", "sweep.title"),
    choiceField,
    verdict,
    charts,
    key,
    h("div.lp-row.lp-wrap", {}, ...figureButtons("button.lp-crumb", save)),
    h("div.lp-row.lp-wrap", {}, trial, tryOut),
  );
  root.append(details);

  /** @typedef {(typeof panels)[number]} Panel */
  /** @typedef {Omit<import("../../wire").Swept, Name> & { heights: Record<Name, number[] | null> }} Found */
  /** @type {Found | null} */
  let found = null;
  let foundFor = "";
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let asking;
  /** @type {number | null} */
  let reached = null; // the value under the pointer

  // ---- Asking ------------------------------------------------------------------------------

  /** @param {import("../../wire").Parameter} parameter */
  const isOn = (parameter) => parameterValue(parameter, channel.scenario.parameters) !== null;
  const numeric = () => channel.form.parameters.filter((one) => one.kind === "number" && isOn(one));
  /** @param {string} name */
  const nameOf = parameterName;

  function offer() {
    const known = numeric();
    details.hidden = known.length === 0;
    const names = known.map(({ name }) => name);
    if (String(Array.from(choice.options, ({ value }) => value)) !== String(names)) {
      choice.replaceChildren(...names.map((name) => h("option", { value: name })));
    }
    for (const option of choice.options) setText(option, nameOf(option.value));
    choiceField.hidden = known.length < 2;
  }

  // The curves stay while only their own parameter moves.
  function scene() {
    const { loss, convention, parameters } = channel.scenario;
    const others = Object.entries(parameters)
      .filter(([name]) => name !== choice.value)
      .sort();
    return JSON.stringify([channel.batch?.key, loss, convention, choice.value, others]);
  }

  function ask() {
    if (!details.open || details.hidden || !channel.batch || channel.problem) return;
    if (found && foundFor === scene()) {
      wait(false);
      draw();
      return;
    }
    // What stands there is of another scene, its verdict too.
    wait(true);
    clearTimeout(asking);
    asking = setTimeout(fetch, found ? 250 : 0);
  }

  /** @param {boolean} is */
  function wait(is) {
    for (const one of [charts, verdict]) one.classList.toggle("lp-waiting", is);
  }

  async function fetch() {
    const asked = scene();
    const answer = await server.sweep({ scenario: channel.scenario, parameter: choice.value });
    if (asked !== scene()) {
      ask();
      return;
    }
    wait(false);
    if (!answer || answer.error) {
      channel.warn(answer?.error ?? GONE);
      return;
    }
    const { loss, gradient, active, ...others } = answer;
    /** @param {import("../../wire").Real} value */
    const number = (value) => Number(read(value));
    const heights = { loss: loss.map(number), gradient: gradient.map(number), active: active?.map(number) ?? null };
    found = { ...others, heights };
    foundFor = asked;
    draw();
  }

  // ---- Drawing -----------------------------------------------------------------------------

  /** @param {string} name */
  function settingOf(name) {
    const known = numeric().find((one) => one.name === name);
    return known ? Number(parameterValue(known, channel.scenario.parameters)) : NaN;
  }

  /**
   * What the curve is worth at the value in force: the figure of the strip, not a point between two others.
   * @param {Name} name
   */
  function heightNow(name) {
    const figures = channel.picture?.figures;
    if (!figures) return NaN;
    if (name === "active") return (figures.active ?? NaN) / (figures.terms ?? NaN);
    return Number(read(name === "loss" ? figures.loss : figures.gradient_norm));
  }

  // Of a batch the file that it was drawn from, or a sample of it.
  function pairsTried() {
    const { whole } = channel.scenario.data.reading;
    const most = pageData.explore.tried;
    if (!channel.heldFile()) return say("sweep.try_pairs");
    const key = whole > most ? "sweep.try_pairs_sample" : "sweep.try_pairs_file";
    return say(key, { count: counted(Math.min(whole, most)) });
  }

  // Where the scene has sentences to learn from.
  /** @param {Found} of */
  function offerTrials({ trials }) {
    trial.hidden = !trials?.values.length;
    const about = { pairs: pairsTried() };
    tryOut.textContent = trials ? aboutTrials(trials, "sweep.try_about", about) : say("sweep.try_none");
    if (trials) trial.textContent = say("sweep.try", { values: valuesOf(trials) });
  }

  /**
   * @param {ReturnType<typeof import("../../kit/figure_choices.js").figureLook>} look
   * @param {number} ratio of a PNG
   */
  async function save(look, ratio) {
    if (!found) return;
    const shown = panels.filter(({ box }) => !box.hidden);
    const chart = {
      title: `${titleOf(channel.scenario.loss)} · ${say("sweep.title")} · ${nameOf(found.parameter)}`,
      panels: shown.map(({ name, chart: one }) => one.panel(...EXPORTED, say(`sweep.${name}`))),
      across: 2,
      caption: [verdict.textContent || say("sweep.title")],
    };
    const answer = await server.chart({ ...look, name: `lossprism-${channel.scenario.loss}-sweep`, chart });
    if (channel.check(answer) && answer?.text !== undefined) await saved(answer, ratio);
  }

  function draw() {
    if (!found || foundFor !== scene()) return;
    offerTrials(found);
    for (const panel of panels) drawPanel(panel, found);
    judge(found);
  }

  /**
   * The curve, with the bands of the rules and a dot where the scene stands.
   * @param {(typeof PANELS)[number]} panel
   */
  function figureOf(panel) {
    const heights = found?.heights[panel.name];
    if (!found || !heights) return null;
    const { values, advised, within, parameter } = found;
    const also = panel.logarithmic && within ? BAND : [];
    const { span, logarithmic } = heightsOf([heights], { ...panel, also });
    const ends = [values[0], values[values.length - 1]];
    /** @param {number} v */
    const inside = (v) => Math.max(ends[0], Math.min(ends[1], v));
    const shapes = [
      ...(advised
        ? [band("collapse", 0.2, { name: "advised", xref: "x", x0: inside(advised[0]), x1: inside(advised[1]) })]
        : []),
      ...(within ?? []).map(([x0, x1]) => band("floor", 1, { name: "within", xref: "x", x0, x1, y1: 0.03 })),
      ...(panel.name === "gradient" && within
        ? [band("floor", 0.2, { name: "norm-band", yref: "y", y0: BAND[0], y1: BAND[1] })]
        : []),
    ];
    const layout = {
      ...{ height: HEIGHT, margin: MARGINS, hovermode: "x", hoverdistance: -1, dragmode: false, shapes },
      xaxis: axisOver(ends, found.logarithmic, 6),
      yaxis: { ...axisOver(span, logarithmic, 6), ...(panel.range ? { tickformat: ".0%" } : {}) },
    };
    const curve = {
      type: "scatter",
      mode: "lines",
      x: values,
      y: heights,
      line: { color: themeColour("ink"), width: 2 },
    };
    const here = {
      x: [settingOf(parameter)],
      y: [heightNow(panel.name)],
      marker: { color: themeColour("accent"), size: 9 },
    };
    const dot = { type: "scatter", mode: "markers", hoverinfo: "skip", cliponaxis: false, ...here };
    return { data: [{ ...curve, hoverinfo: "none" }, dot], layout };
  }

  /**
   * @param {Panel} panel
   * @param {Found} of
   */
  function drawPanel(panel, { heights: all, parameter }) {
    const heights = all[panel.name];
    panel.box.hidden = !heights;
    if (!heights) return;
    panel.chart.draw();
    panel.chart.box.setAttribute(
      "aria-label",
      say("sweep.label", {
        what: say(`sweep.${panel.name}`),
        name: nameOf(parameter),
        from: panel.write(heights[0]),
        to: panel.write(heights[heights.length - 1]),
      }),
    );
    readPanel(panel);
  }

  /**
   * The value at the setting in force, or where the pointer is.
   * @param {Panel} panel
   */
  function readPanel({ name, write, chart, said }) {
    const heights = found?.heights[name];
    if (!found || !heights) return;
    const { values, parameter } = found;
    chart.mark(reached ?? settingOf(parameter));
    said.textContent = say("sweep.at", {
      value: write(reached === null ? heightNow(name) : heights[values.indexOf(reached)]),
      name: nameOf(parameter),
      at: show(reached ?? settingOf(parameter), 6), // a value in force may have more digits than those of the curve
    });
  }

  /**
   * What the two rules say of this batch, and whether they agree.
   * @param {Found} of
   */
  function judge({ advised, within, parameter }) {
    key.replaceChildren(
      ...["now", "advised", "band"]
        .filter((part) => (part !== "advised" || advised) && (part !== "band" || within))
        .map((part) => h("span", {}, h(`i.lp-key-${part}`), say(`sweep.key_${part}`))),
    );
    verdict.hidden = !within;
    if (within) verdict.textContent = verdictOf(nameOf(parameter), advised, within);
  }

  // ---- Pointing: the value under the pointer is read, a click takes it ----------------------

  /** @param {number | null} value */
  function point(value) {
    reached = value;
    for (const panel of panels) readPanel(panel);
  }

  /** @param {number} value */
  function choose(value) {
    if (!found) return;
    const rounded = Number(value.toPrecision(6));
    channel.set({ parameters: { ...channel.scenario.parameters, [found.parameter]: rounded } });
  }

  channel.on("scenario", () => {
    offer();
    ask();
  });
  channel.on("picture", () => {
    offer();
    ask();
  });
  channel.on("language", () => {
    offer();
    draw();
  });
}

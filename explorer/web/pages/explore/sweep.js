// What if a parameter were different: the loss, its gradient and its active terms along the range, with the two
// rules of thumb drawn in; and short trainings, which settle what rules cannot. Computed once it is opened.

import { Select } from "../../kit/components.js";
import { FigureButtons } from "../../kit/figure_export_options.js";
import { saveAnswer } from "../../kit/file_downloads.js";
import { counted, percent, read, show as written } from "../../kit/number_format.js";
import { pageData } from "../../kit/page_data.js";
import { parameterValue } from "../../kit/parameter_value_or_default.js";
import { Plot } from "../../kit/plotly_component.js";
import { group, h, show } from "../../kit/preact_view.js";
import { aboutTrials, valuesOf } from "../../kit/short_training_offer_sentences.js";
import { parameterName, say, titleOf } from "../../kit/translated_sentences.js";
import { useEffect, useMemo, useRef, useState } from "../../kit/vendor/preact/hooks.js";
import { figureOf } from "./sweep_figure.js";
import { verdictOf } from "./sweep_verdict.js";

/** @typedef {import("./state.js").ExplorePage} ExplorePage */
/** @typedef {import("../../kit/types").Asking<import("../../wire").ExploreServer>} Server */
/** @typedef {import("../../kit/plotly_component.js").PlotlyChart} PlotlyChart */
/** @typedef {import("./sweep_figure.js").Panel} Panel */
/** @typedef {import("./sweep_figure.js").SweptCurves} SweptCurves */
/** @typedef {{ page: ExplorePage, server: Server }} Properties */
/** @typedef {Properties & { curves: SweptCurves }} Swept */

/**
 * The gradient spans decades, the loss sometimes; a share runs from 0 to 1.
 * @type {Panel[]}
 */
const PANELS = [
  { name: "loss", write: (v) => written(v, 3) },
  { name: "gradient", write: (v) => written(v, 3), logarithmic: true },
  { name: "active", write: percent, range: [0, 1] },
];
const EXPORTED_PANEL_PX = /** @type {const} */ ([420, 190]); // pixels of a panel in a file
const DEBOUNCE_MS = 250;

/** @param {Properties} properties */
function Sweep({ page, server }) {
  page.observe("scenario", "picture");
  const [isOpen, setOpen] = useState(false);
  const [chosen, choose] = useState("");
  const names = numbersOf(page).map(({ name }) => name);
  const name = names.includes(chosen) ? chosen : (names[0] ?? "");
  const { curves, isCurrent } = useCurves(page, server, isOpen ? name : "");
  return h(
    "details.lp-more",
    { hidden: !names.length, onToggle: (event) => setOpen(event.currentTarget.open) },
    h("summary", say("sweep.title")),
    names.length > 1
      ? h(Select, {
          id: "lp-sweep",
          name: say("sweep.parameter"),
          inline: true,
          value: name,
          options: names.map((one) => [one, parameterName(one)]),
          change: choose,
        })
      : null,
    curves ? h(Curves, { page, server, curves, isCurrent }) : null,
  );
}

/**
 * The parameters along which the loss can be swept: numbers that are not off.
 * @param {ExplorePage} page
 */
const numbersOf = ({ form, scenario }) =>
  form.parameters.filter((one) => one.kind === "number" && parameterValue(one, scenario.parameters) !== null);

// ---- The request -------------------------------------------------------------------------------

/**
 * What the curves along a parameter depend on; they stay while only that parameter moves.
 * @type {(page: ExplorePage, name: string) => string}
 */
function keyOf({ batch, scenario }, name) {
  const { loss, convention, parameters } = scenario;
  const others = Object.entries(parameters).filter(([other]) => other !== name);
  return JSON.stringify([batch?.key, loss, convention, name, others.sort()]);
}

/**
 * The newest curves, null before there are any, and whether they are of the scenario as it is. Asks for those along the
 * parameter `name`, "" for none, once nothing has changed for a moment.
 * @type {(page: ExplorePage, server: Server, name: string) => { curves: SweptCurves | null; isCurrent: boolean; }}
 */
function useCurves(page, server, name) {
  const [curves, setCurves] = useState(/** @type {SweptCurves | null} */ (null));
  const key = keyOf(page, name);
  const isCurrent = curves?.key === key;
  const missing = name && page.batch && !page.problem && !isCurrent ? key : "";
  useEffect(() => {
    if (!missing) return undefined;
    const asking = setTimeout(
      async () => {
        const answer = await server.sweep({ scenario: page.scenario, parameter: name });
        if (missing !== keyOf(page, name)) return; // the scenario moved on and asks anew
        if (answer.error) page.warn(answer.error);
        else setCurves(curvesIn(answer, missing));
      },
      curves ? DEBOUNCE_MS : 0,
    );
    return () => clearTimeout(asking);
  }, [missing]);
  return { curves, isCurrent };
}

/** @type {(answer: import("../../wire").Swept, key: string) => SweptCurves} */
function curvesIn({ loss, gradient, active, ...others }, key) {
  /** @param {import("../../wire").Real} value */
  const number = (value) => Number(read(value));
  const heights = { loss: loss.map(number), gradient: gradient.map(number), active: active?.map(number) ?? null };
  return { ...others, heights, key };
}

// ---- The curves --------------------------------------------------------------------------------

/** @param {Swept & { isCurrent: boolean }} properties */
function Curves({ page, server, curves, isCurrent }) {
  const [reached, reach] = useState(/** @type {number | null} */ (null)); // the value under the pointer
  const charts = useRef(/** @type {Map<string, PlotlyChart>} */ (new Map())).current;
  const panels = PANELS.filter(({ name }) => curves.heights[name]);
  const { advised, within, parameter } = curves;
  const verdict = within ? verdictOf(parameterName(parameter), advised, within) : "";
  // What stands here while curves of another scenario are on their way is not read.
  const waiting = isCurrent ? "" : "lp-waiting";
  /** @param {number} value */
  function take(value) {
    const rounded = Number(value.toPrecision(6));
    page.set({ parameters: { ...page.scenario.parameters, [parameter]: rounded } });
  }
  return group(
    verdict ? h("p.lp-sweep-verdict", { role: "status", class: waiting }, verdict) : null,
    h(
      "div.lp-sweep-panels",
      { class: waiting },
      panels.map((panel) =>
        h(CurvePanel, { key: panel.name, page, curves, panel, reached, reach, press: take, charts }),
      ),
    ),
    h(CurveLegend, { curves }),
    h(FigureButtons, {
      button: "button.lp-crumb",
      kind: "div.lp-row.lp-wrap",
      save: (look, ratio) => save({ page, server, curves }, charts, verdict, look, ratio),
    }),
    h(Trials, { page, server, curves }),
  );
}

/**
 * A curve, with its height at the setting in force or under the pointer in words.
 * @param {{ page: ExplorePage, curves: SweptCurves, panel: Panel, reached: number | null,
 *   reach: (value: number | null) => void, press: (value: number) => void, charts: Map<string, PlotlyChart> }}
 *   properties
 */
function CurvePanel({ page, curves, panel, reached, reach, press, charts }) {
  const { name, write } = panel;
  const { values, parameter } = curves;
  const heights = curves.heights[name] ?? [];
  const here = { setting: settingOf(page, parameter), height: heightNow(page, name) };
  const figure = useMemo(() => () => figureOf({ curves, panel, here }), [curves, here.setting, here.height]);
  const at = reached ?? here.setting;
  const ends = { from: write(heights[0]), to: write(heights[heights.length - 1]) };
  return h(
    "div.lp-sweep-panel",
    h(
      "div.lp-sweep-head",
      h("span", say(`sweep.${name}`)),
      h(
        "span.lp-value",
        say("sweep.at", {
          value: write(reached === null ? here.height : heights[values.indexOf(reached)]),
          name: parameterName(parameter),
          at: written(at, 6), // a value in force may have more digits than those of the curve
        }),
      ),
    ),
    h(Plot, {
      figure,
      label: say("sweep.label", { what: say(`sweep.${name}`), name: parameterName(parameter), ...ends }),
      at,
      reach,
      press,
      keep: (chart) => charts.set(name, chart),
    }),
  );
}

/**
 * The value in force of a parameter, NaN where the loss has it not.
 * @type {(page: ExplorePage, name: string) => number}
 */
function settingOf(page, name) {
  const known = numbersOf(page).find((one) => one.name === name);
  return known ? Number(parameterValue(known, page.scenario.parameters)) : NaN;
}

/**
 * The height of a curve at the value in force: the figure of the page, not a point between two others.
 * @type {(page: ExplorePage, name: Panel["name"]) => number}
 */
function heightNow({ picture }, name) {
  const figures = picture?.figures;
  if (!figures) return NaN;
  if (name === "active") return (figures.active ?? NaN) / (figures.terms ?? NaN);
  return Number(read(name === "loss" ? figures.loss : figures.gradient_norm));
}

/** @param {{ curves: SweptCurves }} properties */
const CurveLegend = ({ curves: { advised, within } }) =>
  h(
    "p.lp-sweep-key",
    ["now", ...(advised ? ["advised"] : []), ...(within ? ["band"] : [])].map((part) =>
      h("span", { key: part }, h(`i.lp-key-${part}`), say(`sweep.key_${part}`)),
    ),
  );

// ---- Trials and files --------------------------------------------------------------------------

/**
 * Short trainings at some values, where the scenario has sentences to learn from.
 * @param {Swept} properties
 */
function Trials({ page, server, curves: { trials, parameter } }) {
  const [isStarting, setStarting] = useState(false);
  async function start() {
    setStarting(true);
    const answer = await server.trials({ scenario: page.scenario, parameter, ...page.fileEntries() });
    setStarting(false);
    if (answer.error) page.warn(answer.error);
    else location.href = `finetune#${answer.started.join()}`;
  }
  const words = trials ? say("sweep.try", { values: valuesOf(trials) }) : "";
  return h(
    "div.lp-row.lp-wrap",
    trials?.values.length
      ? h("button.lp-button", { id: "lp-sweep-trials", disabled: isStarting, onClick: start }, words)
      : null,
    h(
      "p.lp-note",
      trials ? aboutTrials(trials, "sweep.try_about", { pairs: pairsTried(page) }) : say("sweep.try_none"),
    ),
  );
}

/**
 * Which pairs are tried: of a batch the file that it was drawn from, or a sample of it.
 * @param {ExplorePage} page
 */
function pairsTried(page) {
  const { whole } = page.scenario.data.reading;
  const most = pageData.explore.tried;
  if (!page.isBatchOfFile) return say("sweep.try_pairs");
  const key = whole > most ? "sweep.try_pairs_sample" : "sweep.try_pairs_file";
  return say(key, { count: counted(Math.min(whole, most)) });
}

/**
 * @param {Swept} swept
 * @param {Map<string, PlotlyChart>} charts
 * @param {string} verdict
 * @param {Parameters<import("../../kit/figure_export_options.js").SaveFigure>[0]} look
 * @param {number} ratio of a PNG
 */
async function save({ page, server, curves }, charts, verdict, look, ratio) {
  const { loss } = page.scenario;
  const shown = PANELS.filter(({ name }) => curves.heights[name]);
  const chart = {
    title: `${titleOf(loss)} · ${say("sweep.title")} · ${parameterName(curves.parameter)}`,
    panels: shown.flatMap(({ name }) => charts.get(name)?.panel(...EXPORTED_PANEL_PX, say(`sweep.${name}`)) ?? []),
    across: 2,
    caption: [verdict || say("sweep.title")],
  };
  const answer = await server.chart({ ...look, name: `lossprism-${loss}-sweep`, chart });
  if (page.check(answer) && answer.text !== undefined) await saveAnswer(answer, ratio);
}

/**
 * @param {HTMLElement} root
 * @param {ExplorePage} page
 * @param {Server} server
 */
export default (root, page, server) => show(root, Sweep, { page, server });

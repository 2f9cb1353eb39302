// Several losses along one parameter: all values come in one answer, and are read without the server.
import { finiteRange, nearest } from "../../../kit/axis_range.js";
import { floats } from "../../../kit/base64_arrays.js";
import { labelOf, letterOf } from "../../../kit/compared_loss_labels.js";
import { Checkbox, Select } from "../../../kit/components.js";
import { percent, read, show } from "../../../kit/number_format.js";
import { parameterValue } from "../../../kit/parameter_value_or_default.js";
import { group, h } from "../../../kit/preact_view.js";
import { parameterName, say } from "../../../kit/translated_sentences.js";
import { useMemo, useRef, useState } from "../../../kit/vendor/preact/hooks.js";
import { Downloads } from "../downloads.js";
import { ExperimentOptions } from "../folding_section.js";
import { Curves, chartsFigure, Scrub } from "./curves.js";
import { Result, useExperiment } from "./experiment_request.js";
import { LossTable, RefusedCell } from "./loss_table.js";
import { canBeLogarithmic, choicesOf, onAxisScale, orderedOnAxis, sweptParameterOf } from "./sweep_axis.js";

/** @typedef {import("../state.js").ComparePage} ComparePage */
/** @typedef {import("../../../kit/types").Span} Span */
/** @typedef {import("../../../wire").SweptCurves} Swept */
/** @typedef {import("../../../wire").ExperimentResults} Answer */
/** @typedef {import("./experiment_request.js").Side} Side */
/** @typedef {import("./sweep_axis.js").SweptParameter} SweptParameter */
/** @typedef {"loss" | "over_scale" | "gradient" | "effective" | "hardest" | "suspects"} Name */
/** @typedef {{ name: Name, write?: (value: number) => string, logarithmic?: boolean, range?: Span }} Panel */
/**
 * The result of one loss: where its values are on the axis, and the heights over them.
 * @typedef {{ place: number, along: SweptParameter, own: number[], x: number[], swept: Swept,
 *   heights: Record<Name, Float32Array | null>, between: Float32Array[] | null }} Line
 */
/** @typedef {{ lines: Line[], axis: string, logarithmic: boolean, span: Span }} SweepResult */

/** @type {Panel[]} */
const PANELS = [
  { name: "loss" },
  { name: "over_scale" },
  { name: "gradient", logarithmic: true },
  { name: "effective" },
  { name: "hardest", write: percent, range: [0, 1] },
  { name: "suspects", write: percent, range: [0, 1] },
];
/** @type {Span} */
const ADVISED_NORMS = [0.1, 10]; // of the gradient norm, as the derivation circulating with CoSENT advises
const POINTS = 200;
const SLIDER_STEPS = 1000; // of the slider

/** @param {{ page: ComparePage }} properties */
export function Sweep({ page }) {
  page.observe("state", "compared");
  const forms = page.sides.map((side) => formOf(page, side));
  const parameters = choicesOf(forms);
  const { parameter, logarithmic: isWanted } = page.store.state;
  const axis = parameters.includes(parameter) ? parameter : (parameters[0] ?? "");
  const alongs = forms.map((form) => sweptParameterOf(form, axis));
  const canBe = canBeLogarithmic(alongs);
  const logarithmic = isWanted && canBe;
  const options = { along: alongs.map((one) => one?.name ?? ""), logarithmic, points: POINTS };
  // The curves stay while only their own parameter moves.
  const dependsOn = page.sides.map(({ parameters: chosen, ...others }, place) => {
    const { [alongs[place]?.name ?? ""]: _moved, ...stay } = chosen;
    return { ...others, stay };
  });
  /** @type {import("./experiment_request.js").Experiment<Answer>} */
  const experiment = useExperiment(page, "sweep", options, dependsOn);
  const { answer, sides } = experiment;
  const sweep = useMemo(() => answer && sweepIn(page, answer, sides, axis), [answer]);
  return group(
    h(
      ExperimentOptions,
      { page },
      h(Select, {
        name: say("sweep.parameter"),
        inline: true,
        id: "lp-vary-parameter",
        value: axis,
        options: parameters.map((name) => [name, parameterName(name)]),
        change: (name) => page.set({ parameter: name }),
      }),
      h(Checkbox, {
        name: say("compare.vary.logarithmic"),
        checked: logarithmic,
        disabled: !canBe,
        title: canBe ? "" : say("compare.vary.not_logarithmic"),
        change: (on) => page.set({ logarithmic: on }),
      }),
    ),
    h(Result, { experiment }, sweep && answer && h(SweptPanels, { page, answer, sides, sweep })),
  );
}

/**
 * The parameters along which a loss can be swept: none that is off.
 * @param {ComparePage} page
 * @param {Side} side
 */
function formOf(page, side) {
  const form = page.formOf(side);
  return form && { parameters: form.parameters.filter((one) => parameterValue(one, side.parameters) !== null) };
}

/** @type {(page: ComparePage, answer: Answer, sides: Side[], axis: string) => SweepResult} */
function sweepIn(page, answer, sides, axis) {
  const lines = answer.sides.flatMap(({ found }, place) => {
    const swept = /** @type {Swept | null} */ (found);
    const along = swept && sweptParameterOf(formOf(page, sides[place]), axis);
    return along ? [lineOf(place, along, swept)] : [];
  });
  const span = finiteRange(lines.map(({ x }) => x)) ?? [0, 1];
  return { lines, axis, logarithmic: lines.some(({ swept }) => swept.logarithmic), span };
}

/** @type {(place: number, along: SweptParameter, swept: Swept) => Line} */
function lineOf(place, along, swept) {
  const { order, own, x } = orderedOnAxis(along, floats(swept.values));
  /** @type {(text: string | null) => Float32Array | null} */
  const inOrder = (text) => (text === null ? null : Float32Array.from(order, (at) => floats(text)[at]));
  const heights = /** @type {Line["heights"]} */ (
    Object.fromEntries(PANELS.map(({ name }) => [name, inOrder(swept[name])]))
  );
  const between = swept.band && /** @type {Float32Array[]} */ (swept.band.map(inOrder));
  return { place, along, own, x, swept, heights, between };
}

// ---- The curves --------------------------------------------------------------------------------

/**
 * @param {SweepResult} sweep
 * @param {Panel} panel
 * @param {number[]} present the place of the present value of each line
 * @returns {import("./curves.js").CurvePanelContent}
 */
function panelContent({ lines, span, logarithmic }, { name, ...options }, present) {
  const having = lines.filter(({ heights }) => heights[name]);
  const isBanded = name === "gradient" && having.some(({ swept }) => swept.within);
  const advised = name === "loss" || name === "gradient" ? having.find(({ swept }) => swept.advised) : undefined;
  const advisedBand = advised ? [{ x: rangeOf(advised, span), colour: "collapse" }] : [];
  return {
    ...options,
    axis: { span, logarithmic },
    also: isBanded ? ADVISED_NORMS : [],
    bands: [...advisedBand, ...(isBanded ? [{ y: ADVISED_NORMS, colour: "floor" }] : [])],
    curves: having.map((line) => ({
      place: line.place,
      x: line.x,
      y: line.heights[name] ?? [],
      present: present[lines.indexOf(line)],
      ...(name === "over_scale" ? { limit: limitOf(line), between: line.between } : {}),
    })),
  };
}

/** @param {Line} line */
const limitOf = ({ swept: { limit } }) => (limit === null ? null : read(limit));

/** @type {(line: Line, span: Span) => Span} The advised range of a loss's parameter, on the axis. */
function rangeOf({ along, swept }, [low, high]) {
  const ends = (swept.advised ?? []).map((v) => Math.max(low, Math.min(high, onAxisScale(along, v))));
  return /** @type {Span} */ (along.inverted ? ends.reverse() : ends);
}

/** @param {{ page: ComparePage, answer: Answer, sides: Side[], sweep: SweepResult }} properties */
function SweptPanels({ page, answer, sides, sweep }) {
  const [chosen, choose] = useState(/** @type {number | null} */ (null)); // by the slider
  const [reached, reach] = useState(/** @type {number | null} */ (null)); // by the pointer
  const charts = useRef(new Map()).current;
  const { lines, span } = sweep;
  const present = lines.map((line) => indexAt(page, sides, sweep, line, null));
  const panels = useMemo(
    () =>
      PANELS.map((panel) => ({ ...panel, shown: panelContent(sweep, panel, present) })).filter(
        ({ shown }) => shown.curves.length,
      ),
    [sweep, String(present)],
  );
  // Without a chosen value, each loss is read at its present one.
  const at = reached ?? (chosen === null ? null : Math.max(span[0], Math.min(span[1], chosen)));
  /** @param {Line} line */
  const placeIn = (line) => indexAt(page, sides, sweep, line, at);
  const first = lines.length ? lines[0].x[placeIn(lines[0])] : span[0];
  const name = axisName(sweep);
  /** @param {number | null} value */
  function setAll(value) {
    if (value === null || sides.length !== page.sides.length) return;
    choose(null);
    page.set({ sides: sidesAt(page, sides, sweep, value) });
  }
  return group(
    h(
      "div.lp-vary-panels",
      panels.map(({ name: of, write, shown }) =>
        h(Curves, {
          key: of,
          title: say(`compare.vary.${of}`),
          shown,
          at: at === null ? null : first,
          write,
          charts,
          reach,
          press: setAll,
        }),
      ),
    ),
    h(
      Scrub,
      {
        label: name,
        share: shareOf(sweep, at ?? first),
        steps: SLIDER_STEPS,
        disabled: !lines.length,
        words: at === null ? say("compare.vary.now") : say("compare.vary.at", { name, value: show(at, 3) }),
        change: (share) => choose(valueAt(sweep, share)),
        enter: () => setAll(at),
      },
      h(
        "button.lp-button",
        { disabled: at === null || !lines.length, onClick: () => setAll(at) },
        say("compare.vary.set"),
      ),
    ),
    h(LossTable, {
      label: say("compare.vary.read"),
      heads: [say("compare.vary.value"), ...panels.map(({ name: of }) => say(`compare.vary.${of}`))],
      sides,
      cells: (place) => {
        const line = lines.find((one) => one.place === place);
        if (line) return h(Cells, { line, at: placeIn(line), panels });
        const { problem } = answer.sides[place];
        if (problem) return h(RefusedCell, { problem, columns: panels.length + 1 });
        const stays = say("compare.vary.stays", { name: parameterName(sweep.axis) });
        return h("td.lp-faint", { colSpan: panels.length + 1 }, stays);
      },
    }),
    h(
      "ul.lp-remarks",
      verdictsOf(sweep).map((words) => h("li", { key: words }, words)),
    ),
    h("p.lp-note", say("compare.vary.sweep.about")),
    h(Downloads, {
      page,
      name: "sweep",
      figure: () => ({
        ...chartsFigure(
          charts,
          panels.map(({ name: of }) => say(`compare.vary.${of}`)),
        ),
        title: say("compare.vary.sweep.title", { name }),
        note: verdictsOf(sweep).join(" "),
        places: lines.map(({ place }) => place),
      }),
      csv: () => csvOf(sweep, sides),
    }),
  );
}

/** @param {{ line: Line, at: number, panels: Panel[] }} properties */
const Cells = ({ line, at, panels }) =>
  group(
    h("td", `${parameterName(line.along.name)} ${show(line.own[at], 3)}`),
    panels.map(({ name, write = (v) => show(v, 4) }) => {
      const value = line.heights[name]?.[at];
      return h("td", { key: name }, value === undefined || Number.isNaN(value) ? "—" : write(value));
    }),
  );

/** @param {SweepResult} sweep */
function axisName({ lines, axis }) {
  const name = parameterName(axis);
  if (!lines.some(({ along }) => along.inverted)) return name;
  return say(axis === "scale" ? "compare.vary.as_scale" : "compare.vary.as_temperature", { name });
}

/** @type {(sweep: SweepResult) => string[]} The rules of thumb for each loss, and the limit of L/λ. */
function verdictsOf({ lines }) {
  /** @param {Span} ends */
  const range = ([low, high]) => say("sweep.range", { low: show(low, 3), high: show(high, 3) });
  return lines.flatMap(({ place, along, swept: { within, advised, limit } }) => {
    const [letter, name] = [letterOf(place), parameterName(along.name)];
    return [
      within?.length ? say("compare.vary.within", { letter, name, ranges: within.map(range).join(", ") }) : "",
      within && !within.length ? say("compare.vary.never", { letter, name }) : "",
      advised ? say("compare.vary.advised", { letter, range: range(advised) }) : "",
      limit === null ? "" : say("compare.vary.limit", { letter, limit: show(limit, 3) }),
    ].filter(Boolean);
  });
}

// ---- Reading the curves ------------------------------------------------------------------------

/**
 * Return where a line is read: at a value of the axis, or, for null, at the present value of its loss.
 * @type {(page: ComparePage, sides: Side[], sweep: SweepResult, line: Line, at: number | null) => number}
 */
function indexAt(page, sides, { logarithmic }, { place, along, x }, at) {
  const { parameters } = page.sides[place] ?? sides[place];
  return nearest(x, at ?? onAxisScale(along, Number(parameterValue(along.parameter, parameters))), logarithmic);
}

/** @type {(sweep: SweepResult, value: number) => number} the share of the axis up to a value, from 0 to 1 */
const shareOf = ({ span: [low, high], logarithmic }, value) =>
  logarithmic ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low || 1);

/** @type {(sweep: SweepResult, share: number) => number} the value at a share of the axis */
const valueAt = ({ span: [low, high], logarithmic }, share) =>
  logarithmic ? low * (high / low) ** share : low + share * (high - low);

/**
 * Return the losses with their swept parameter at a value of the axis.
 * @type {(page: ComparePage, sides: Side[], sweep: SweepResult, value: number) => Side[]}
 */
function sidesAt(page, sides, sweep, value) {
  return page.sides.map((side, place) => {
    const line = sweep.lines.find((one) => one.place === place);
    if (!line || side.loss !== sides[place].loss) return side;
    const own = line.own[indexAt(page, sides, sweep, line, value)];
    return { ...side, parameters: { ...side.parameters, [line.along.name]: own } };
  });
}

/** @type {(sweep: SweepResult, sides: Side[]) => import("../downloads.js").Rows} */
const csvOf = ({ lines }, sides) => [
  ["loss", "parameter", "at", ...PANELS.map(({ name }) => (name === "loss" ? "value" : name))],
  ...lines.flatMap(({ place, along, own, heights }) =>
    own.map((value, i) => [
      ...[labelOf(sides, place), along.name, value],
      ...PANELS.map(({ name }) => heights[name]?.[i] ?? ""),
    ]),
  ),
];

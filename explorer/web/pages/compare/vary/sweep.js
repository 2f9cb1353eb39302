// Several losses along one parameter: all values come in one answer, and are read without the server.
import { floats } from "../../../kit/arrays.js";
import { h, worded } from "../../../kit/dom.js";
import { parameterValue } from "../../../kit/form.js";
import { percent, read, show } from "../../../kit/numbers.js";
import { check } from "../../../kit/sidebar.js";
import { parameterName, say } from "../../../kit/words.js";
import { labelOf, letterOf } from "../legend.js";
import { downloads } from "../taking.js";
import { alongOf, byRatios, choicesOf, endsOf, nearest, onAxis, turned } from "./along.js";
import { curvePanel, sheet } from "./curves.js";
import { experiment, headOf, refusedCell, varyTable } from "./experiment.js";

/** @typedef {import("../../../wire").SweptCurves} Swept */
/** @typedef {import("./experiment.js").Side} Side */
/** @typedef {"loss" | "over_scale" | "gradient" | "effective" | "hardest" | "suspects"} Name */
/**
 * What was found of one side: where its values stand on the axis, and the heights over them.
 * @typedef {{ place: number, along: import("./along.js").Along, own: number[], x: number[], swept: Swept,
 *   heights: Record<Name, Float32Array | null>, between: Float32Array[] | null }} Line
 */

/** @type {{ name: Name, write?: (value: number) => string, logarithmic?: boolean, range?: [number, number] }[]} */
const PANELS = [
  { name: "loss" },
  { name: "over_scale" },
  { name: "gradient", logarithmic: true },
  { name: "effective" },
  { name: "hardest", write: percent, range: [0, 1] },
  { name: "suspects", write: percent, range: [0, 1] },
];
const BAND = /** @type {[number, number]} */ ([0.1, 10]);
const MOST = 200;

/**
 * @param {import("./experiment.js").ComparePage} channel
 * @param {import("../../../kit/types").Asking<import("./experiment.js").CompareServer>} server
 * @returns {import("./experiment.js").Tool}
 */
export function sweepTool(channel, server) {
  const choice = h("select", { id: "lp-vary-parameter", onchange: () => channel.set({ parameter: choice.value }) });
  const ratios = check("compare.vary.logarithmic", true, (on) => channel.set({ logarithmic: on }));
  const ratiosBox = /** @type {HTMLInputElement} */ (ratios.querySelector("input"));
  const panels = PANELS.map(({ name, write }) => ({
    panel: curvePanel({ key: `compare.vary.${name}`, write, hear }),
    name,
  }));
  const track = h("input", {
    type: "range",
    min: 0,
    max: 1000,
    step: 1,
    oninput: () => {
      chosen = ofTrack();
      tellValues();
    },
    onkeydown: (/** @type {KeyboardEvent} */ event) => {
      if (event.key === "Enter") setAll();
    },
  });
  const here = h("output.lp-vary-here");
  const setHere = worded("button.lp-button", "compare.vary.set", { type: "button", onclick: () => setAll() });
  const { table, headings, body } = varyTable([
    "ui.loss",
    "compare.vary.value",
    ...PANELS.map(({ name }) => `compare.vary.${name}`),
  ]);
  const heads = headings.slice(2); // of what the panels show
  const verdicts = h("ul.lp-remarks");
  const taking = downloads(channel, { name: "sweep", figure: picture, csv: asCsv });
  const box = h(
    "div",
    {},
    h(
      "div.lp-vary-panels",
      {},
      panels.map(({ panel }) => panel.element),
    ),
    h("div.lp-row.lp-wrap.lp-vary-scrub", {}, h("div.lp-slider", {}, track), here, setHere),
    h("div.lp-scroll", { tabIndex: 0, "data-title": "compare.vary.read" }, table),
    verdicts,
    worded("p.lp-note", "compare.vary.sweep.about"),
  );
  const asking = experiment(channel, server, {
    name: "sweep",
    box,
    asked: () => {
      const all = alongs();
      return { along: all.map((one) => one?.name ?? ""), logarithmic: isLogarithmic(all), points: MOST };
    },
    about: () => {
      const all = alongs();
      return channel.sides.map(({ parameters, ...others }, place) => {
        const { [all[place]?.name ?? ""]: _moved, ...stay } = parameters;
        return { ...others, stay };
      });
    },
    take,
  });
  const element = h(
    "div",
    {},
    h("div.lp-bar", {}, h("label.lp-inline", {}, worded("span", "sweep.parameter"), choice), ratios, taking.element),
    asking.note,
    box,
  );

  // ---- Along what ----------------------------------------------------------------------------

  /**
   * What a side can be swept along: none that is off.
   * @param {Side} side
   */
  function formOf(side) {
    const form = channel.formOf(side);
    return form && { parameters: form.parameters.filter((one) => parameterValue(one, side.parameters) !== null) };
  }
  const forms = () => channel.sides.map(formOf);
  function wanted() {
    const known = choicesOf(forms());
    const { parameter } = channel.store.state;
    return known.includes(parameter) ? parameter : (known[0] ?? "");
  }
  const alongs = () => forms().map((form) => alongOf(form, wanted()));
  /** @param {ReturnType<typeof alongs>} all */
  const isLogarithmic = (all) => channel.store.state.logarithmic && byRatios(all);

  /** @param {string} name */
  const nameOf = parameterName;
  function axisName() {
    const all = lines.length ? lines.map(({ along }) => along) : alongs();
    const name = nameOf(axis);
    if (!all.some((one) => one?.turned)) return name;
    return say(axis === "scale" ? "compare.vary.as_scale" : "compare.vary.as_temperature", { name });
  }

  function offer() {
    const known = choicesOf(forms());
    choice.replaceChildren(...known.map((name) => h("option", { value: name }, nameOf(name))));
    choice.value = wanted();
    const all = alongs();
    ratiosBox.checked = isLogarithmic(all);
    ratiosBox.disabled = !byRatios(all);
    ratios.title = ratiosBox.disabled ? say("compare.vary.not_logarithmic") : "";
  }

  // ---- What came -----------------------------------------------------------------------------

  /** @type {Line[]} */
  let lines = [];
  /** @type {Side[]} */
  let of = [];
  /** @type {(import("../../../wire").Problem | null)[]} */
  let problems = [];
  let axis = "scale";
  let logarithmic = true;
  /** @type {[number, number]} */
  let span = [0, 1];
  /** @type {number | null} */
  let chosen = null; // on the axis, by the slider
  /** @type {number | null} */
  let reached = null; // by the pointer

  /**
   * @param {import("../../../wire").SweptSides} answer
   * @param {Side[]} sides
   */
  function take({ sides: found }, sides) {
    of = sides;
    axis = wanted();
    problems = found.map(({ problem }) => problem);
    lines = found.flatMap(({ found: swept }, place) => {
      const along = swept && alongOf(formOf(sides[place]), axis);
      return along ? [lineOf(place, along, swept)] : [];
    });
    logarithmic = lines.some(({ swept }) => swept.logarithmic);
    span = endsOf(lines.map(({ x }) => x)) ?? [0, 1];
    if (chosen !== null) chosen = Math.max(span[0], Math.min(span[1], chosen));
    draw();
  }

  /**
   * @param {number} place
   * @param {Line["along"]} along
   * @param {Swept} swept
   * @returns {Line}
   */
  function lineOf(place, along, swept) {
    const { order, own, x } = onAxis(along, floats(swept.values));
    /** @type {(text: string | null) => Float32Array | null} */
    const inOrder = (text) => (text === null ? null : Float32Array.from(order, (at) => floats(text)[at]));
    const heights = /** @type {Line["heights"]} */ (
      Object.fromEntries(PANELS.map(({ name }) => [name, inOrder(swept[name])]))
    );
    const between = swept.band && /** @type {Float32Array[]} */ (swept.band.map(inOrder));
    return { place, along, own, x, swept, heights, between };
  }

  // ---- Drawing -------------------------------------------------------------------------------

  /**
   * A range of a loss's parameter on the axis.
   * @param {Line["along"]} along
   * @param {[number, number]} range
   */
  function rangeOf(along, range) {
    const ends = range.map((v) => Math.max(span[0], Math.min(span[1], turned(along, v))));
    return /** @type {[number, number]} */ (along.turned ? ends.reverse() : ends);
  }

  function draw() {
    for (const [i, { name, ...how }] of PANELS.entries()) {
      const having = lines.filter(({ heights }) => heights[name]);
      const banded = name === "gradient" && having.some(({ swept }) => swept.within);
      const advised = having.filter(({ swept }) => swept.advised).slice(0, 1);
      panels[i].panel.draw({
        ...how,
        axis: { span, logarithmic },
        also: banded ? BAND : [],
        bands: [
          ...(name === "loss" || name === "gradient"
            ? advised.map(({ along, swept }) => ({
                x: rangeOf(along, /** @type {[number, number]} */ (swept.advised)),
                colour: "collapse",
              }))
            : []),
          ...(banded ? [{ y: BAND, colour: "floor" }] : []),
        ],
        curves: having.map(({ place, x, heights, swept, between }) => ({
          place,
          x,
          y: heights[name] ?? [],
          ...(name === "over_scale" ? { limit: swept.limit === null ? null : read(swept.limit), between } : {}),
        })),
      });
    }
    track.setAttribute("aria-label", axisName());
    judge();
    tellValues();
  }

  /** @param {Line} line */
  const settingOf = ({ place, along }) =>
    Number(parameterValue(along.parameter, (channel.sides[place] ?? of[place]).parameters));

  // Where all are read: under the pointer, or where the slider is; at rest each where it stands now.
  const valueNow = () => reached ?? chosen;

  /**
   * @param {Line} line
   * @param {number | null} at
   */
  const placeIn = (line, at) => nearest(line.x, at ?? turned(line.along, settingOf(line)), logarithmic);

  function tellValues() {
    const at = valueNow();
    for (const [i, { name }] of PANELS.entries())
      panels[i].panel.mark(lines.filter(({ heights }) => heights[name]).map((line) => placeIn(line, at)));
    const [first] = lines;
    const shown = at ?? (first ? first.x[placeIn(first, null)] : span[0]);
    if (reached === null) track.value = String(Math.round(1000 * toTrack(shown)));
    track.style.setProperty("--lp-fill", `${100 * toTrack(shown)}%`);
    here.textContent =
      at === null ? say("compare.vary.now") : say("compare.vary.at", { name: axisName(), value: show(at, 3) });
    track.setAttribute("aria-valuetext", here.textContent);
    const shownPanels = PANELS.filter(({ name }) => lines.some(({ heights }) => heights[name]));
    heads.forEach((head, i) => {
      head.hidden = !shownPanels.includes(PANELS[i]);
    });
    body.replaceChildren(...of.map((_side, place) => lineFor(place, at, shownPanels)));
    for (const control of [setHere, track]) control.disabled = !lines.length;
    setHere.disabled ||= at === null;
  }

  /**
   * @param {number} place
   * @param {number | null} at
   * @param {typeof PANELS} shown
   */
  function lineFor(place, at, shown) {
    const problem = problems[place];
    const line = lines.find((one) => one.place === place);
    if (!line) {
      const words = problem ? refusedCell(problem, shown.length + 1) : null;
      const stays = h("td.lp-faint", { colSpan: shown.length + 1 }, say("compare.vary.stays", { name: nameOf(axis) }));
      return h("tr", {}, headOf(of, place), words ?? stays);
    }
    const i = placeIn(line, at);
    const value = `${nameOf(line.along.name)} ${show(line.own[i], 3)}`;
    return h(
      "tr",
      {},
      headOf(of, place),
      h("td", {}, value),
      shown.map(({ name, write = (v) => show(v, 4) }) => {
        const found = line.heights[name]?.[i];
        return h("td", {}, found === undefined || Number.isNaN(found) ? "—" : write(found));
      }),
    );
  }

  // What the rules of thumb say of each loss, and what L/λ runs to.
  function judge() {
    /** @param {[number, number]} ends */
    const range = ([low, high]) => say("sweep.range", { low: show(low, 3), high: show(high, 3) });
    verdicts.replaceChildren(
      ...lines.flatMap(({ place, along, swept }) => {
        const letter = letterOf(place);
        const name = nameOf(along.name);
        const told = [];
        if (swept.within?.length)
          told.push(say("compare.vary.within", { letter, name, ranges: swept.within.map(range).join(", ") }));
        else if (swept.within) told.push(say("compare.vary.never", { letter, name }));
        if (swept.advised) told.push(say("compare.vary.advised", { letter, range: range(swept.advised) }));
        if (swept.limit !== null) told.push(say("compare.vary.limit", { letter, limit: show(swept.limit, 3) }));
        return told.map((words) => h("li", {}, words));
      }),
    );
  }

  // ---- The hand ------------------------------------------------------------------------------

  /** @param {number} v */
  const toTrack = (v) =>
    logarithmic ? Math.log(v / span[0]) / Math.log(span[1] / span[0]) : (v - span[0]) / (span[1] - span[0] || 1);
  function ofTrack() {
    const share = Number(track.value) / 1000;
    return logarithmic ? span[0] * (span[1] / span[0]) ** share : span[0] + share * (span[1] - span[0]);
  }

  /**
   * @param {"reach" | "press"} what
   * @param {number | null} value
   */
  function hear(what, value) {
    if (!lines.length) return;
    if (what === "reach") {
      reached = value;
      tellValues();
    } else {
      chosen = value;
      setAll();
    }
  }

  // The parameter of every loss that has it becomes the value that is read.
  function setAll() {
    const at = valueNow();
    if (at === null || of.length !== channel.sides.length) return;
    const sides = channel.sides.map((side, place) => {
      const line = lines.find((one) => one.place === place);
      if (!line || side.loss !== of[place].loss) return side;
      return { ...side, parameters: { ...side.parameters, [line.along.name]: line.own[placeIn(line, at)] } };
    });
    chosen = null; // it is the present value now
    channel.set({ sides });
  }

  // ---- Taking it away ------------------------------------------------------------------------

  function picture() {
    if (!lines.length) return null;
    const title = say("compare.vary.sweep.title", { name: axisName() });
    const note = Array.from(verdicts.children, ({ textContent }) => textContent).join(" ");
    return { ...sheet(panels.map(({ panel }) => panel)), title, note, places: lines.map(({ place }) => place) };
  }

  function asCsv() {
    const names = PANELS.map(({ name }) => (name === "loss" ? "value" : name));
    /** @type {(string | number)[][]} */
    const rows = [["loss", "parameter", "at", ...names]];
    for (const { place, along, own, heights } of lines)
      for (const [i, value] of own.entries())
        rows.push([labelOf(of, place), along.name, value, ...PANELS.map(({ name }) => heights[name]?.[i] ?? "")]);
    return rows;
  }

  return {
    element,
    look: (inSight) => {
      if (inSight) offer();
      asking.look(inSight);
    },
    update: () => {
      offer();
      asking.ask();
      if (of.length === channel.sides.length) tellValues();
    },
    reword: () => {
      offer();
      draw();
    },
  };
}

// The probe batch at any recorded step: a scrubber, how its similarities are spread in each band of labels, and the
// matrix of the loss.
import { rampColour, rampTable } from "../../kit/colours.js";
import { Select } from "../../kit/components.js";
import { pictureView } from "../../kit/derivation_step_matrix.js";
import { show } from "../../kit/number_format.js";
import { focusParameter } from "../../kit/parameter_fields.js";
import { h, hosted } from "../../kit/preact_view.js";
import { ridges } from "../../kit/ridge_histograms.js";
import { isDark } from "../../kit/theme.js";
import { language, say } from "../../kit/translated_sentences.js";
import { useLayoutEffect, useRef, useState } from "../../kit/vendor/preact/hooks.js";
import { Button, Note } from "./form_components.js";

/** @typedef {{ page: import("./state.js").FinetunePage }} Page */
/** @typedef {import("../../kit/types").Span} Span */
/** @typedef {import("../../wire").EvaluationRecord} Evaluation */

const ROW_PIXELS = 42; // from one band to the next
const PLAY_MS = 450;

/** @param {import("./state.js").FinetunePage} page */
const stepsOf = (page) => page.trace()?.evaluations ?? [];

/**
 * The recorded evaluation that is looked at: the chosen one, else the last.
 * @param {import("./state.js").FinetunePage} page
 */
function placeOf(page) {
  const all = stepsOf(page);
  const at = page.at === null ? -1 : all.findIndex((one) => one.step === page.at);
  return at < 0 ? all.length - 1 : at;
}

/** @param {Page} properties */
export function Probe({ page }) {
  page.observe("at", "probe", "theme");
  const about = page.trace()?.about;
  const all = stepsOf(page);
  const record = all[placeOf(page)];
  const { problem } = page.probe;
  useLayoutEffect(() => {
    if (about && record) page.probe.look(about.id, record.step, about.plan);
  }, [about?.id, record?.step]);
  return h(
    "div",
    { id: "lp-probe", hidden: !record },
    h(
      "div.lp-finetune_probe",
      h("h2", say("finetune.probe")),
      record && about ? h(Scrubber, { key: about.id, page, isLive: page.isLive(about) }) : null,
      h("h3", say("finetune.bands")),
      h(Bands, { page, record }),
      h(Note, { text: say("finetune.bands_about") }),
    ),
    h(
      "div.lp-finetune_probe_matrix",
      problem ? h("p.lp-problem", say(problem.key, problem.values)) : null,
      h(StepOfLoss, { page }),
      h(Matrix, { page }),
    ),
  );
}

/** @param {Page & { isLive: boolean }} properties */
function Scrubber({ page, isLive }) {
  const all = stepsOf(page);
  const place = placeOf(page);
  const { playing, toggle } = usePlayer(page);
  const words = say("finetune.at_step", { step: all[place].step });
  const play = say("finetune.play");
  return h(
    "div.lp-row.lp-scrub.lp-slider",
    h(
      "button.lp-square",
      { id: "lp-finetune-play", title: play, "aria-label": play, onClick: toggle },
      playing ? "❚❚" : "▶",
    ),
    h("input", {
      type: "range",
      id: "lp-finetune-scrub",
      min: 0,
      max: all.length - 1,
      step: 1,
      value: place,
      style: `--lp-fill: ${(100 * place) / Math.max(1, all.length - 1)}%`,
      "aria-label": say("finetune.scrub"),
      "aria-valuetext": words,
      onInput: (event) => {
        const chosen = Number(event.currentTarget.value);
        page.look(chosen === all.length - 1 && isLive ? null : all[chosen].step);
      },
    }),
    h("output.lp-note", words),
    page.at !== null && isLive ? h(Button, { name: say("finetune.follow"), act: () => page.look(null) }) : null,
  );
}

/**
 * Look at one recorded step after the other, from the first where the last is looked at.
 * @param {import("./state.js").FinetunePage} page
 */
function usePlayer(page) {
  const [playing, setPlaying] = useState(false);
  const place = useRef(0);
  useLayoutEffect(() => {
    if (!playing) return undefined;
    const next = () => {
      const record = stepsOf(page)[place.current];
      place.current += 1;
      if (record) page.look(record.step);
      else setPlaying(false);
    };
    next();
    const timer = setInterval(next, PLAY_MS);
    return () => clearInterval(timer);
  }, [playing]);
  function toggle() {
    const now = placeOf(page);
    place.current = now === stepsOf(page).length - 1 ? 0 : now + 1;
    setPlaying(!playing);
  }
  return { playing, toggle };
}

/** @param {Page & { record: Evaluation | undefined }} properties */
const Bands = ({ page, record }) =>
  hosted({
    kind: "div.lp-finetune-ridges",
    make: (root) => {
      const bands = ridges(root, { row: ROW_PIXELS });
      takeAway(page, root, "bands", {
        chart: ({ losses, origin }) => ({
          panels: [bands.panel()],
          title: say("finetune.bands"),
          caption: [...losses, origin, say("finetune.bands_about")],
        }),
      });
      return { bands, drawn: "" };
    },
    update: (one) => {
      const { batch } = page.probe;
      const key = JSON.stringify([page.shown[0], record?.step, batch?.key, isDark(), language()]);
      if (!record || one.drawn === key) return;
      one.drawn = key;
      one.bands.update({ data: bandsOf(page, record) });
    },
  });

/**
 * Offer a drawing of the step that is looked at as a figure to take away.
 * @param {import("./state.js").FinetunePage} page
 * @param {HTMLElement} element
 * @param {string} name
 * @param {Pick<import("./state.js").Figure, "chart" | "file">} drawing
 */
function takeAway(page, element, name, drawing) {
  const step = () => stepsOf(page)[placeOf(page)].step;
  page.addFigure(page.drawings, { key: `finetune.${name}`, name, element, step, ...drawing });
}

/**
 * The rows of the bands, and as their axis the similarities of all recorded steps, so that it stands still.
 * @param {import("./state.js").FinetunePage} page
 * @param {Evaluation} record
 */
function bandsOf(page, record) {
  const all = stepsOf(page);
  const ranges = page.probe.batch?.bands;
  const { edges, counts } = record.histogram ?? { edges: [0, 1], counts: [] };
  const table = rampTable("sequential");
  /** @param {Span} band */
  const name = ([low, high]) => (low === high ? show(low, 3) : `${show(low, 2)}–${show(high, 2)}`);
  const rows = counts.map((row, band) => ({
    name: ranges?.[band] ? name(ranges[band]) : String(band + 1),
    counts: row,
    colour: rampColour(table, 90 + (130 * band) / Math.max(1, counts.length - 1)),
    before: all[0].histogram?.counts[band],
  }));
  const filled = all.flatMap(({ histogram }) =>
    (histogram?.counts ?? []).flatMap((row) =>
      row.flatMap((count, bin) => (count && histogram ? [histogram.edges[bin], histogram.edges[bin + 1]] : [])),
    ),
  );
  const span = /** @type {Span} */ (filled.length ? [Math.min(...filled), Math.max(...filled)] : [0, 1]);
  const kind = page.trace()?.about?.kind ?? "bi";
  const names = { y: say("finetune.axis.label"), x: say(`finetune.axis.${kind}`) };
  return { edges, rows, span, names, label: say("finetune.bands_says", { step: record.step, count: counts.length }) };
}

/**
 * Which line of the derivation the matrix shows.
 * @param {Page} properties
 */
function StepOfLoss({ page }) {
  const { picture } = page.probe;
  if (!picture) return null;
  return h(Select, {
    id: "lp-finetune-facet",
    label: say("finetune.matrix_step"),
    value: String(picture.chosen),
    options: picture.steps.map((step, place) => [String(place), step.name]),
    change: (place) => page.probe.choose({ step: Number(place), colour_range: null }),
  });
}

/** @param {Page} properties */
const Matrix = ({ page }) =>
  hosted({
    make: (root) => {
      const view = pictureView(root, {}, (...event) => {
        if (event[0] === "point") page.probe.point(event[1], event[2], event[3]);
        else if (event[0] === "view") page.probe.choose(event[1]);
        else focusParameter(event[1]);
      });
      page.on("theme", view.redraw);
      page.on("language", view.reword);
      takeAway(page, root, "matrix", { file: (caption, look) => matrixFile(page, caption, look) });
      return { view, shown: /** @type {import("../../wire").Picture | null} */ (null) };
    },
    update: (one) => {
      const { picture, batch, referenceFormulas, pointed, drawn, scenario } = page.probe;
      if (!picture) return;
      const state = { view: scenario.view, pointed, drawn };
      /** @param {number} pair */
      const numberOf = (pair) => pair + 1;
      one.view.update(
        picture === one.shown ? { state } : { data: { picture, batch, referenceFormulas, numberOf }, state },
      );
      one.shown = picture;
    },
  });

/**
 * The matrix as the server draws it, with the words of the page on where it comes from.
 * @param {import("./state.js").FinetunePage} page
 * @param {import("./state.js").Caption} caption
 * @param {import("./state.js").Look} look
 */
function matrixFile(page, { origin }, look) {
  const { step } = stepsOf(page)[placeOf(page)];
  const request = { run: page.shown[0], step, scenario: page.probe.scenario, origin };
  return page.server.figure({ ...request, ...look });
}

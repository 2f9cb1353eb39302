// The probe batch at any recorded step: a scrubber, how its cosines are spread in each band of
// labels, and beside it the matrix, drawn by probe_matrix.js.
import { cssOf, rampTable } from "../../kit/colours.js";
import { find, h, reword, worded } from "../../kit/dom.js";
import { show } from "../../kit/numbers.js";
import { ridges } from "../../kit/ridges.js";
import { say } from "../../kit/words.js";

/** @typedef {import("../../kit/types").Span} Span */

/**
 * @param {HTMLElement} root
 * @param {import("./state.js").FinetunePage} channel
 */
export default function probe(root, channel) {
  const ROW = 46,
    PLAY_MS = 450;
  const scene = channel.probe;
  const whole = find(document, "#lp-probe");

  const track = h("input", { type: "range", min: 0, max: 0, step: 1, value: 0, id: "lp-finetune-scrub" });
  const play = h(
    "button.lp-square",
    { type: "button", "data-title": "finetune.play", id: "lp-finetune-play", onclick: toggle },
    "▶",
  );
  const live = worded("button.lp-button", "finetune.follow", { type: "button", onclick: () => channel.look(null) });
  const where = h("output.lp-note");
  const bandsBox = h("div.lp-finetune-ridges");
  const bands = ridges(bandsBox, { row: ROW });
  const which = h("select", {
    id: "lp-finetune-facet",
    onchange: () => scene.choose({ step: which.value === "" ? null : Number(which.value) }),
  });
  const wrong = h("p.lp-problem", { hidden: true });
  root.append(
    worded("h2", "finetune.probe"),
    worded("p.lp-note", "finetune.probe_about"),
    h("div.lp-row.lp-scrub.lp-slider", {}, play, track, live),
    where,
    worded("h3", "finetune.bands"),
    bandsBox,
    worded("p.lp-note", "finetune.bands_about"),
    h("label.lp-field", {}, worded("span", "finetune.matrix_step"), which),
    wrong,
  );
  reword(root);

  const steps = () => channel.trace()?.evaluations ?? [];
  // Which recorded evaluation is looked at: the chosen one, else the last.
  function placeNow() {
    const all = steps();
    const at = channel.at === null ? -1 : all.findIndex((one) => one.step === channel.at);
    return at < 0 ? all.length - 1 : at;
  }

  track.addEventListener("input", () => {
    const place = Number(track.value);
    const all = steps();
    const about = channel.trace()?.about;
    channel.look(place === all.length - 1 && about && channel.isLive(about) ? null : all[place].step);
  });

  /** @type {ReturnType<typeof setInterval> | null} */
  let playing = null;
  function toggle() {
    if (playing) {
      stop();
      return;
    }
    let place = placeNow() === steps().length - 1 ? -1 : placeNow();
    play.textContent = "❚❚";
    const next = () => {
      place += 1;
      if (place >= steps().length) {
        stop();
        return;
      }
      channel.look(steps()[place].step);
    };
    playing = setInterval(next, PLAY_MS);
    next();
  }
  function stop() {
    clearInterval(playing ?? undefined);
    playing = null;
    play.textContent = "▶";
  }

  // ---- The bands -----------------------------------------------------------------------------

  /**
   * From the least to the largest similarity of all recorded steps, so that the axis stands still.
   * @returns {Span}
   */
  function reach() {
    const filled = steps().flatMap(({ histogram }) =>
      (histogram?.counts ?? []).flatMap((row) =>
        row.flatMap((count, i) => (count && histogram ? [histogram.edges[i], histogram.edges[i + 1]] : [])),
      ),
    );
    return filled.length ? [Math.min(...filled), Math.max(...filled)] : [0, 1];
  }

  /**
   * @param {import("../../wire").EvaluationRecord} record
   * @param {import("../../wire").EvaluationRecord} first
   */
  function drawBands(record, first) {
    const ranges = scene.batch?.bands;
    const { edges, counts } = record.histogram ?? { edges: [0, 1], counts: [] };
    const table = rampTable("sequential");
    /** @param {Span} band */
    const name = ([low, high]) => (low === high ? show(low, 3) : `${show(low, 2)}–${show(high, 2)}`);
    const rows = counts.map((row, band) => ({
      name: ranges?.[band] ? name(ranges[band]) : String(band + 1),
      counts: row,
      colour: cssOf(table, 90 + (130 * band) / Math.max(1, counts.length - 1)),
      before: first.histogram?.counts[band],
    }));
    const kind = channel.trace()?.about?.kind ?? "bi";
    const names = { y: say("finetune.axis.label"), x: say(`finetune.axis.${kind}`) };
    const label = say("finetune.bands_says", { step: record.step, count: counts.length });
    bands.update({ data: { edges, rows, span: reach(), names, label } });
  }

  /** @param {import("./state.js").Caption} caption */
  const bandsChart = ({ losses, origin }) => ({
    panels: [bands.panel()],
    title: say("finetune.bands"),
    caption: [...losses, origin, say("finetune.bands_about")],
  });

  // ---- The matrix ------------------------------------------------------------------------------

  let looked = "";
  /** @type {import("../../wire").ProbeBatch | null} */
  let shown = null; // the batch that the bands are drawn for
  function tellProbe() {
    const { picture, batch, problem } = scene;
    wrong.hidden = !problem;
    if (problem) wrong.textContent = say(problem.key, problem.values);
    if (picture) offerSteps(picture);
    if (batch !== shown && steps().length) drawBands(steps()[placeNow()], steps()[0]);
    shown = batch;
  }

  /** @param {import("../../wire").Picture} picture */
  function offerSteps({ steps: all, chosen }) {
    const names = all.map((step) => step.name).join();
    if (which.dataset.names !== names) {
      which.dataset.names = names;
      which.replaceChildren(...all.map((step, i) => h("option", { value: i }, step.name)));
    }
    which.value = String(chosen);
  }

  function draw() {
    const trace = channel.trace();
    const all = steps();
    whole.hidden = !all.length;
    if (!all.length || !trace?.about) return;
    const { about } = trace;
    const place = placeNow();
    const record = all[place];
    track.max = String(all.length - 1);
    track.value = String(place);
    track.style.setProperty("--lp-fill", `${(100 * place) / Math.max(1, all.length - 1)}%`);
    where.textContent = say("finetune.at_step", { step: record.step });
    track.setAttribute("aria-label", say("finetune.scrub"));
    track.setAttribute("aria-valuetext", where.textContent);
    live.hidden = channel.at === null || !channel.isLive(about);
    const key = `${about.id}:${record.step}`;
    if (key === looked) return;
    looked = key;
    drawBands(record, all[0]);
    scene.look(about.id, record.step, about.plan);
    channel.publish("figures");
  }

  /**
   * The matrix as the server draws it, with the words of the page on where it comes from.
   * @param {import("./state.js").Caption} caption
   * @param {ReturnType<typeof import("../../kit/figure_choices.js").figureLook>} look
   */
  const matrixFile = ({ origin }, look) =>
    channel.server?.figure({
      ...{ run: channel.shown[0], step: steps()[placeNow()].step, scenario: scene.scenario },
      ...look,
      origin,
    });

  channel.stills.push(
    { key: "finetune.bands", name: "bands", element: whole, chart: bandsChart, step: () => steps()[placeNow()].step },
    { key: "finetune.matrix", name: "matrix", element: whole, file: matrixFile, step: () => steps()[placeNow()].step },
  );

  channel.on("probe", tellProbe);
  channel.on("run", draw);
  channel.on("at", draw);
  channel.on("shown", () => {
    stop();
    looked = "";
    draw();
  });
  channel.on("theme", () => {
    looked = "";
    draw();
  });
  channel.on("language", () => {
    looked = "";
    draw();
  });
  draw();
}

// How the figures of the strip vary over many batches of the same data; this batch is marked.
import { h, setText, worded } from "../../kit/dom.js";
import { saveCsv } from "../../kit/file_downloads.js";
import { counted, percent, read, show } from "../../kit/number_format.js";
import { pageData } from "../../kit/page_data.js";
import { s } from "../../kit/svg_drawing.js";
import { say } from "../../kit/translated_sentences.js";

/** @typedef {import("../../wire").Real} Real */
/** @typedef {Record<string, (Real | null)[]>} Figures */

const BINS = 24;
const [WIDE, TALL] = [120, 20];
const DEBOUNCE_MS = 500;
// Nine of ten batches lie between these quantiles.
const [LOW_QUANTILE, HIGH_QUANTILE] = [0.05, 0.95];

/**
 * How many values lie in each of equal bins from `from` to `to`.
 * @param {number[]} values
 * @param {number} from
 * @param {number} to
 */
export function histogram(values, from, to) {
  const counts = new Array(BINS).fill(0);
  for (const value of values) {
    const place = to > from ? Math.floor((BINS * (value - from)) / (to - from)) : BINS / 2;
    counts[Math.min(BINS - 1, place)] += 1;
  }
  return counts;
}

/**
 * The value below which this share of ascending values lies; between two of them the lower one.
 * @type {(ascending: number[], share: number) => number}
 */
export const quantile = (ascending, share) => ascending[Math.floor(share * (ascending.length - 1))];

/** @type {(ascending: number[], now: number, label: string) => SVGElement} */
function chart(ascending, now, label) {
  const from = Math.min(ascending[0], now);
  const to = Math.max(ascending[ascending.length - 1], now);
  const counts = histogram(ascending, from, to);
  const most = Math.max(...counts);
  const step = WIDE / BINS;
  const bars = counts.map((count, i) =>
    s("rect", { x: i * step, width: step - 0.5, y: TALL * (1 - count / most), height: (TALL * count) / most }),
  );
  const x = to > from ? (WIDE * (now - from)) / (to - from) : WIDE / 2;
  const mark = s("line", { x1: x, x2: x, y1: 0, y2: TALL, class: "lp-now" });
  const view = `-1 0 ${WIDE + 2} ${TALL}`;
  return s("svg", { role: "img", "aria-label": label, viewBox: view, preserveAspectRatio: "none" }, ...bars, mark);
}

/**
 * @param {(Real | null)[]} all
 * @param {Real | null} here this batch's
 * @param {(value: number) => string} written
 */
function rangeOfFigure(all, here, written) {
  const known = all.map((value) => read(value)).filter((value) => value !== null && Number.isFinite(value));
  const ascending = /** @type {number[]} */ (known).sort((a, b) => a - b);
  const now = read(here);
  if (!ascending.length || now === null || !Number.isFinite(now)) return [];
  const [low, median, high] = [LOW_QUANTILE, 0.5, HIGH_QUANTILE].map((share) => written(quantile(ascending, share)));
  const below = percent(ascending.filter((value) => value < now).length / ascending.length);
  const values = { count: ascending.length, low, median, high, below, value: written(now) };
  const label = say("ui.spread_is", values);
  const span = h("small", { title: label }, low === high ? low : `${low} … ${high}`);
  return ascending[0] === ascending[ascending.length - 1] ? [span] : [chart(ascending, now, label), span];
}

/** @typedef {import("./state.js").ExplorePage} ExplorePage */

/**
 * Whether there are other batches: a file that is shown whole, in its order, has none.
 * @param {ExplorePage} page
 */
function canDraw(page) {
  const { source, reading } = page.scenario.data;
  const isWhole = reading.draw.sampler === "in_order" && reading.batches < 2;
  return source === "random" || (page.isBatchOfFile && !isWhole);
}

/**
 * What the figures depend on. Another batch of the same draw is one of those that are known.
 * @param {ExplorePage} page
 */
function requestKey({ scenario, lastFile }) {
  const { loss, convention, parameters, rules, data } = scenario;
  const { encoder, cross_encoder, guide, guided, teacher_model, corrections, source, random, reading } = data;
  const draw = source === "random" ? random : { ...reading.draw, number: 0, file: lastFile?.file };
  const models = [encoder, cross_encoder, guide, guided.length > 0, teacher_model];
  return JSON.stringify([loss, convention, parameters, rules, models, corrections, draw]);
}

/** @type {(page: ExplorePage, count: number) => string} Of which batches the figures are, and how many. */
function sourceOf(page, count) {
  const { source, file, reading } = page.scenario.data;
  if (source === "random") return say("ui.spread_random", { count });
  const { sampler, seed } = reading.draw;
  const size = Math.min(reading.draw.size, reading.whole);
  return say("ui.spread_file", { count, size, name: file, how: say(`sampler.${sampler}.how`, { seed }) });
}

/** @type {(loss: string, figures: Figures) => Promise<void>} */
function saveBatches(loss, figures) {
  const names = Object.keys(figures);
  const lines = figures.loss.map((_loss, i) => [i + 1, ...names.map((name) => figures[name][i] ?? "")]);
  return saveCsv(`${loss}-batches`, [["batch", ...names], ...lines]);
}

/**
 * @param {import("./state.js").ExplorePage} page
 * @param {import("../../kit/types").Asking<import("../../wire").ExploreServer>} server
 * @param {Record<string, HTMLElement>} boxes of the figures, by name
 */
export function variationPart(page, server, boxes) {
  const { spread: count } = pageData.explore;
  /** @type {Record<string, HTMLElement>} */
  const places = {};
  for (const [name, box] of Object.entries(boxes)) {
    places[name] = h("div.lp-spread");
    box.append(places[name]);
  }
  const toggle = h("button.lp-button", { id: "lp-spread", onclick: () => switchTo(!on) });
  const save = worded("button.lp-crumb", "ui.spread_csv", {
    onclick: () => found && saveBatches(page.scenario.loss, found),
  });
  const about = h("span");
  const note = h("p.lp-note", { hidden: true }, about, " ", save);
  const element = h("div.lp-spread-row", { hidden: true }, toggle, note);

  let on = false;
  /** @type {Figures | null} */
  let found = null;
  let lastKey = ""; // what the figures are of
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let waiting;

  /** @param {boolean} next */
  function switchTo(next) {
    on = next;
    clearTimeout(waiting);
    if (!on) [found, lastKey] = [null, ""];
    draw();
    if (on) ask();
  }

  async function ask() {
    const now = requestKey(page);
    if (lastKey === now) return;
    lastKey = now;
    const { scenario } = page;
    // The file has the rows, and their guide, of which it is enough that there is one.
    const data = { ...scenario.data, rows: [], guided: scenario.data.guided.slice(0, 1) };
    const whole = { ...scenario, data };
    const answer = await page.work(server, "spread", { scenario: whole, ...page.fileEntries() });
    if (!on || lastKey !== now) return;
    if (answer === undefined || !page.check(answer) || !answer.figures) {
      switchTo(false);
      return;
    }
    found = answer.figures;
    draw();
  }

  function draw() {
    element.hidden = !canDraw(page);
    toggle.setAttribute("aria-pressed", String(on));
    setText(toggle, on ? say("ui.spread_off") : say("ui.spread", { count }));
    const here = page.picture?.figures;
    const all = here && found;
    note.hidden = !all;
    for (const place of Object.values(places)) place.replaceChildren();
    if (!all) return;
    const now = valuesOf(here);
    for (const [name, values] of Object.entries(all)) {
      const write = name === "active" || name === "effective" ? counted : show;
      const part = rangeOfFigure(values, now[name], name === "violated" ? percent : (value) => write(value, 3));
      if (name !== "collapse") places[name]?.append(...part);
      else if (part.length) places.loss.append(h("div.lp-spread.lp-collapse", h("span", say("figure.collapse")), part));
    }
    const lacking = all.loss.filter((value) => value === null).length;
    const rest = lacking ? ` ${say("ui.spread_lacking", { count: lacking })}` : "";
    about.textContent = sourceOf(page, all.loss.length) + rest;
  }

  page.on("picture", () => {
    clearTimeout(waiting);
    if (on && !canDraw(page)) on = false;
    if (!on || lastKey !== requestKey(page)) [found, lastKey] = [null, ""];
    draw();
    if (on && !found) waiting = setTimeout(ask, DEBOUNCE_MS);
  });
  page.on("scenario", draw);
  page.on("language", draw);
  return element;
}

/**
 * This batch's figures, by the names that they have in every batch.
 * @type {(figures: import("../../wire").Figures) => Record<string, Real | null>}
 */
function valuesOf({ loss, collapse, active, effective, gradient_norm: gradient, places, ordered, violated, spearman }) {
  const [part, all] = places ? [places.first, places.anchors] : [violated, ordered];
  const rank = places ? (all ? places.reciprocal : null) : spearman;
  return { loss, collapse, violated: all ? part / all : null, active, effective, spearman: rank, gradient };
}

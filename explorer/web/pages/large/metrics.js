// More metrics of a large batch, below its map: how it is ordered, what carries its gradient, what it takes.
import { Fold } from "../../kit/components.js";
import { counted, grouped, percent, show as written } from "../../kit/number_format.js";
import { h, show } from "../../kit/preact_view.js";
import { say } from "../../kit/translated_sentences.js";

/** @typedef {import("./state.js").LargePage} LargePage */
/**
 * `words` are the key of what it is called, by default its own.
 * @typedef {{ name: string, words?: string, value: string, extra?: string }} Figure
 */

/** @param {{ page: LargePage }} properties */
function Metrics({ page }) {
  page.observe("answer", "learning", "details", "judging", "judged");
  const { answer } = page;
  if (!answer) return null;
  return h(
    Fold,
    { title: say("ui.more_metrics") },
    h(
      "div.lp-strip-of-figures",
      metricsOf(page, answer).map((figure) => h(FigureBox, { key: figure.name, ...figure })),
    ),
    h(
      "ul.lp-remarks",
      remarksOf(page)
        .slice(1)
        .map((remark) => h("li", { key: remark }, remark)),
    ),
  );
}

/** @type {(page: LargePage) => string[]} The sentences on the batch, the first of which stands in the head. */
export const remarksOf = ({ judged }) => (judged?.remarks ?? []).map(({ key, values }) => say(`remark.${key}`, values));

/** @param {Figure & { kind?: string }} figure */
export function FigureBox({ name, words = `large.figure.${name}`, value, extra = "", kind = "" }) {
  return h(
    "div",
    { id: `lp-large-figure-${name}`, class: `lp-figure ${kind}`, title: say(`${words}.about`) },
    h("span", say(words)),
    h("strong", value),
    h("small", extra),
  );
}

/**
 * The loss and its gradient each come with the map, or with the details some time later.
 * @param {LargePage} page
 * @param {import("../../wire").DrawnBlocks} answer
 * @param {"loss" | "gradient"} name
 */
const computed = ({ isLearning, isStale, details }, { figures: found }, name) =>
  name in found ? found : isStale || isLearning ? null : details;

/** @type {(page: LargePage, answer: import("../../wire").DrawnBlocks) => Figure} */
export function lossOf(page, answer) {
  const found = computed(page, answer, "loss");
  const extra = say("large.pairs", { count: grouped(answer.figures.pairs) });
  return { name: "loss", ...(found ? { value: written(found.loss, 6), extra } : COMING()) };
}

/** @type {(page: LargePage, answer: import("../../wire").DrawnBlocks) => Figure[]} */
function metricsOf(page, answer) {
  const { figures: found, milliseconds, device } = answer;
  const { judged, isJudging, isLearning } = page;
  const details = isLearning ? null : page.details;
  const gradient = computed(page, answer, "gradient")?.gradient;
  return [
    {
      name: "gradient",
      ...(gradient === undefined ? COMING() : { value: written(gradient, 3), extra: say("figure.by_scores") }),
    },
    { name: "violated", ...(details ? orderOf(details) : COMING()) },
    {
      name: "spearman",
      ...(judged && !isJudging
        ? { value: written(judged.spearman, 3), extra: say("large.pairs", { count: grouped(judged.pairs) }) }
        : COMING()),
    },
    { name: "effective", ...(details ? effectiveOf(details, found.terms) : COMING()) },
    { name: "memory", ...memoryOf((details ?? found).bytes, found.terms) },
    { name: "time", value: `${written(milliseconds, 3)} ms`, extra: device },
  ];
}

const COMING = () => ({ value: "…", extra: say("large.computing") });

/**
 * A loss that ranks pairs is judged by their order, one that looks for a key by where that stands, in the words of
 * the Explore page.
 * @param {import("../../wire").Details} details
 */
function orderOf({ violated, compared, places }) {
  const [part, all] = places ? [places.first, places.anchors] : [violated, compared];
  return {
    words: places ? `figure.first_${places.kind}` : undefined,
    value: all ? percent(Number(part) / all) : "—",
    extra: all ? say("figure.of", { part, all }) : "",
  };
}

/** @type {(details: import("../../wire").Details, terms: number) => { value: string; extra: string; }} */
function effectiveOf({ effective, effective_error: error }, terms) {
  const all = say("figure.of_terms", { all: grouped(terms) });
  return { value: counted(effective), extra: all + (error ? ` · ± ${percent(error)}` : "") };
}

/**
 * What the server keeps, and what the terms themselves would take.
 * @type {(bytes: number, terms: number) => { value: string; extra: string; }}
 */
function memoryOf(bytes, terms) {
  const size = bytes / 2 ** 20;
  return {
    value: say("large.about_mb", { size: size.toFixed(size < 10 ? 1 : 0) }),
    extra: say("large.instead", { size: sizeOf(terms * 8) }),
  };
}

/** @param {number} bytes */
function sizeOf(bytes) {
  const units = ["B", "kB", "MB", "GB", "TB"];
  const step = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(bytes, 1)) / 3));
  return `${written(bytes / 1000 ** step, 3)} ${units[step]}`;
}

/**
 * @param {HTMLElement} root
 * @param {LargePage} page
 */
export default (root, page) => show(root, Metrics, { page });

// The head of the Large batch page: the loss with its formula, and what it comes to.
import { formulaOf } from "../../kit/form.js";
import { tex } from "../../kit/formula.js";
import { counted, grouped, percent, show as written } from "../../kit/numbers.js";
import { pageData } from "../../kit/page_data.js";
import { entitle } from "../../kit/title.js";
import { useLayoutEffect } from "../../kit/vendor/preact/hooks.js";
import { group, h, hosted, show } from "../../kit/view.js";
import { say, titleOf } from "../../kit/words.js";

/** @typedef {import("./state.js").LargePage} LargePage */
/**
 * `words` are the key of what it is called, by default its own.
 * @typedef {{ name: string, words?: string, value: string, extra?: string }} Figure
 */

/** @param {{ channel: LargePage }} properties */
function Head({ channel }) {
  channel.observe("state", "answer");
  const { loss, parameters, twins } = channel.asked;
  const spec = pageData.losses[loss];
  const count = channel.answer?.figures.pairs;
  useLayoutEffect(() => {
    if (spec)
      entitle([titleOf(loss), count ? say("large.pairs", { count: grouped(count) }) : ""].filter(Boolean).join(", "));
  });
  if (!spec) return null;
  const formula = formulaOf(spec.conventions[""], parameters, twins);
  return h(
    "div.lp-head",
    null,
    h("div", null, h("h1", null, titleOf(loss)), h("p.lp-about", null, say(`loss.${loss}.about`))),
    hosted({ kind: "div.lp-headline", make: (root) => root, update: (root) => tex(root, formula, true) }),
  );
}

/** @param {{ channel: LargePage }} properties */
const FiguresOfBatch = ({ channel }) => group(h(Head, { channel }), h(Figures, { channel }));

/** @param {{ channel: LargePage }} properties */
function Figures({ channel }) {
  channel.observe("answer", "learning", "details", "judging", "judged");
  const { answer, judged } = channel;
  return group(
    h(
      "div.lp-strip-of-figures",
      null,
      answer ? figuresOf(channel, answer).map((figure) => h(FigureBox, { key: figure.name, ...figure })) : null,
    ),
    h(
      "ul.lp-remarks",
      null,
      judged?.remarks.map(({ key, values }) => h("li", { key }, say(`remark.${key}`, values))),
    ),
  );
}

/** @param {Figure} figure */
function FigureBox({ name, words = `large.figure.${name}`, value, extra = "" }) {
  return h(
    "div.lp-figure",
    { id: `lp-large-figure-${name}`, title: say(`${words}.about`) },
    h("span", null, say(words)),
    h("strong", null, value),
    h("small", null, extra),
  );
}

/**
 * The figures of an answer: where the map is there before them, some come later.
 * @param {LargePage} channel
 * @param {import("../../wire").DrawnBlocks} answer
 * @returns {Figure[]}
 */
function figuresOf(channel, { figures: found, milliseconds, device }) {
  const { judged, isJudging, isLearning, isStale } = channel;
  const details = isLearning ? null : channel.details;
  const computed = "loss" in found ? found : isStale ? null : details;
  const pairs = say("large.pairs", { count: grouped(found.pairs) });
  return [
    { name: "loss", ...(computed ? { value: written(computed.loss, 6), extra: pairs } : COMING()) },
    {
      name: "gradient",
      ...(computed ? { value: written(computed.gradient, 3), extra: say("figure.by_scores") } : COMING()),
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

/**
 * @param {import("../../wire").Details} details
 * @param {number} terms
 */
function effectiveOf({ effective, effective_error: error }, terms) {
  const all = say("figure.of_terms", { all: grouped(terms) });
  return { value: counted(effective), extra: all + (error ? ` · ± ${percent(error)}` : "") };
}

/**
 * What the server keeps, and what the terms themselves would take.
 * @param {number} bytes
 * @param {number} terms
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
 * @param {LargePage} channel
 */
export default (root, channel) => show(root, FiguresOfBatch, { channel });

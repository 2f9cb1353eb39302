// The head of the page: the loss with its formula, its value beside minimum and collapse, one sentence, and folded
// below the picture the other metrics and remarks.
import { ProblemBox } from "../../kit/components.js";
import { leverOf, parameterValue } from "../../kit/convention_formula.js";
import { find, h, reword, setText, worded } from "../../kit/dom.js";
import { plainText, tex } from "../../kit/formula.js";
import { aboutOf } from "../../kit/loss_sums.js";
import { counted, percent, read, show } from "../../kit/number_format.js";
import { show as showComponent } from "../../kit/preact_view.js";
import { referenceValueScale } from "../../kit/reference_value_scale.js";
import { entitle } from "../../kit/title.js";
import { has, language, parameterName, say, titleOf } from "../../kit/words.js";

/** @typedef {import("./state.js").ExplorePage} ExplorePage */

/**
 * @param {HTMLElement} root
 * @param {ExplorePage} page
 * @param {import("../../kit/types").Asking<import("../../wire").ExploreServer>} server
 */
export default function figures(root, page, server) {
  const head = headline(page);
  const loss = figure("loss");
  const marks = h("div.lp-marks");
  loss.box.classList.add("lp-loss");
  loss.extra.replaceWith(marks);
  const verdict = h("p.lp-verdict");
  const metrics = moreMetrics(page, server, loss.box);
  const problem = h("div", { style: "display: contents" });
  showComponent(problem, ProblemBox, { page, isShown: () => page.picture !== null });
  root.append(problem, head.element, h("div.lp-glance", loss.box, verdict));
  const below = find(document.body, "#main-metrics .lp"); // the picture stands before the other metrics
  below.append(metrics.element);
  reword(root);
  reword(below);

  function draw() {
    const { picture } = page;
    if (!picture) return;
    setText(loss.value, show(picture.figures.loss, 6));
    marks.replaceChildren(...referenceValueScale(picture.figures));
    const sentences = picture.remarks.map(({ key, values }) => say(`remark.${key}`, values));
    setText(verdict, sentences[0] ?? plainVerdict(picture.figures));
    metrics.draw(sentences.slice(1));
  }

  page.on("scenario", head.draw);
  page.on("picture", () => {
    head.draw();
    draw();
  });
  page.on("language", () => {
    head.draw();
    draw();
    reword(below);
  });
}

/** @type {(figures: import("../../wire").Figures) => string} The sentence where there is nothing to remark on. */
function plainVerdict({ active, terms, loss, floor, collapse }) {
  if (active !== null && terms !== null) return say("ui.verdict_terms", { part: active, all: terms });
  const [now, least, equal] = [loss, floor, collapse].map((value) => read(value) ?? NaN);
  const share = (equal - now) / (equal - least);
  return share >= 0 && share <= 1 ? say("ui.verdict_way", { share: percent(share) }) : "";
}

/**
 * Name, sentence, note and formula of the loss, which is also what the title of the page names.
 * @param {ExplorePage} page
 */
function headline(page) {
  const name = h("h1");
  const about = h("p.lp-about");
  const note = h("p.lp-note.lp-caveat", { hidden: true });
  const formula = h("div.lp-headline");

  function draw() {
    const { loss, convention } = page.scenario;
    setText(name, [titleOf(loss), convention].filter(Boolean).join(" · "));
    setText(about, aboutOf(loss));
    const key = [`loss.${loss}.note.${convention}`, `loss.${loss}.note`].find(has);
    setText(note, page.form.note && key ? say(key) : page.form.note);
    note.hidden = !page.form.note;
    write();
    entitle(openNow());
  }

  function write() {
    const now = page.form.formula && page.formula;
    const key = now + language();
    if (formula.dataset.formula === key) return;
    formula.dataset.formula = key;
    if (now) tex(formula, now, true);
    else formula.replaceChildren();
  }

  function openNow() {
    const lever = leverOf(page.form.parameters);
    if (!lever) return name.textContent ?? "";
    const symbol = plainText(lever.symbol) || parameterName(lever.name);
    const value = show(Number(parameterValue(lever, page.scenario.parameters)), 4);
    return say("ui.title_at", { loss: name.textContent, symbol, value });
  }

  return { element: h("div.lp-head", h("div", name, about, note), formula), draw };
}

/**
 * A figure with what it means in a tip, for the pointer and the keyboard; it has one meaning at a time.
 * @param {string} key
 */
function figure(key) {
  const [value, extra, name] = [h("strong"), h("small"), h("span")];
  const tip = h("span.lp-tip", { role: "tooltip", id: `lp-tip-${key}` });
  const box = h("div.lp-figure", { tabIndex: 0, "aria-describedby": tip.id }, name, value, extra, tip);
  /** @param {string} now */
  const call = (now) => {
    if (box.dataset.figure === now) return;
    box.dataset.figure = now;
    name.dataset.say = `figure.${now}`;
    tip.dataset.say = `figure.${now}.about`;
    reword(box);
  };
  call(key);
  return { box, value, extra, call };
}

/**
 * The fold with the other figures, how all of them vary over batches, the other remarks and the statistics.
 * @param {ExplorePage} page
 * @param {import("../../kit/types").Asking<import("../../wire").ExploreServer>} server
 * @param {HTMLElement} loss the box of the loss, which varies too
 */
function moreMetrics(page, server, loss) {
  const [violated, active, effective, spearman, gradient, device] = [
    ...["violated", "active", "effective", "spearman", "gradient", "device"],
  ].map(figure);
  const figures = { violated, active, effective, spearman, gradient, device };
  // The gradient norm on a logarithmic line from 0.001 to 1000, with the advised band.
  const norm = h("i.lp-now");
  const band = h("b");
  gradient.box.append(h("div.lp-ruler.lp-gauge", band, norm));
  const remarks = h("ul.lp-remarks");
  const basis = positivesRule(page);
  const scale = scaleAdvice(page);
  const statistics = statisticsPart(page, server);
  const boxes = Object.fromEntries(Object.entries(figures).map(([key, { box }]) => [key, box]));
  const spread = h("div");
  async function addSpread() {
    const { spreadPart } = await import("./variation_over_batches.js");
    page.join(() => spread.append(spreadPart(page, server, { ...boxes, loss })));
  }
  const element = h(
    "details.lp-more",
    { ontoggle: () => statistics.ask(element.open) },
    worded("summary", "ui.more_metrics"),
    h("div.lp-strip-of-figures", Object.values(boxes)),
    spread,
    basis.element,
    remarks,
    scale.element,
    statistics.element,
  );
  element.addEventListener("toggle", addSpread, { once: true });

  /**
   * @param {keyof typeof figures} key
   * @param {string} value
   */
  function put(key, value, extra = "") {
    const { value: strong, extra: small } = figures[key];
    setText(strong, value);
    setText(small, extra);
  }

  /** @param {string[]} sentences */
  function draw(sentences) {
    const { picture, batch } = page;
    if (!picture || !batch) return;
    const found = picture.figures;
    rank(found);
    put("active", counted(found.active), found.terms === null ? "" : say("figure.of_terms", { all: found.terms }));
    put("effective", counted(found.effective, 3));
    put("gradient", show(found.gradient_norm, 3), say(`figure.by_${found.gradient_of}`));
    put("device", `${show(found.milliseconds, 3)} ms`, found.device);
    const size = Number(read(found.gradient_norm));
    band.hidden = !found.banded;
    norm.hidden = !(size > 0);
    if (size > 0) norm.style.left = `${Math.max(0, Math.min(100, ((Math.log10(size) + 3) / 6) * 100))}%`;
    basis.draw(batch, found.by_threshold);
    scale.draw(batch);
    const before = Array.from(remarks.children, (line) => line.textContent);
    if (String(sentences) !== String(before)) remarks.replaceChildren(...sentences.map((line) => h("li", line)));
    statistics.ask(element.open);
  }

  /**
   * A loss that ranks pairs is judged by their order, one that looks for the right key, class or
   * prototype by where that stands.
   * @param {import("../../wire").Figures} found
   */
  function rank({ places, ordered, violated: wrong, spearman: correlation }) {
    violated.call(places ? `first_${places.kind}` : "violated");
    spearman.call(places ? "reciprocal" : "spearman");
    const [part, all] = places ? [places.first, places.anchors] : [wrong, ordered];
    put("violated", all ? percent(part / all) : "—", say("figure.of", { part, all }));
    put("spearman", show(places?.anchors === 0 ? null : (places?.reciprocal ?? correlation), 3));
  }

  return { element, draw };
}

/**
 * Which pairs are positive decides the shape of such a loss; the rule is among the controls.
 * @param {ExplorePage} page
 */
function positivesRule(page) {
  const positives = h("span");
  const rule = worded("button.lp-crumb", "ui.change_rule", { onclick: () => page.publish("rules") });
  const element = h("p.lp-note.lp-basis", { hidden: true }, positives, " ", rule);
  return {
    element,
    /** @type {(batch: import("../../wire").ExploredBatch, matters: boolean) => void} */
    draw({ positives: count, labels, threshold }, matters) {
      element.hidden = !matters;
      setText(positives, say("ui.positives_are", { count, all: labels.length, threshold: show(threshold) }));
    },
  };
}

/**
 * The scale that the rule of a derivation advises for this batch; it speaks of the scale before a difference of two
 * scores, and of no other factor.
 * @param {ExplorePage} page
 */
function scaleAdvice(page) {
  const element = h("p.lp-note", { hidden: true });
  return {
    element,
    /** @param {import("../../wire").ExploredBatch} batch */
    draw({ scale: range, sigma }) {
      element.hidden = !range || !page.form.parameters.some(({ role }) => role === "scale");
      if (!range || element.hidden) return;
      const [low, high] = range.map((value) => show(value, 3));
      setText(element, say("ui.suggested_scale", { low, high, sigma: show(sigma, 3) }));
    },
  };
}

/**
 * Correlation and test, worked out when the fold is open, and anew for each batch.
 * @param {ExplorePage} page
 * @param {import("../../kit/types").Asking<import("../../wire").ExploreServer>} server
 */
function statisticsPart(page, server) {
  const element = h("div.lp-statistics");
  let tested = "";
  /** @param {boolean} isOpen */
  async function ask(isOpen) {
    if (!isOpen || !page.batch || tested === page.batch.key + language()) return;
    tested = page.batch.key + language();
    const found = await server.statistics(page.scenario);
    if (found.error) return;
    /** @type {(value: number | null, key: string, values: object) => HTMLElement} */
    const line = (value, key, values) =>
      h("p", value === null ? say("ui.nothing_to_compare") : say(key, { value: show(value, 4), ...values }));
    element.replaceChildren(
      line(found.pearson, "ui.pearson_is", { p: show(found.pearson_p, 3) }),
      line(found.ks, "ui.ks_is", { p: show(found.ks_p, 3), high: found.high, low: found.low }),
    );
  }
  return { element, ask };
}

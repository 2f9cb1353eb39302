// The metrics of the batch: a figure with its meaning, and folded below the picture all but the value of the loss, how
// they vary over batches, the other remarks and the statistics.
import { h, reword, setText, worded } from "../../kit/dom.js";
import { counted, percent, read, show } from "../../kit/number_format.js";
import { language, say } from "../../kit/translated_sentences.js";

/** @typedef {import("./state.js").ExplorePage} ExplorePage */

/**
 * A figure with what it means in a tip, for the pointer and the keyboard; it has one meaning at a time.
 * @param {string} key
 */
export function figure(key) {
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
export function moreMetrics(page, server, loss) {
  const [violated, active, effective, spearman, gradient, device] = [
    ...["violated", "active", "effective", "spearman", "gradient", "device"],
  ].map(figure);
  const figures = { violated, active, effective, spearman, gradient, device };
  // The gradient norm on a logarithmic line from 0.001 to 1000, with the advised band.
  const norm = h("i.lp-now");
  const band = h("b");
  gradient.box.append(h("div.lp-ruler.lp-gauge", band, norm));
  const remarks = h("ul.lp-remarks");
  const positives = positivesRule(page);
  const scale = scaleAdvice(page);
  const statistics = statisticsPart(page, server);
  const boxes = Object.fromEntries(Object.entries(figures).map(([key, { box }]) => [key, box]));
  const variation = h("div");
  async function addVariation() {
    const { variationPart } = await import("./variation_over_batches.js");
    page.join(() => variation.append(variationPart(page, server, { ...boxes, loss })));
  }
  const element = h(
    "details.lp-more",
    { ontoggle: () => statistics.ask(element.open) },
    worded("summary", "ui.more_metrics"),
    h("div.lp-strip-of-figures", Object.values(boxes)),
    variation,
    positives.element,
    remarks,
    scale.element,
    statistics.element,
  );
  element.addEventListener("toggle", addVariation, { once: true });

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
    positives.draw(batch, found.by_threshold);
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

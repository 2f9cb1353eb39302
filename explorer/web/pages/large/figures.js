// The head of the Large batch page: the loss with its formula, and what it comes to.
import { h, reword, worded } from "../../kit/dom.js";
import { formulaOf } from "../../kit/form.js";
import { tex } from "../../kit/formula.js";
import { counted, grouped, percent, show } from "../../kit/numbers.js";
import { pageData } from "../../kit/page_data.js";
import { entitle } from "../../kit/title.js";
import { say, titleOf } from "../../kit/words.js";

/**
 * @param {HTMLElement} root
 * @param {import("./state.js").LargePage} channel
 */
export default function figures(root, channel) {
  const name = h("h1");
  const about = h("p.lp-about");
  const formula = h("div.lp-headline");
  const KEYS = ["loss", "gradient", "violated", "spearman", "effective", "memory", "time"];
  const figures = new Map(
    KEYS.map((key) => {
      const [value, extra] = [h("strong"), h("small")];
      const name = worded("span", `large.figure.${key}`);
      const box = h(
        "div.lp-figure",
        { "data-title": `large.figure.${key}.about`, id: `lp-large-figure-${key}` },
        name,
        value,
        extra,
      );
      /** @param {string} now */
      const call = (now) => {
        name.dataset.say = now;
        box.dataset.title = `${now}.about`;
        reword(root);
      };
      return /** @type {const} */ ([key, { box, value, extra, call }]);
    }),
  );
  root.append(
    h("div.lp-head", {}, h("div", {}, name, about), formula),
    h(
      "div.lp-strip-of-figures",
      {},
      Array.from(figures.values(), ({ box }) => box),
    ),
  );
  const remarks = h("ul.lp-remarks");
  root.append(remarks);
  reword(root);

  function headline() {
    const { loss, parameters, twins } = channel.asked;
    const spec = pageData.losses[loss];
    if (!spec) return;
    name.textContent = titleOf(loss);
    about.textContent = say(`loss.${loss}.about`);
    tex(formula, formulaOf(spec.conventions[""], parameters, twins), true);
    const count = channel.answer?.figures.pairs;
    entitle([titleOf(loss), count ? say("large.pairs", { count: grouped(count) }) : ""].filter(Boolean).join(", "));
  }

  /**
   * @param {string} key
   * @param {string} value
   */
  function put(key, value, extra = "") {
    const figure = figures.get(key);
    if (!figure) return;
    figure.value.textContent = value;
    figure.extra.textContent = extra;
  }

  function draw() {
    if (!channel.answer) return;
    const { figures: found, milliseconds, device } = channel.answer;
    // Where the map is there before them, loss and gradient come with the details.
    put("loss", "loss" in found ? show(found.loss, 6) : "…", say("large.pairs", { count: grouped(found.pairs) }));
    put("gradient", "loss" in found ? show(found.gradient, 3) : "…", say("figure.by_scores"));
    keeps(found.bytes, found.terms);
    put("time", `${show(milliseconds, 3)} ms`, device);
  }

  /**
   * @param {number} bytes
   * @param {number} terms
   */
  function keeps(bytes, terms) {
    const size = bytes / 2 ** 20;
    put(
      "memory",
      say("large.about_mb", { size: size.toFixed(size < 10 ? 1 : 0) }),
      say("large.instead", { size: written(terms * 8) }),
    );
  }

  /**
   * What the terms themselves would take.
   * @param {number} bytes
   */
  function written(bytes) {
    const units = ["B", "kB", "MB", "GB", "TB"];
    const step = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(bytes, 1)) / 3));
    return `${show(bytes / 1000 ** step, 3)} ${units[step]}`;
  }

  function more() {
    if (!channel.answer || !channel.details) return;
    const { violated, compared, places, effective, effective_error: error, loss, gradient } = channel.details;
    const { terms, pairs } = channel.answer.figures;
    put("loss", show(loss, 6), say("large.pairs", { count: grouped(pairs) }));
    put("gradient", show(gradient, 3), say("figure.by_scores"));
    keeps(channel.details.bytes, terms);
    // A loss that ranks pairs is judged by their order, one that looks for a key by where that
    // stands, in the words of the Explore page.
    figures.get("violated")?.call(places ? `figure.first_${places.kind}` : "large.figure.violated");
    const [part, all] = places ? [places.first, places.anchors] : [violated, compared];
    put("violated", all ? percent(Number(part) / all) : "—", all ? say("figure.of", { part, all }) : "");
    put(
      "effective",
      counted(effective),
      say("figure.of_terms", { all: grouped(terms) }) + (error ? ` · ± ${percent(error)}` : ""),
    );
  }

  function judge() {
    const { judged } = channel;
    if (!judged) return;
    put("spearman", show(judged.spearman, 3), say("large.pairs", { count: grouped(judged.pairs) }));
    remarks.replaceChildren(...judged.remarks.map(({ key, values }) => h("li", {}, say(`remark.${key}`, values))));
  }

  // What the map came without, or what another loss left there.
  function awaited() {
    if (!channel.answer) return;
    for (const key of ["violated", "effective", ...("loss" in channel.answer.figures ? [] : ["loss", "gradient"])]) {
      put(key, "…", say("large.computing"));
    }
  }

  channel.on("state", headline);
  channel.on("answer", () => {
    headline();
    draw();
  });
  channel.on("learning", awaited);
  channel.on("details", more);
  channel.on("judging", () => put("spearman", "…", say("large.computing")));
  channel.on("judged", judge);
  channel.on("language", () => {
    headline();
    draw();
    more();
    judge();
  });
}

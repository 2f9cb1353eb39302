// The head of the page: the loss with its formula, its value beside minimum and collapse, and one sentence.

import { aboutOf } from "../../kit/combined_loss_names_and_parts.js";
import { ProblemBox } from "../../kit/components.js";
import { find, h, reword, setText } from "../../kit/dom.js";
import { plainText, tex } from "../../kit/formula.js";
import { leverOf } from "../../kit/main_parameter.js";
import { percent, read, show } from "../../kit/number_format.js";
import { parameterValue } from "../../kit/parameter_value_or_default.js";
import { show as showComponent } from "../../kit/preact_view.js";
import { referenceValueScale } from "../../kit/reference_value_scale.js";
import { entitle } from "../../kit/title.js";
import { has, language, parameterName, say, titleOf } from "../../kit/translated_sentences.js";
import { figure, moreMetrics } from "./metrics.js";

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

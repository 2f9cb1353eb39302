// The head of the page: the loss with its formula, the strip of figures, and what went wrong.
import { h, reword, setText, worded } from "../../kit/dom.js";
import { tex } from "../../kit/formula.js";
import { counted, percent, read, show } from "../../kit/numbers.js";
import { problemBox } from "../../kit/problem.js";
import { landmarkScale } from "../../kit/scale.js";
import { aboutOf } from "../../kit/sums.js";
import { has, language, say, titleOf } from "../../kit/words.js";
import { spreadPart } from "./spread.js";

/**
 * @param {HTMLElement} root
 * @param {import("./state.js").Scene} channel
 * @param {import("../../kit/types").Asking<import("../../wire").ExploreServer>} server
 */
export default function figures(root, channel, server) {
  const name = h("h1");
  const about = h("p.lp-about");
  const note = h("p.lp-note.lp-caveat", { hidden: true });
  const formula = h("div.lp-headline");
  const problem = problemBox(channel, () => channel.picture !== null);
  /**
   * A figure has one meaning at a time, told in a tip to the pointer and to the keyboard.
   * @param {string} key
   */
  const figure = (key) => {
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
  };
  const [violated, active, effective, spearman, gradient, device] = [
    ...["violated", "active", "effective", "spearman", "gradient", "device"],
  ].map(figure);
  const figures = { violated, active, effective, spearman, gradient, device };
  // The gradient norm on a logarithmic line from 0.001 to 1000, with the advised band.
  const norm = h("i.lp-now");
  const band = h("b");
  const gauge = h("div.lp-ruler.lp-gauge", {}, band, norm);
  const loss = figure("loss");
  const marks = h("div.lp-marks");
  loss.box.classList.add("lp-loss");
  loss.extra.replaceWith(marks);
  root.append(
    problem,
    h("div.lp-head", {}, h("div", {}, name, about, note), formula),
    h(
      "div.lp-strip-of-figures",
      {},
      loss.box,
      Object.values(figures).map((f) => f.box),
    ),
  );
  const remarks = h("ul.lp-remarks");
  // Which pairs are positive decides the shape of such a loss; the rule is in the sidebar.
  const positives = h("span");
  const rule = worded("button.lp-crumb", "ui.change_rule", { type: "button", onclick: () => channel.publish("rules") });
  const basis = h("p.lp-note.lp-basis", { hidden: true }, positives, " ", rule);
  const statistics = h("div.lp-statistics");
  const details = h("details.lp-more", {}, worded("summary", "ui.statistics"), statistics);
  details.addEventListener("toggle", test);
  const boxes = Object.fromEntries(Object.entries(figures).map(([key, { box }]) => [key, box]));
  root.append(spreadPart(channel, server, { ...boxes, loss: loss.box }), basis, remarks, details);
  gradient.box.append(gauge);
  reword(root);

  function headline() {
    name.textContent = [titleOf(channel.scenario.loss), channel.scenario.convention].filter(Boolean).join(" · ");
    about.textContent = aboutOf(channel.scenario.loss);
    const { loss, convention } = channel.scenario;
    const said = [`loss.${loss}.note.${convention}`, `loss.${loss}.note`].find(has);
    note.textContent = channel.form.note && said ? say(said) : channel.form.note;
    note.hidden = !channel.form.note;
    write();
  }

  function write() {
    const now = channel.form.formula && channel.formula;
    const key = now + language();
    if (formula.dataset.formula === key) return;
    formula.dataset.formula = key;
    if (now) tex(formula, now, true);
    else formula.replaceChildren();
  }

  /**
   * @param {keyof typeof figures} key
   * @param {string} value
   */
  function put(key, value, extra = "") {
    const { value: strong, extra: small } = figures[key];
    setText(strong, value);
    setText(small, extra);
  }

  function draw() {
    const { picture, batch } = channel;
    if (!picture || !batch) return;
    const found = picture.figures;
    setText(loss.value, show(found.loss, 6));
    marks.replaceChildren(...landmarkScale(found));
    rank(found);
    tellPositives(batch, found.by_threshold);
    put("active", counted(found.active), found.terms === null ? "" : say("figure.of_terms", { all: found.terms }));
    put("effective", counted(found.effective, 3));
    put("gradient", show(found.gradient_norm, 3), say(`figure.by_${found.gradient_of}`));
    const size = Number(read(found.gradient_norm));
    band.hidden = !found.banded;
    norm.hidden = !(size > 0);
    if (size > 0) norm.style.left = `${Math.max(0, Math.min(100, ((Math.log10(size) + 3) / 6) * 100))}%`;
    remark(picture.remarks);
    put("device", `${show(found.milliseconds, 3)} ms`, found.device);
  }

  /**
   * A loss that ranks pairs is judged by their order, one that looks for the right key, class or
   * prototype by where that stands.
   * @param {import("../../wire").Figures} figures
   */
  function rank({ places, ordered, violated: wrong, spearman: correlation }) {
    const { violated: left, spearman: right } = figures;
    left.call(places ? `first_${places.kind}` : "violated");
    right.call(places ? "reciprocal" : "spearman");
    const [part, all] = places ? [places.first, places.anchors] : [wrong, ordered];
    put("violated", all ? percent(part / all) : "—", say("figure.of", { part, all }));
    put("spearman", show(places?.anchors === 0 ? null : (places?.reciprocal ?? correlation), 3));
  }

  /**
   * @param {import("../../wire").SceneBatch} batch
   * @param {boolean} matters
   */
  function tellPositives({ positives: count, labels, threshold }, matters) {
    basis.hidden = !matters;
    setText(positives, say("ui.positives_are", { count, all: labels.length, threshold: show(threshold) }));
  }

  /** @param {import("../../wire").Remark[]} found */
  function remark(found) {
    const told = found.map(({ key, values }) => say(`remark.${key}`, values));
    const before = Array.from(remarks.children, (line) => line.textContent);
    if (String(told) === String(before)) return;
    remarks.replaceChildren(...told.map((line) => h("li", {}, line)));
  }

  // Correlation and test are worked out when asked for, and anew for each batch.
  let tested = "";
  async function test() {
    if (!details.open || !channel.batch || tested === channel.batch.key + language()) return;
    tested = channel.batch.key + language();
    const found = await server.statistics(channel.scenario);
    if (!found || found.error) return;
    /** @type {(value: number | null, key: string, values: object) => HTMLElement} */
    const line = (value, key, values) =>
      h("p", {}, value === null ? say("ui.nothing_to_compare") : say(key, { value: show(value, 4), ...values }));
    statistics.replaceChildren(
      line(found.pearson, "ui.pearson_is", { p: show(found.pearson_p, 3) }),
      line(found.ks, "ui.ks_is", { p: show(found.ks_p, 3), high: found.high, low: found.low }),
    );
  }

  channel.on("scenario", headline);
  channel.on("picture", () => {
    write();
    draw();
    test();
  });
  channel.on("language", () => {
    headline();
    test();
    if (channel.picture) draw();
  });
}

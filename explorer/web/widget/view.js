// The matrix of a loss in the cell of a notebook: the view of the pages, in the frame of a widget. Its state is that
// of the widget in Python.

import { pictureView } from "../kit/derivation_step_matrix.js";
import { find, h } from "../kit/dom.js";
import { show } from "../kit/number_format.js";
import { pageData } from "../kit/page_data.js";
import { onTheme, watchTheme } from "../kit/theme.js";
import { say, use } from "../kit/translated_sentences.js";

/** @typedef {import("./frame.js").Model} Model */
/** @typedef {import("../kit/derivation_step_matrix.js").Emitted} Emitted */

const TALLEST = 560; // pixels of the cells: the frame is as tall as what is in it, so its height cannot be asked
const LIGHT_INK = 384; // sum of red, green and blue: letters above are for a dark page

/** @type {(model: Model) => () => void} Show a widget; what is returned ends it. */
function open(model) {
  Object.assign(pageData, model.get("facts"));
  use(model.get("language"), model.get("words"));
  document.documentElement.lang = model.get("language");
  const root = find(document.body, ".lp");
  const loss = h("p.lp-note");
  root.replaceChildren(loss);
  const view = pictureView(root, { around: () => innerHeight - TALLEST }, (...event) => hear(model, event));
  const state = () => ({
    view: {
      facet: model.get("facet"),
      order: model.get("sorted_by"),
      pinned: model.get("selected"),
      colour_range: model.get("colour_range"),
    },
    pointed: { part: null, ...model.get("pointed") },
    drawn: 0,
  });
  const mark = () => view.update({ state: state() });
  const draw = () => {
    const picture = model.get("picture");
    loss.textContent = `${model.get("title")} · ${say("figure.loss")} ${show(picture.figures.loss)}`;
    const numberOf = (/** @type {number} */ pair) => pair + 1;
    const data = { picture, batch: model.get("batch"), numberOf, referenceFormulas: model.get("reference_formulas") };
    view.update({ data, state: state() });
  };
  const redraw = () => {
    mark();
    view.redraw();
  };
  const listeners = Object.entries({
    picture: draw,
    facet: redraw,
    colour_range: redraw,
    selected: mark,
    pointed: mark,
  });
  for (const [name, listener] of listeners) model.on(`change:${name}`, listener);
  onTheme(view.redraw);
  draw();
  return () => {
    for (const [name, listener] of listeners) model.off(`change:${name}`, listener);
  };
}

/** @type {(model: Model, event: Emitted) => void} Tell Python what was done to the view. */
function hear(model, event) {
  if (event[0] === "point") model.set("pointed", { pairs: event[1], cell: event[2] });
  else if (event[0] === "view") {
    const { facet, order, pinned, step, colour_range } = event[1];
    const { steps } = model.get("picture");
    const traits = { facet, sorted_by: order, selected: pinned, step: steps[step ?? -1]?.name, colour_range };
    for (const [name, value] of Object.entries(traits)) if (value !== undefined) model.set(name, value);
  }
  model.save_changes();
}

/**
 * Follow the notebook's theme, of which its letters tell: there is no one name for it.
 * @param {Element} frame
 */
function followTheme(frame) {
  const follow = () => {
    const ink = getComputedStyle(frame).color.match(/\d+/g) ?? [];
    const sum = ink.slice(0, 3).reduce((total, one) => total + Number(one), 0);
    document.body.classList.toggle("dark", sum > LIGHT_INK);
  };
  new MutationObserver(follow).observe(frame.ownerDocument.body, { attributes: true });
  follow();
}

const frame = /** @type {HTMLIFrameElement} */ (window.frameElement);
followTheme(frame);
watchTheme();
new ResizeObserver(() => {
  frame.style.height = `${document.documentElement.offsetHeight}px`;
}).observe(document.documentElement);
frame.dispatchEvent(new CustomEvent("opened", { detail: open }));
